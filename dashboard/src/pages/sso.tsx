import { useState } from "preact/hooks";
import { base, call, Failure, send, some } from "../api";
import { readFeed } from "../feed";
import { useAction, useLoad, usePart } from "../load";
import { useAdmin } from "../session";
import type { Key, Saml, Team } from "../types";
import { Badge, Choice, Confirm, Empty, Field, Loaded, More, Page, Problem, Snippet, Time } from "../ui";
import { SignInSettings } from "./signon";
import { MadeKey, TokenForm } from "./tokenform";
import type { Secret } from "./tokens";

/** Settings, Single sign-on: the identity provider, and provisioning by SCIM. */
export function SingleSignOn() {
	const [turn, setTurn] = useState(0); // what depends on the provider is loaded again when it changes
	if (!useAdmin()) {
		return (
			<Page title="Single sign-on">
				<Empty title="Only admins set this up">Ask an admin of your team.</Empty>
			</Page>
		);
	}
	return (
		<Page title="Single sign-on" about="Make an application at your identity provider, such as Okta or Entra ID, with our values under Sign-in. Then give its metadata here. It may also provision users and groups by SCIM.">
			<Provider onChange={() => setTurn(turn + 1)} />
			<SignInSettings key={`s${turn}`} />
			<Provisioning key={`p${turn}`} />
		</Page>
	);
}

/** The metadata, or nothing if none is set. */
async function metadata(): Promise<Saml | null> {
	return call<Saml>("/team/saml-metadata").catch((e: unknown) => {
		if (e instanceof Failure && e.status === 404) return null;
		throw e;
	});
}

const readFrom = (url: string) => call<Saml>("/team/saml-metadata/url", { method: "PUT", body: { url } });

/** Takes the metadata by its address, or as text. */
function MetadataForm({ before, onDone, onCancel }: { before: Saml | null; onDone: (m: Saml) => void; onCancel: () => void }) {
	const [how, setHow] = useState<"address" | "text">(before && !before.metadataUrl ? "text" : "address");
	const [url, setUrl] = useState(before?.metadataUrl ?? "");
	const [text, setText] = useState("");
	const action = useAction();
	return (
		<form
			class="stack"
			onSubmit={(e) => {
				e.preventDefault();
				action.run(async () => {
					if (how === "address") return onDone(await readFrom(url.trim()));
					const reply = await send("/team/saml-metadata", { method: "PUT", body: text, headers: { "Content-Type": "application/samlmetadata+xml" } });
					onDone((await reply.json()) as Saml);
				});
			}}
		>
			<Choice
				label="How the metadata comes here"
				options={[
					["address", "By its address"],
					["text", "As text or a file"],
				]}
				value={how}
				onChange={setHow}
			/>
			{how === "address" ? (
				<Field label="Address of the metadata" hint="Okta: Sign On, Metadata URL. Entra ID: App Federation Metadata Url. It is read now, and later whenever you ask for it.">
					{(a) => <input {...a} type="url" required placeholder="https://" value={url} autoComplete="off" spellcheck={false} maxLength={2048} onInput={(e) => setUrl(e.currentTarget.value)} />}
				</Field>
			) : (
				<Field label="The provider’s metadata" hint="XML with an EntityDescriptor. Okta: Sign On, Metadata details. Entra ID: Federation Metadata XML.">
					{(a) => <textarea {...a} class="mono" rows={6} required spellcheck={false} value={text} onInput={(e) => setText(e.currentTarget.value)} />}
				</Field>
			)}
			<div class="row">
				{how === "text" && (
					<label class="button">
						Choose a file
						<input class="hidden" type="file" accept=".xml,text/xml,application/xml,application/samlmetadata+xml" onChange={(e) => void e.currentTarget.files?.[0]?.text().then(setText)} />
					</label>
				)}
				<button class="primary" disabled={action.busy || (how === "address" ? url : text).trim() === ""}>
					{how === "address" ? "Read metadata" : "Save metadata"}
				</button>
				{before && (
					<button type="button" onClick={onCancel}>
						Cancel
					</button>
				)}
			</div>
			<Problem error={action.error} />
		</form>
	);
}

function Provider({ onChange }: { onChange: () => void }) {
	const saml = useLoad(metadata);
	const [editing, edit] = useState(false);
	const [removing, remove] = useState(false);
	const [read, setRead] = useState("");
	const action = useAction();
	const stored = (m: Saml) => {
		setRead("");
		saml.set(m);
		edit(false);
		onChange();
	};
	const again = (m: Saml, url: string) =>
		action.run(async () => {
			const now = await readFrom(url);
			stored(now);
			setRead(now.updatedAt === m.updatedAt ? "The metadata has not changed." : "The metadata has changed. Test the sign-in again.");
		});
	const form = (m: Saml | null) => <MetadataForm before={m} onDone={stored} onCancel={() => edit(false)} />;
	return (
		<section class="card stack loose" aria-label="Identity provider">
			<h2>Identity provider (SAML)</h2>
			<Loaded of={saml} bones={2} tall>
				{(m) =>
					m === null ? (
						form(null)
					) : (
						<>
							<dl class="facts">
								<dt>Entity ID</dt>
								<dd>{m.entityId}</dd>
								<dt>Sign-on address</dt>
								<dd>{m.singleSignOnUrl}</dd>
								{m.metadataUrl && (
									<>
										<dt>Metadata</dt>
										<dd>{m.metadataUrl}</dd>
									</>
								)}
								<dt>Changed</dt>
								<dd>
									<Time at={m.updatedAt} />
								</dd>
								<dt>Certificates</dt>
								<dd class="stack">
									{m.certificates.map((c) => (
										<Certificate key={c.sha256} of={c} />
									))}
								</dd>
							</dl>
							{editing ? (
								form(m)
							) : (
								<div class="row">
									{m.metadataUrl && (
										<button type="button" disabled={action.busy} onClick={() => again(m, m.metadataUrl!)}>
											Read metadata again
										</button>
									)}
									<button type="button" onClick={() => edit(true)}>
										Replace metadata
									</button>
									<button type="button" class="danger" onClick={() => remove(true)}>
										Remove provider
									</button>
								</div>
							)}
							{read && (
								<p class="small quiet" role="status">
									{read}
								</p>
							)}
							<Problem error={action.error} />
						</>
					)
				}
			</Loaded>
			{removing && (
				<Confirm
					title="Remove the identity provider"
					verb="Remove provider"
					name="remove"
					onClose={() => remove(false)}
					onDone={async () => {
						await call("/team/saml-metadata", { method: "DELETE" });
						saml.set(null);
						onChange();
					}}
				>
					<p>SCIM is refused until a provider is set again. Users and their keys stay.</p>
				</Confirm>
			)}
		</section>
	);
}

function Certificate({ of }: { of: Saml["certificates"][number] }) {
	const left = Date.parse(of.notAfter) - Date.now();
	return (
		<div>
			{of.subject} {left <= 0 ? <Badge tone="bad">Expired</Badge> : left < 30 * 86400_000 ? <Badge tone="warn">Expires soon</Badge> : <Badge tone="good">Valid</Badge>}
			<div class="small quiet">
				{left > 0 ? "ends" : "ended"} <Time at={of.notAfter} />, SHA-256 <code>{of.sha256.slice(0, 16)}…</code>
			</div>
		</div>
	);
}

function Provisioning() {
	const team = useLoad(() => call<Team>("/team"));
	const keys = usePart((most, after) => some<Key>("/api-keys", most, after));
	const failures = useLoad(() => readFeed({ outcome: "failure" }, 100).then((p) => p.events.filter((e) => e.actor.type === "scim").slice(0, 5)));
	const [creating, create] = useState(false);
	const [made, setMade] = useState<Secret>();
	const [revoking, revoke] = useState<Key>();
	return (
		<section class="card stack loose" aria-label="Provisioning">
			<div class="row between">
				<h2>Provisioning (SCIM)</h2>
				{team.value && (team.value.samlConfigured ? <Badge tone="good">Accepted</Badge> : <Badge tone="warn">Refused until a provider is set</Badge>)}
			</div>
			<div class="stack tight">
				<h3>Base address</h3>
				<Snippet text={`${base}/scim/v2`} what="the SCIM address" />
				<p class="small quiet">
					In Okta: SCIM connector base URL, with HTTP Header authentication. In Entra ID: Tenant URL, followed by <code>?aadOptscim062020</code>.
				</p>
			</div>
			<div class="stack">
				<div class="row between">
					<h3>Keys</h3>
					<button type="button" onClick={() => create(true)}>
						Create SCIM key
					</button>
				</div>
				<Loaded of={keys} bones={1}>
					{(part) => {
						const list = (part?.items ?? []).filter((k) => k.kind === "scim");
						return list.length === 0 ? (
							<p class="quiet">{part?.next ? "None of the keys looked at so far." : "None yet."} The provider sends this key as its secret token.</p>
						) : (
							<ul class="list">
								{list.map((k) => (
									<li key={k.id} class="row between">
										<span class="wrap">
											{k.name} <code class="quiet">{k.id}</code>
										</span>
										<span class="small quiet">
											last used: <Time at={k.lastUsedAt} />
										</span>
										<button type="button" class="danger" onClick={() => revoke(k)}>
											Revoke<span class="hidden"> {k.name}</span>
										</button>
									</li>
								))}
							</ul>
						);
					}}
				</Loaded>
				<More of={keys} what="keys" />
			</div>
			<div class="stack">
				<h3>Last refusals</h3>
				<Loaded of={failures} bones={1}>
					{(list) =>
						list.length === 0 ? (
							<p class="quiet">No request of the provider was refused lately.</p>
						) : (
							<ul class="list small">
								{list.map((e) => (
									<li key={e.id} class="wrap">
										{e.description} {e.outcome.reason && <Badge tone="bad">{e.outcome.reason}</Badge>} <Time at={e.occurredAt} /> <code class="quiet">{e.request?.id}</code>
									</li>
								))}
							</ul>
						)
					}
				</Loaded>
			</div>
			{creating && (
				<TokenForm
					kind="scim"
					onClose={() => create(false)}
					onDone={(k) => {
						create(false);
						setMade(k);
						keys.again();
					}}
				/>
			)}
			{made && <MadeKey made={made} onClose={() => setMade(undefined)} />}
			{revoking && (
				<Confirm
					title={`Revoke ${revoking.name}`}
					verb={`Revoke ${revoking.name}`}
					name={revoking.name}
					onClose={() => revoke(undefined)}
					onDone={async () => {
						await call(`/api-keys/${revoking.id}`, { method: "DELETE" });
						keys.again();
					}}
				>
					<p>The provider’s requests with this key are refused within 10 seconds. This cannot be undone.</p>
				</Confirm>
			)}
		</section>
	);
}
