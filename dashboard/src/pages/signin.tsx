import { useEffect, useState } from "preact/hooks";
import { base, call } from "../api";
import { Icon } from "../icons";
import { useAction } from "../load";
import { Field, Problem } from "../ui";
import { SignOnProblem } from "./signonproblem";

/** The team whose identity provider signed this browser in last. */
const remembered = "docent-team";

export function remember(team: string): void {
	try {
		localStorage.setItem(remembered, team);
	} catch {
		// storage is forbidden: the team is asked for
	}
}

function lastTeam(): string {
	try {
		return localStorage.getItem(remembered) ?? "";
	} catch {
		return "";
	}
}

/** Returns the team in an id or a sign-in address, empty without one. */
function teamIn(text: string): string {
	return /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/.exec(text.toLowerCase())?.[0] ?? "";
}

/** Leads to the identity provider of the team that was used last, of the only one, or of the one that is asked for. */
function AtProvider({ ask, apart }: { ask: boolean; apart?: boolean }) {
	const [team, setTeam] = useState("");
	const last = lastTeam();
	if (!ask) {
		return (
			<a class="button" target={apart ? "_blank" : undefined} href={`${base}/sso${last && "/" + encodeURIComponent(last)}`}>
				Sign in with single sign-on
			</a>
		);
	}
	const id = teamIn(team);
	return (
		<form
			class="card stack"
			onSubmit={(e) => {
				e.preventDefault();
				if (id) location.href = `${base}/sso/${id}`;
			}}
		>
			<Field label="Team" hint="The sign-in address of your team, or its id. An admin finds it under Settings, Single sign-on.">
				{(a) => <input {...a} value={team} spellcheck={false} onInput={(e) => setTeam(e.currentTarget.value)} />}
			</Field>
			<button class="primary" disabled={id === ""}>
				Continue
			</button>
		</form>
	);
}

/**
 * Signs in: with the code of a one-time link at once, otherwise at the identity provider or with a personal key. If the session
 * of an open page has ended, the provider is in another tab, so that what was typed stays.
 */
export function SignIn({ code, failed, ended, onSignedIn }: { code?: string; failed?: string[]; ended?: boolean; onSignedIn: () => void | Promise<void> }) {
	const asksTeam = location.hash === "#/sign-in-team" || failed?.[0] === "not-found";
	const [key, setKey] = useState("");
	const [refused, refuse] = useState(false);
	const action = useAction();
	const open = (credential: string) =>
		action.run(async () => {
			await call("/sessions", { method: "POST", body: { credential } });
			await onSignedIn();
		});
	useEffect(() => {
		if (ended) {
			const back = () => void Promise.resolve(onSignedIn()).catch(() => undefined); // perhaps signed in in another tab
			back();
			addEventListener("focus", back);
			return () => removeEventListener("focus", back);
		}
		document.title = "Sign in · Docent";
		if (code === undefined) return;
		// The code works once: it does not stay in the history.
		history.replaceState(null, "", location.pathname + "#/sign-in");
		// A key is not a code: a link with a key could be used many times, to sign other people in as its owner.
		if (code.startsWith("docent_")) refuse(true);
		else open(code);
	}, [code]);
	const Door = ended ? "div" : "main"; // the page has its own
	return (
		<Door class="door" id={ended ? undefined : "main"}>
			<div class="stack loose">
				<div class="stack tight">
					<div class="row">
						<Icon name="book" size={24} />
						<h1>Sign in to Docent</h1>
					</div>
					<p class="quiet">{ended ? "Your session has ended. Sign in to continue where you were." : "Answers from your team’s own documents, with the place each one comes from."}</p>
				</div>
				{action.busy && code !== undefined && <p role="status">Signing you in …</p>}
				<Problem error={refused ? "The link has a key in it. For your safety, a link cannot sign in with a key: paste your own key below." : action.error} />
				{failed && <SignOnProblem code={failed[0] ?? ""} request={failed[1]} />}
				<AtProvider ask={asksTeam} apart={ended} />
				<form
					class="card stack"
					onSubmit={(e) => {
						e.preventDefault();
						const typed = key.trim().replace(/^http.*#\/sign-in\//, ""); // the whole link may be pasted
						if (typed !== "") open(typed);
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
					<pre class="block" tabIndex={0}>docent open</pre>
				</div>
			</div>
		</Door>
	);
}
