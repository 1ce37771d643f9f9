import { useState } from "preact/hooks";
import { base, call, type Part } from "../api";
import { type Loading, usePart } from "../load";
import { useMe } from "../session";
import type { Key, Scope } from "../types";
import { Choice, Dialog, Field, FormDialog, Loaded, More, Snippet } from "../ui";
import { users } from "../users";
import { scopes, type Secret, type Source } from "./tokens";

const lives: [string, string][] = [
	["7", "7 days"],
	["30", "30 days"],
	["90", "90 days"],
	["365", "1 year"],
	["", "Never"],
	["date", "On a date"],
];

export interface Person {
	id: string;
	userName: string;
}

/** The person who is signed in, then the other users of the team. */
export async function people(me: Person, most: number, after?: string): Promise<Part<Person>> {
	const found = await users(most, after).catch((e: unknown) => {
		if (after !== undefined) throw e;
		return null; // the person alone has to do
	});
	const others = found ?? { items: [], next: undefined };
	return { ...others, items: [...(after === undefined ? [me] : []), ...others.items.filter((p) => p.id !== me.id)], total: undefined };
}

/** Returns today's date in the person's time zone, in the form that date fields use. */
function today(): string {
	const now = new Date();
	return new Date(now.getTime() - now.getTimezoneOffset() * 60_000).toISOString().slice(0, 10);
}

/** Makes a key. */
export function TokenForm({ kind, sources, onClose, onDone }: { kind: Key["kind"]; sources?: Loading<Source[]>; onClose: () => void; onDone: (made: Secret) => void }) {
	const me = useMe();
	const [name, setName] = useState("");
	const [life, setLife] = useState("90");
	const [date, setDate] = useState("");
	const [limited, setLimited] = useState<"all" | "some">("all");
	const [chosen, setChosen] = useState<string[]>([]);
	const [part, setPart] = useState<"all" | "some">("all");
	const [may, setMay] = useState<Scope[]>(["read", "ask"]);
	const [user, setUser] = useState(me.user?.id ?? "");
	const [actFor, setActFor] = useState(false);
	const persons = usePart<Person>((most, after) => (kind === "personal" && me.user ? people(me.user, most, after) : Promise.resolve(null)));
	const expiresAt = () => {
		if (life === "") return undefined;
		return life === "date" ? new Date(date + "T23:59:59").toISOString() : new Date(Date.now() + Number(life) * 86400_000).toISOString();
	};
	return (
		<FormDialog
			title={`Create ${kind === "scim" ? "SCIM" : kind} key`}
			verb="Create key"
			disabled={(limited === "some" && chosen.length === 0) || (part === "some" && may.length === 0)}
			onClose={onClose}
			onSubmit={async () => {
				const body = { kind, name: name.trim(), expiresAt: expiresAt(), userId: kind === "personal" ? user : undefined, dataSourceIds: limited === "some" ? chosen : undefined, scopes: part === "some" ? may : undefined, actFor: actFor || undefined };
				onDone(await call<Secret>("/api-keys", { method: "POST", body }));
			}}
		>
			<div class="stack">
				<Field label="Name" hint={kind === "scim" ? "What uses it, such as “Okta”" : "What uses it, such as “Laptop” or “Support bot”"}>
					{(a) => <input {...a} required maxLength={100} value={name} autoComplete="off" onInput={(e) => setName(e.currentTarget.value)} />}
				</Field>
				{kind === "personal" && (persons.value?.items.length ?? 0) > 1 && (
					<Field label="User">
						{(a) => (
							<select {...a} value={user} onChange={(e) => setUser(e.currentTarget.value)}>
								{persons.value?.items.map((p) => (
									<option key={p.id} value={p.id}>
										{p.userName}
									</option>
								))}
							</select>
						)}
					</Field>
				)}
				<More of={persons} what="users" />
				<Field label="Expires">
					{(a) => (
						<select {...a} value={life} onChange={(e) => setLife(e.currentTarget.value)}>
							{lives.map(([v, text]) => (
								<option key={v} value={v}>
									{text}
								</option>
							))}
						</select>
					)}
				</Field>
				{life === "date" && <Field label="Last day">{(a) => <input {...a} type="date" required min={today()} value={date} onInput={(e) => setDate(e.currentTarget.value)} />}</Field>}
				{kind !== "scim" && (
					<div class="field">
						<span class="label">May</span>
						<div>
							<Choice
								label="May"
								options={[
									["all", kind === "personal" ? "All that its user may" : "All that a team key may"],
									["some", "Chosen scopes"],
								]}
								value={part}
								onChange={setPart}
							/>
						</div>
						{part === "some" && (
							<fieldset class="checks stack">
								<legend class="hidden">Scopes</legend>
								{scopes.map(([scope, title, about]) => (
									<label key={scope} class="check">
										<input type="checkbox" checked={may.includes(scope)} onChange={(e) => setMay(e.currentTarget.checked ? [...may, scope] : may.filter((s) => s !== scope))} />
										<span class="wrap">
											{title} <span class="quiet">{about}</span>
										</span>
									</label>
								))}
							</fieldset>
						)}
					</div>
				)}
				{kind === "team" && (
					<label class="check">
						<input type="checkbox" checked={actFor} onChange={(e) => setActFor(e.currentTarget.checked)} />
						<span>
							May act for people <span class="quiet">whom the header Docent-User names: it then reads what they may read</span>
						</span>
					</label>
				)}
				{sources && (
					<div class="field">
						<span class="label">Sources</span>
						<div>
							<Choice
								label="Sources"
								options={[
									["all", "All"],
									["some", "Chosen sources"],
								]}
								value={limited}
								onChange={setLimited}
							/>
						</div>
						{limited === "some" && (
							<fieldset class="checks stack">
								<legend class="hidden">Sources</legend>
								<Loaded of={sources}>
									{(all) => (
										<>
											{all.length === 0 && <p class="quiet">There are no sources yet.</p>}
											{all.map((s) => (
												<label key={s.id} class="check">
													<input type="checkbox" checked={chosen.includes(s.id)} onChange={(e) => setChosen(e.currentTarget.checked ? [...chosen, s.id] : chosen.filter((id) => id !== s.id))} />
													<span class="wrap">
														{s.name} <span class="quiet">{s.kind}</span>
													</span>
												</label>
											))}
										</>
									)}
								</Loaded>
							</fieldset>
						)}
					</div>
				)}
			</div>
		</FormDialog>
	);
}

/** Shows a new key, this once. */
export function MadeKey({ made, rotated, onClose }: { made: Secret; rotated?: boolean; onClose: () => void }) {
	const config = JSON.stringify({ mcpServers: { docent: { type: "http", url: `${base}/mcp`, headers: { Authorization: `Bearer ${made.secret}` } } } }, null, 2);
	return (
		<Dialog title={rotated ? `New secret of ${made.name}` : `${made.name} is ready`} onClose={onClose}>
			<div class="note warn">
				<p>Copy the key now. It is shown only once, and cannot be shown again.</p>
			</div>
			<Snippet text={made.secret} what="the key" />
			{made.kind !== "scim" && (
				<>
					<div class="stack tight">
						<h3>In a shell</h3>
						<Snippet text={`export DOCENT_SERVER=${base}\nexport DOCENT_API_KEY=${made.secret}`} what="the lines for a shell" />
					</div>
					<details>
						<summary>In an agent (MCP)</summary>
						<Snippet text={config} what="the settings for an agent" />
					</details>
				</>
			)}
			<div class="actions">
				<button type="button" class="primary" onClick={onClose}>
					I have copied it
				</button>
			</div>
		</Dialog>
	);
}
