import { useState } from "preact/hooks";
import { call } from "../api";
import { useAction, useLoad } from "../load";
import type { Session } from "../types";
import { Badge, Confirm, Loaded, Page, Problem, Table, Time } from "../ui";

const ways = { link: "a one-time link", key: "a personal key", saml: "SAML", oidc: "OpenID Connect" };

/** Settings, Your sessions. */
export function Sessions() {
	const sessions = useLoad(() => call<Session[]>("/sessions"));
	const action = useAction();
	const [leaving, leave] = useState(false);
	const end = (s: Session) =>
		action.run(async () => {
			await call(`/sessions/${s.id}`, { method: "DELETE" });
			if (s.current) location.reload();
			else sessions.again();
		});
	return (
		<Page
			title="Your sessions"
			about="Browsers in which you are signed in. A session ends after 12 hours, and after an hour without use."
			actions={
				<button type="button" class="danger" onClick={() => leave(true)}>
					Sign out everywhere
				</button>
			}
		>
			<Problem error={action.error} />
			{leaving && (
				<Confirm
					title="Sign out everywhere"
					verb="Sign out everywhere"
					onClose={() => leave(false)}
					onDone={async () => {
						await call("/sessions", { method: "DELETE" });
						location.reload();
					}}
				>
					<p>All your browsers are signed out, this one too.</p>
				</Confirm>
			)}
			<Loaded of={sessions}>
				{(list) => (
					<Table
						rows={list}
						columns={[
							[
								"Browser",
								(s) => (
									<span>
										<b>{s.name}</b> {s.current && <Badge tone="good">This one</Badge>}
									</span>
								),
							],
							[
								"Signed in",
								(s) => (
									<span>
										<Time at={s.createdAt} /> by {ways[s.signIn]}
									</span>
								),
							],
							["Last used", (s) => <Time at={s.lastUsedAt ?? s.createdAt} />, "fit"],
							["Ends", (s) => <Time at={s.expiresAt} />, "fit"],
							[
								"",
								(s) => (
									<button type="button" class="plain" disabled={action.busy} onClick={() => end(s)}>
										Sign out<span class="hidden"> {s.name}</span>
									</button>
								),
								"fit",
							],
						]}
					/>
				)}
			</Loaded>
		</Page>
	);
}
