import { useState } from "preact/hooks";
import { call } from "../api";
import { useAction, useLoad, usePart } from "../load";
import { useAdmin, useMe, useMeChanged } from "../session";
import type { Team } from "../types";
import { Badge, Empty, Field, Head, Loaded, More, Page, Problem } from "../ui";
import { users } from "../users";
import { Groups } from "./groups";

/** Settings, Team. */
export function TeamPage() {
	const admin = useAdmin();
	const team = useLoad(() => call<Team>("/team"));
	return (
		<Page title="Team" about="The team’s name, and who belongs to it.">
			<Loaded of={team}>{(t) => <Fields team={t} admin={admin} onSaved={team.set} />}</Loaded>
			{admin && <Users />}
			{admin && <Groups />}
		</Page>
	);
}

function Fields({ team, admin, onSaved }: { team: Team; admin: boolean; onSaved: (t: Team) => void }) {
	const [name, setName] = useState(team.name);
	const [web, setWeb] = useState(team.webFetch);
	const changed = useMeChanged();
	const action = useAction();
	const same = name === team.name && web === team.webFetch;
	return (
		<form
			class="card stack"
			onSubmit={(e) => {
				e.preventDefault();
				action.run(async () => {
					onSaved(await call<Team>("/team", { method: "PATCH", body: { name: name.trim(), webFetch: web } }));
					changed();
				});
			}}
		>
			<Field label="Name">{(a) => <input {...a} required maxLength={100} disabled={!admin} value={name} onInput={(e) => setName(e.currentTarget.value)} />}</Field>
			<label class="check">
				<input type="checkbox" disabled={!admin} checked={web} onChange={(e) => setWeb(e.currentTarget.checked)} />
				<span>
					Agents may read public web pages <span class="quiet">through Docent, when no source has the address</span>
				</span>
			</label>
			<dl class="facts">
				<dt>Team id</dt>
				<dd>
					<code>{team.id}</code>
				</dd>
			</dl>
			<Problem error={action.error} />
			{admin ? (
				<div>
					<button class="primary" disabled={same || action.busy}>
						Save team
					</button>
				</div>
			) : (
				<p class="quiet">Only admins can change this.</p>
			)}
		</form>
	);
}

function Users() {
	const me = useMe();
	const list = usePart(users);
	return (
		<section class="stack">
			<h2>Users</h2>
			<Loaded of={list}>
				{(all) =>
					all === null ? (
						<Empty title="Users come from your identity provider by SCIM" actions={<a class="button" href="#/settings/single-sign-on">Set up single sign-on</a>}>
							They are listed here once its SAML metadata is set.
						</Empty>
					) : (
						<div class="table cards">
							<table>
								<Head names={["User", "Role", "State"]} />
								<tbody>
									{all.items.map((u) => (
										<tr key={u.id}>
											<td data-label="User">
												<div class="wrap">
													<b>{u.displayName ?? u.userName}</b> <span class="quiet">{u.userName}</span> {u.id === me.user?.id && <Badge>You</Badge>}
												</div>
											</td>
											<td data-label="Role" class="fit">
												{u.roles?.some((r) => r.value.toLowerCase() === "admin") ? "Admin" : "Member"}
											</td>
											<td data-label="State" class="fit">
												{u.active === false ? <Badge tone="warn">Suspended</Badge> : <Badge tone="good">Active</Badge>}
											</td>
										</tr>
									))}
								</tbody>
							</table>
						</div>
					)
				}
			</Loaded>
			<More of={list} what="users" />
		</section>
	);
}
