import { useState } from "preact/hooks";
import { call } from "../api";
import { useAction, useLoad } from "../load";
import { useRoute } from "../route";
import { useMe } from "../session";
import { Loaded, Page, Problem } from "../ui";

const members = ["response_type", "client_id", "redirect_uri", "state", "scope", "resource", "code_challenge", "code_challenge_method"];

/** Asks the person whether a program gets access. */
export function Connect() {
	const me = useMe();
	const query = new URLSearchParams(useRoute()[1] ?? "");
	const request = Object.fromEntries(members.filter((m) => query.has(m)).map((m) => [m, m === "resource" ? query.getAll(m).join(" ") : query.get(m)]));
	const asked = useLoad(() => call<{ name: string; host: string; publisher?: string; scopes: string[] }>("/oauth/consent", { method: "POST", body: request }), [query.toString()]);
	const action = useAction();
	const [sent, send] = useState(false);
	const decide = (allow: boolean) =>
		action.run(async () => {
			const to = await call<{ redirectTo: string }>("/oauth/decision", { method: "POST", body: { ...request, allow } });
			location.assign(to.redirectTo);
			send(true); // the page stays if it is the address of a program on the machine
		});
	return (
		<Page title="Connect a program" about="A program asks to search and read in your name.">
			<Loaded of={asked}>
				{(program) => (
					<section class="card stack">
						<p>
							<b>{program.name || "A program without a name"}</b> asks for access to <b>{me.team.name}</b> as <b>{me.user?.userName}</b>.
						</p>
						<p>
							Your answer goes to <b>{program.host}</b>.{" "}
							{program.publisher ? (
								<>
									Its name was read at <b>{program.publisher}</b>. Continue only if you know both addresses.
								</>
							) : (
								"Anybody can choose any name, so continue only if you know this address."
							)}
						</p>
						<ul>
							{program.scopes.includes("read") && <li>It can search and read what you can read.</li>}
							{program.scopes.includes("ask") && <li>It can ask questions, which are kept with their answers.</li>}
							<li>It cannot change documents, keys or settings.</li>
							<li>You can end it at any time, in Settings, Connected programs.</li>
						</ul>
						{sent && <p role="status">Your answer was sent. If no program has opened, it is not installed, or the browser may not open it.</p>}
						<Problem error={action.error} />
						<div class="row">
							<button type="button" class="primary" disabled={action.busy} onClick={() => decide(true)}>
								Give access
							</button>
							<button type="button" disabled={action.busy} onClick={() => decide(false)}>
								Refuse
							</button>
						</div>
					</section>
				)}
			</Loaded>
		</Page>
	);
}
