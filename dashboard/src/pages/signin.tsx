import { useEffect, useState } from "preact/hooks";
import { call } from "../api";
import { Icon } from "../icons";
import { useAction } from "../load";
import { Field, Problem } from "../ui";

/** Signs in: with the code of a one-time link at once, otherwise with a personal key. */
export function SignIn({ code, onSignedIn }: { code?: string; onSignedIn: () => void }) {
	const [key, setKey] = useState("");
	const action = useAction();
	const open = (credential: string) =>
		action.run(async () => {
			await call("/sessions", { method: "POST", body: { credential } });
			onSignedIn();
		});
	useEffect(() => {
		document.title = "Sign in · Docent";
		if (code === undefined) return;
		// The code works once: it does not stay in the history.
		history.replaceState(null, "", location.pathname + "#/sign-in");
		open(code);
	}, [code]);
	return (
		<main class="door" id="main">
			<div class="stack loose">
				<div class="stack tight">
					<div class="row">
						<Icon name="book" size={24} />
						<h1>Sign in to Docent</h1>
					</div>
					<p class="quiet">Answers from your team’s own documents, with the place each one comes from.</p>
				</div>
				{action.busy && code !== undefined && <p role="status">Signing you in …</p>}
				<Problem error={action.error} />
				<form
					class="card stack"
					onSubmit={(e) => {
						e.preventDefault();
						if (key.trim() !== "") open(key.trim());
					}}
				>
					<Field label="Personal key or one-time code" hint="A personal key begins with docent_pat_. A code comes from a sign-in link.">
						{(a) => <input {...a} type="password" autoComplete="off" spellcheck={false} value={key} onInput={(e) => setKey(e.currentTarget.value)} />}
					</Field>
					<button class="primary" disabled={action.busy || key.trim() === ""}>
						Sign in
					</button>
				</form>
				<div class="stack tight small quiet">
					<p>On the machine that runs Docent, this opens the dashboard signed in:</p>
					<pre class="block" tabIndex={0}>bin/docent open</pre>
				</div>
			</div>
		</main>
	);
}
