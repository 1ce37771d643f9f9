import { Fragment } from "preact";
import { useState } from "preact/hooks";
import { all, base, call } from "../api";
import { count } from "../format";
import { useAction, useEvery, useLoad } from "../load";
import { useAdmin } from "../session";
import type { DataSource } from "../types";
import { Badge, Confirm, Dialog, Empty, Loaded, Page, Problem, Snippet, Time } from "../ui";
import { Connect, Edit, providerOf } from "./sourceform";

/** The page of data sources: repositories, messages and web pages that are searched together with the collections. */
export function Sources() {
	const admin = useAdmin();
	const sources = useLoad(() => all<DataSource>("/data-sources").then((list) => list.filter((s) => s.provider !== "custom")));
	const [connecting, connect] = useState(false);
	const [removing, remove] = useState<DataSource>();
	const [editing, edit] = useState<DataSource>();
	const acting = useAction();
	const [made, setMade] = useState<DataSource>();
	useEvery(3000, sources.value?.some((s) => s.state === "connecting" || s.sync?.state === "reading" || isDue(s)) ?? false, sources.again);
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
							{admin ? "Connect repositories, wikis, issues, messages or a web site, and Docent keeps them up to date." : "An admin of your team can connect repositories, wikis, issues, messages and web sites."}
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
									{facts(s).map(([label, text]) => (
										<Fragment key={label}>
											<dt>{label}</dt>
											<dd>{text}</dd>
										</Fragment>
									))}
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
												{isDue(s) ? "due now" : <Time at={s.sync.next} />}
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
										{s.sync && s.state !== "paused" && (
											<button
												type="button"
												disabled={acting.busy}
												onClick={() =>
													acting.run(async () => {
														await call(`/data-sources/${s.id}/sync`, { method: "POST" });
														sources.again();
													})
												}
											>
												Sync now<span class="hidden"> {s.name}</span>
											</button>
										)}
										{s.sync && (
											<button
												type="button"
												disabled={acting.busy}
												onClick={() =>
													acting.run(async () => {
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
						if (providerOf(s.provider)?.webhook) setMade(s);
					}}
				/>
			)}
			{made && <Made of={made} onClose={() => setMade(undefined)} />}
			<Problem error={acting.error} />
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

/** Whether the next sync begins within a minute. */
function isDue(s: DataSource): boolean {
	return s.sync?.next !== undefined && Date.parse(s.sync.next) - Date.now() < 60_000;
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

const shown = 5; // entries of a list, so that a long one does not fill the page

/** The settings of a source with their labels. */
function facts(s: DataSource): [label: string, text: string][] {
	const out: [string, string][] = [];
	for (const { name, label } of providerOf(s.provider)?.settings ?? []) {
		const value = s.settings[name];
		if (value === undefined) continue;
		const more = typeof value === "string" ? 0 : value.length - shown;
		out.push([label, typeof value === "string" ? value : value.slice(0, shown).join(", ") + (more > 0 ? ` and ${more} more` : "")]);
	}
	return out;
}

/** The webhook of a new source. Its secret is not shown again. */
function Made({ of, onClose }: { of: DataSource; onClose: () => void }) {
	const hook = providerOf(of.provider)?.webhook;
	return (
		<Dialog title={`${of.name} is connected`} onClose={onClose}>
			<p>For changes at once, set up the delivery of events at the provider: {hook?.guide}.</p>
			<p>{hook?.label}:</p>
			<Snippet text={`${base}/webhooks/${of.provider}/${of.id}`} what="the webhook address" />
			{of.webhookSecret && (
				<>
					<p>Its secret, shown this once:</p>
					<Snippet text={of.webhookSecret} what="the webhook secret" />
				</>
			)}
			<div class="actions">
				<button type="button" class="primary" onClick={onClose}>
					Done
				</button>
			</div>
		</Dialog>
	);
}
