import { useState } from "preact/hooks";
import { all, call, some } from "../api";
import { ago } from "../format";
import { type Growing, step, useLoad, usePart } from "../load";
import { useAdmin, useMe } from "../session";
import type { Collection, DataSource, Key, Scope } from "../types";
import { Badge, Confirm, Empty, Field, FormDialog, Loaded, More, Page, Table, Time } from "../ui";
import { usageByUser } from "../users";
import { MadeKey, people, TokenForm, type Person } from "./tokenform";

export interface Secret extends Key {
	secret: string;
}

/** What a key may be limited to. */
export interface Source {
	id: string;
	name: string;
	kind: string;
}

export async function sources(): Promise<Source[]> {
	const [collections, connected] = await Promise.all([all<Collection>("/collections"), all<DataSource>("/data-sources")]);
	const known = new Set(collections.map((c) => c.id));
	return [...collections.map((c) => ({ id: c.id, name: c.name, kind: "collection" })), ...connected.filter((s) => !known.has(s.id)).map((s) => ({ id: s.id, name: s.name, kind: s.provider }))];
}

/** The names of users by id: of the users that SCIM returns, and of those who have used Docent recently. */
async function userNames(me: Person | undefined): Promise<Map<string, string>> {
	const start = new Date(Date.now() - 89 * 86400_000).toISOString().slice(0, 10);
	const [active, known] = await Promise.all([
		usageByUser(start, step).then((p) => p.items).catch(() => []),
		me ? people(me, step).then((p) => p.items) : [],
	]);
	return new Map([...active.flatMap((u): [string, string][] => (u.userName ? [[u.userId, u.userName]] : [])), ...known.map((p): [string, string] => [p.id, p.userName])]);
}

/** What a key may do, in words. */
export const scopes: [Scope, string, string][] = [
	["read", "Read", "Documents, collections, sources and search"],
	["ask", "Ask", "Questions, answers, chat and feedback"],
	["write", "Write", "Put and delete documents"],
	["manage", "Manage", "Collections, sources, keys, users and settings"],
	["audit", "Audit", "Security events and usage"],
];

type Open = { create: Key["kind"] } | { made: Secret; rotated?: boolean } | { rotate: Key } | { revoke: Key };

/** Settings, API keys. */
export function Tokens() {
	const admin = useAdmin();
	if (!admin) {
		return (
			<Page title="API keys">
				<Empty title="Only admins make keys">Ask an admin of your team for a personal key. You can use everything in this dashboard without one.</Empty>
			</Page>
		);
	}
	return <AdminTokens />;
}

function AdminTokens() {
	const keys = usePart((most, after) => some<Key>("/api-keys", most, after));
	const available = useLoad(sources);
	const me = useMe();
	const users = useLoad(() => userNames(me.user));
	const [open, setOpen] = useState<Open>();
	const close = () => setOpen(undefined);
	const names = available.value && new Map(available.value.map((s) => [s.id, s.name]));
	return (
		<Page wide title="API keys" about="Keys for people, for programs and for your identity provider. A key is shown once, when it is made.">
			{(["personal", "team"] as const).map((kind) => (
				<Section key={kind} kind={kind} keys={keys} names={names} users={users.value} onOpen={setOpen} />
			))}
			<More of={keys} what="keys" />
			{open && "create" in open && (
				<TokenForm
					kind={open.create}
					sources={available}
					onClose={close}
					onDone={(made) => {
						setOpen({ made });
						keys.again();
					}}
				/>
			)}
			{open && "made" in open && <MadeKey made={open.made} rotated={open.rotated} onClose={close} />}
			{open && "rotate" in open && (
				<Rotate
					of={open.rotate}
					onClose={close}
					onDone={(made) => {
						setOpen({ made, rotated: true });
						keys.again();
					}}
				/>
			)}
			{open && "revoke" in open && (
				<Confirm
					title={`Revoke ${open.revoke.name}`}
					verb={`Revoke ${open.revoke.name}`}
					name={open.revoke.name}
					onClose={close}
					onDone={async () => {
						await call(`/api-keys/${open.revoke.id}`, { method: "DELETE" });
						keys.again();
					}}
				>
					<p>
						Requests with this key are refused within 10 seconds. It was last used: <Time at={open.revoke.lastUsedAt} />. This cannot be undone.
					</p>
				</Confirm>
			)}
		</Page>
	);
}

const about = {
	personal: ["Personal keys", "A personal key acts as one user, with 1,000 calls per day. An admin’s key can administer the team."],
	team: ["Team keys", "A team key is for programs. It reads and writes content for the whole team, and cannot administer it."],
} as const;

function Section({ kind, keys, names, users, onOpen }: { kind: "personal" | "team"; keys: Growing<Key>; names?: Map<string, string>; users?: Map<string, string>; onOpen: (o: Open) => void }) {
	const [title, text] = about[kind];
	const make = (
		<button type="button" class="primary" onClick={() => onOpen({ create: kind })}>
			Create {kind} key
		</button>
	);
	return (
		<section class="stack" aria-label={title}>
			<div class="head">
				<div>
					<h2>{title}</h2>
					<p>{text}</p>
				</div>
				{make}
			</div>
			<Loaded of={keys}>
				{(list) => {
					const of = (list?.items ?? []).filter((k) => k.kind === kind);
					return of.length === 0 ? <p class="quiet">There are no {kind} keys{list?.next ? " among those that are shown" : ""}.</p> : <Keys keys={of} names={names} users={users} onOpen={onOpen} />;
				}}
			</Loaded>
		</section>
	);
}

function Keys({ keys, names, users, onOpen }: { keys: Key[]; names?: Map<string, string>; users?: Map<string, string>; onOpen: (o: Open) => void }) {
	return (
		<Table
			rows={keys}
			columns={[
				[
					"Name",
					(k) => (
						<div class="wrap">
							<b>{k.name}</b> <code class="quiet">{k.id}</code>
							{k.hint && (
								<span class="small quiet">
									{" "}
									ends in{"\u00a0"}<code>{k.hint}</code>
								</span>
							)}
							{users && <div class="small quiet">{owned(k, users)}</div>}
							<div class="row">
								<State of={k} />
							</div>
						</div>
					),
				],
				["May", (k) => (k.scopes ? k.scopes.map((s) => scopes.find(([scope]) => scope === s)?.[1] ?? s).join(", ") : "Everything") + (k.actFor ? ", also for people" : ""), "wrap"],
				["Sources", (k) => (k.dataSourceIds ? k.dataSourceIds.map((id) => (names ? (names.get(id) ?? "a deleted source") : id)).join(", ") : "All"), "wrap"],
				["Last used", (k) => <Time at={k.lastUsedAt} />, "fit"],
				["Created", (k) => <Time at={k.createdAt} />, "fit"],
				["Expires", (k) => <Time at={k.expiresAt} />, "fit"],
				[
					"",
					(k) => (
						<div class="row">
							<button type="button" onClick={() => onOpen({ rotate: k })}>
								Rotate<span class="hidden"> {k.name}</span>
							</button>
							<button type="button" class="danger" onClick={() => onOpen({ revoke: k })}>
								Revoke<span class="hidden"> {k.name}</span>
							</button>
						</div>
					),
					"fit",
				],
			]}
		/>
	);
}

/** Whose key it is, and who made it. */
function owned(k: Key, users: Map<string, string>): string {
	const name = (id: string) => users.get(id) ?? id;
	const by = k.createdBy === null ? "the operator" : name(k.createdBy);
	if (!k.userId) return `Made by ${by}`;
	return `Key of ${name(k.userId)}, ${k.userId === k.createdBy ? "who made it" : "made by " + by}`;
}

const day = 86400_000;

/** What needs attention. */
function State({ of }: { of: Key }) {
	const now = Date.now();
	const left = of.expiresAt ? Date.parse(of.expiresAt) - now : Infinity;
	const unused = now - Date.parse(of.lastUsedAt ?? of.createdAt);
	return (
		<>
			{left <= 0 && <Badge tone="bad">Expired</Badge>}
			{left > 0 && left < 7 * day && of.expiresAt && <Badge tone="warn">Expires {ago(of.expiresAt)}</Badge>}
			{unused > 90 * day && <Badge tone="warn">Not used for 90 days</Badge>}
			{of.previousSecretExpiresAt && <Badge tone="accent">Old key ends {ago(of.previousSecretExpiresAt)}</Badge>}
		</>
	);
}

const overlaps: [string, string][] = [
	["0", "Ends at once"],
	["3600", "1 hour"],
	["86400", "1 day"],
	["604800", "7 days"],
];

function Rotate({ of, onClose, onDone }: { of: Key; onClose: () => void; onDone: (made: Secret) => void }) {
	const [overlap, setOverlap] = useState("86400");
	return (
		<FormDialog
			title={`Rotate ${of.name}`}
			verb="Rotate key"
			onClose={onClose}
			onSubmit={async () => onDone(await call<Secret>(`/api-keys/${of.id}/rotate`, { method: "POST", body: { overlapSeconds: Number(overlap) } }))}
		>
			<p>The key gets a new secret, with the same name and limits. The old one works for some time, so that programs can change to the new one:</p>
			<Field label="The old key works for">
				{(a) => (
					<select {...a} value={overlap} onChange={(e) => setOverlap(e.currentTarget.value)}>
						{overlaps.map(([v, text]) => (
							<option key={v} value={v}>
								{text}
							</option>
						))}
					</select>
				)}
			</Field>
		</FormDialog>
	);
}
