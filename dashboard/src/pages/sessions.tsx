import { call } from "../api";
import { useAction, useLoad } from "../load";
import type { Session } from "../types";
import { Badge, Loaded, Page, Problem, Time } from "../ui";

const ways = { link: "a one-time link", key: "a personal key" };

/** Settings, Your sessions. */
export function Sessions() {
	const sessions = useLoad(() => call<Session[]>("/sessions"));
	const action = useAction();
	const end = (path: string) =>
		action.run(async () => {
			await call(path, { method: "DELETE" });
			sessions.again();
		});
	return (
		<Page
			title="Your sessions"
			about="Browsers in which you are signed in. A session ends after 12 hours, and after an hour without use."
			actions={
				<button type="button" class="danger" disabled={action.busy} onClick={() => end("/sessions")}>
					Sign out everywhere
				</button>
			}
		>
			<Problem error={action.error} />
			<Loaded of={sessions}>
				{(list) => (
					<div class="table cards">
						<table>
							<thead>
								<tr>
									<th scope="col">Browser</th>
									<th scope="col">Signed in</th>
									<th scope="col">Last used</th>
									<th scope="col">Ends</th>
									<th scope="col">
										<span class="hidden">Actions</span>
									</th>
								</tr>
							</thead>
							<tbody>
								{list.map((s) => (
									<tr key={s.id}>
										<td data-label="Browser">
											<span>
												<b>{s.name}</b> {s.current && <Badge tone="good">This one</Badge>}
											</span>
										</td>
										<td data-label="Signed in">
											<span>
												<Time at={s.createdAt} /> by {ways[s.signIn]}
											</span>
										</td>
										<td data-label="Last used" class="fit">
											<Time at={s.lastUsedAt ?? s.createdAt} />
										</td>
										<td data-label="Ends" class="fit">
											<Time at={s.expiresAt} />
										</td>
										<td data-label="" class="fit">
											<button type="button" class="plain" disabled={action.busy} onClick={() => end(`/sessions/${s.id}`)}>
												Sign out<span class="hidden"> {s.name}</span>
											</button>
										</td>
									</tr>
								))}
							</tbody>
						</table>
					</div>
				)}
			</Loaded>
		</Page>
	);
}
