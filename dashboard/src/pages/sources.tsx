import { useState } from "preact/hooks";
import { all, call } from "../api";
import { count, plural } from "../format";
import { useAction, useEvery, useLoad } from "../load";
import { useAdmin } from "../session";
import type { DataSource } from "../types";
import { Badge, Confirm, Dialog, Empty, Field, Loaded, Page, Problem, Snippet, Time } from "../ui";
import { base } from "../api";

/** Repositories, messages and web pages that are searched with the collections. */
export function Sources() {
	const admin = useAdmin();
	const sources = useLoad(() => all<DataSource>("/data-sources").then((list) => list.filter((s) => s.provider !== "custom")));
	const [connecting, connect] = useState(false);
	const [removing, remove] = useState<DataSource>();
	const [editing, edit] = useState<DataSource>();
	const pausing = useAction();
	const [made, setMade] = useState<DataSource>();
	useEvery(3000, sources.value?.some((s) => s.state === "connecting" || s.sync?.state === "reading") ?? false, sources.again);
	const button = admin && (
		<button type="button" class="primary" onClick={() => connect(true)}>
			Connect data source
		</button>
	);
	return (
		<Page title="Data sources" about="Repositories, messages, issues and web pages. They are searched together with your collections." actions={sources.value?.length ? button : undefined}>
			<Loaded of={sources} tall>
				{(list) =>
					list.length === 0 ? (
						<Empty title="Nothing is connected yet" actions={button}>
							{admin ? "Connect GitHub repositories or a web site, and Docent keeps them up to date." : "An admin of your team can connect repositories and web sites."}
						</Empty>
					) : (
						list.map((s) => (
							<section key={s.id} class="card stack" aria-label={s.name}>
								<div class="row between">
									<h2 class="wrap">{s.name}</h2>
									<div class="row">
										<Badge>{s.provider}</Badge>
										<State of={s} />
									</div>
								</div>
								<dl class="facts small">
									{s.settings.repositories && (
										<>
											<dt>Repositories</dt>
											<dd>{s.settings.repositories.join(", ")}</dd>
										</>
									)}
									{(s.settings.sitemap || s.settings.urls) && (
										<>
											<dt>Pages</dt>
											<dd>{s.settings.sitemap ?? plural(s.settings.urls?.length ?? 0, "address", "addresses")}</dd>
										</>
									)}
									{(s.sync || s.lastSync) && ( // imports fill the others
										<>
											<dt>Last sync</dt>
											<dd>
												<Time at={s.lastSync} />
											</dd>
										</>
									)}
									{s.sync?.state === "reading" && (
										<>
											<dt>Reading</dt>
											<dd>
												{s.sync.part ?? "items"}: {count(s.sync.read)} read, {count(s.sync.rejected)} rejected
											</dd>
										</>
									)}
									{s.sync?.next && (
										<>
											<dt>Next sync</dt>
											<dd>
												{Date.parse(s.sync.next) - Date.now() < 60_000 ? "due now" : <Time at={s.sync.next} />}
											</dd>
										</>
									)}
								</dl>
								{s.lastError && (
									<div class="note bad">
										<p>{s.lastError.detail}</p>
										<p class="small quiet">
											{s.lastError.code}, <Time at={s.lastError.at} />
										</p>
									</div>
								)}
								{admin && (
									<div class="row">
										<button type="button" onClick={() => edit(s)}>
											Edit<span class="hidden"> {s.name}</span>
										</button>
										{s.sync && (
											<button
												type="button"
												disabled={pausing.busy}
												onClick={() =>
													pausing.run(async () => {
														await call(`/data-sources/${s.id}`, { method: "PATCH", body: { paused: s.state !== "paused" } });
														sources.again();
													})
												}
											>
												{s.state === "paused" ? "Resume" : "Pause"}
												<span class="hidden"> {s.name}</span>
											</button>
										)}
										<button type="button" class="danger" onClick={() => remove(s)}>
											Disconnect<span class="hidden"> {s.name}</span>
										</button>
									</div>
								)}
							</section>
						))
					)
				}
			</Loaded>
			{connecting && (
				<Connect
					onClose={() => connect(false)}
					onDone={(s) => {
						connect(false);
						sources.again();
						if (s.webhookSecret) setMade(s);
					}}
				/>
			)}
			{made && (
				<Dialog title={`${made.name} is connected`} onClose={() => setMade(undefined)}>
					<p>For changes at once, add a webhook to the repositories, with content type application/json:</p>
					<Snippet text={`${base}/webhooks/${made.provider}/${made.id}`} what="the webhook address" />
					<p>Its secret, shown this once:</p>
					<Snippet text={made.webhookSecret ?? ""} what="the webhook secret" />
					<div class="actions">
						<button type="button" class="primary" onClick={() => setMade(undefined)}>
							Done
						</button>
					</div>
				</Dialog>
			)}
			<Problem error={pausing.error} />
			{editing && (
				<Edit
					of={editing}
					onClose={() => edit(undefined)}
					onDone={() => {
						edit(undefined);
						sources.again();
					}}
				/>
			)}
			{removing && (
				<Confirm
					title={`Disconnect ${removing.name}`}
					verb="Disconnect source"
					name={removing.name}
					onClose={() => remove(undefined)}
					onDone={async () => {
						await call(`/data-sources/${removing.id}`, { method: "DELETE" });
						sources.again();
					}}
				>
					<p>Its items leave search within a minute. Connecting it again reads everything again.</p>
				</Confirm>
			)}
		</Page>
	);
}

function State({ of }: { of: DataSource }) {
	switch (of.state) {
		case "ready":
			return <Badge tone="good">Ready</Badge>;
		case "failed":
			return <Badge tone="bad">Failed</Badge>;
		case "paused":
			return <Badge>Paused</Badge>;
		default:
			return <Badge tone="accent">Connecting</Badge>;
	}
}

const repositoriesOf = (text: string) => text.split(/[\s,]+/).filter((r) => r !== "");

/** Changes the name, the settings and the secret of a data source. */
function Edit({ of, onClose, onDone }: { of: DataSource; onClose: () => void; onDone: () => void }) {
	const [name, setName] = useState(of.name);
	const [repositories, setRepositories] = useState((of.settings.repositories ?? []).join("\n"));
	const [sitemap, setSitemap] = useState(of.settings.sitemap ?? "");
	const [secret, setSecret] = useState("");
	const action = useAction();
	const settings = () => ({
		...(of.settings.repositories && { repositories: repositoriesOf(repositories) }),
		...(of.settings.sitemap && { sitemap: sitemap.trim() }),
		...(secret.trim() && { [of.provider === "github" ? "accessToken" : "signingSecret"]: secret.trim() }),
	});
	return (
		<Dialog title={`Edit ${of.name}`} onClose={onClose}>
			<form
				class="stack loose"
				onSubmit={(e) => {
					e.preventDefault();
					action.run(async () => {
						await call(`/data-sources/${of.id}`, { method: "PATCH", body: { name: name.trim(), settings: settings() } });
						onDone();
					});
				}}
			>
				<div class="stack">
					<Field label="Name">{(a) => <input {...a} required maxLength={100} value={name} onInput={(e) => setName(e.currentTarget.value)} />}</Field>
					{of.settings.repositories && (
						<Field label="Repositories" hint="owner/name, one per line. Those that stay are not read again; items of those left out are removed.">
							{(a) => <textarea {...a} required rows={3} value={repositories} onInput={(e) => setRepositories(e.currentTarget.value)} />}
						</Field>
					)}
					{of.settings.sitemap && (
						<Field label="Sitemap" hint="The address of its sitemap.xml">
							{(a) => <input {...a} type="url" required value={sitemap} onInput={(e) => setSitemap(e.currentTarget.value)} />}
						</Field>
					)}
					{(of.provider === "github" || of.provider === "slack") && (
						<Field label={of.provider === "github" ? "New access token" : "New signing secret"} hint="Leave it empty to keep the one before.">
							{(a) => <input {...a} type="password" autoComplete="off" value={secret} onInput={(e) => setSecret(e.currentTarget.value)} />}
						</Field>
					)}
				</div>
				<Problem error={action.error} />
				<div class="actions">
					<button type="button" onClick={onClose}>
						Cancel
					</button>
					<button class="primary" disabled={action.busy}>
						Save
					</button>
				</div>
			</form>
		</Dialog>
	);
}

type Provider = "github" | "web" | "slack" | "jira";

function Connect({ onClose, onDone }: { onClose: () => void; onDone: (s: DataSource) => void }) {
	const [provider, setProvider] = useState<Provider>("github");
	const [name, setName] = useState("");
	const [repositories, setRepositories] = useState("");
	const [token, setToken] = useState("");
	const [sitemap, setSitemap] = useState("");
	const [secret, setSecret] = useState("");
	const action = useAction();
	const settings = () => {
		switch (provider) {
			case "github":
				return { repositories: repositoriesOf(repositories), accessToken: token || undefined };
			case "web":
				return { sitemap: sitemap.trim() };
			case "slack":
				return { signingSecret: secret.trim() || undefined };
			default:
				return undefined;
		}
	};
	return (
		<Dialog title="Connect data source" onClose={onClose}>
			<form
				class="stack loose"
				onSubmit={(e) => {
					e.preventDefault();
					action.run(async () => onDone(await call<DataSource>("/data-sources", { method: "POST", body: { provider, name: name.trim(), settings: settings() } })));
				}}
			>
				<div class="stack">
					<Field label="Provider">
						{(a) => (
							<select {...a} value={provider} onChange={(e) => setProvider(e.currentTarget.value as Provider)}>
								<option value="github">GitHub repositories</option>
								<option value="web">Web site</option>
								<option value="slack">Slack messages</option>
								<option value="jira">Jira issues, imported</option>
							</select>
						)}
					</Field>
					<Field label="Name">{(a) => <input {...a} required maxLength={100} value={name} onInput={(e) => setName(e.currentTarget.value)} />}</Field>
					{provider === "github" && (
						<>
							<Field label="Repositories" hint="owner/name, one per line">
								{(a) => <textarea {...a} required rows={3} value={repositories} onInput={(e) => setRepositories(e.currentTarget.value)} />}
							</Field>
							<Field label="Access token" hint="Fine-grained, with read access to contents, issues and pull requests. It is stored encrypted.">
								{(a) => <input {...a} type="password" autoComplete="off" value={token} onInput={(e) => setToken(e.currentTarget.value)} />}
							</Field>
						</>
					)}
					{provider === "web" && (
						<Field label="Sitemap" hint="The address of its sitemap.xml">
							{(a) => <input {...a} type="url" required placeholder="https://" value={sitemap} onInput={(e) => setSitemap(e.currentTarget.value)} />}
						</Field>
					)}
					{provider === "slack" && (
						<Field label="Signing secret" hint="Of your Slack app; it verifies what Slack sends">
							{(a) => <input {...a} type="password" autoComplete="off" required value={secret} onInput={(e) => setSecret(e.currentTarget.value)} />}
						</Field>
					)}
				</div>
				<Problem error={action.error} />
				<div class="actions">
					<button type="button" onClick={onClose}>
						Cancel
					</button>
					<button class="primary" disabled={action.busy}>
						Connect
					</button>
				</div>
			</form>
		</Dialog>
	);
}
