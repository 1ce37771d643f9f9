import { useState } from "preact/hooks";
import { all, call, some } from "../api";
import { useAction, useEvery, useLoad, usePart } from "../load";
import { useAdmin } from "../session";
import { Badge, Confirm, Dialog, Empty, Field, FormDialog, Loaded, More, Page, Problem, Snippet, Table, Time } from "../ui";

interface Endpoint {
	id: string;
	url: string;
	eventTypes: string[];
	description?: string;
	disabled?: boolean;
	disabledReason?: "failing" | "gone";
	createdAt: string;
}

interface Delivery {
	id: string;
	type: string;
	timestamp: string;
	status: "waiting" | "delivered" | "failed";
	attempts: number;
	lastStatus?: number;
	lastError?: string;
	nextAttemptAt?: string;
}

const own = ["document.indexed", "document.failed", "answer.completed", "answer.failed", "source.failed"];
const tones = { waiting: "warn", delivered: "good", failed: "bad" } as const;
const why = { failing: "Disabled: nothing could be delivered for 3 days", gone: "Disabled: the server answered 410 Gone" };

/** Settings, Webhooks. */
export function Webhooks() {
	const admin = useAdmin();
	const endpoints = useLoad(() => (admin ? all<Endpoint>("/webhook-endpoints") : Promise.resolve([])));
	const [adding, add] = useState(false);
	const [secret, show] = useState("");
	const [shown, open] = useState<Endpoint>();
	if (!admin)
		return (
			<Page title="Webhooks">
				<Empty title="Only an admin manages webhooks">Ask an admin of the team to add your server.</Empty>
			</Page>
		);
	return (
		<Page
			title="Webhooks"
			about="Addresses of your own servers that Docent tells what happened: documents indexed, answers ready, security events."
			actions={
				<button type="button" class="primary" onClick={() => add(true)}>
					Add endpoint
				</button>
			}
		>
			<Loaded of={endpoints}>
				{(list) =>
					list.length === 0 ? (
						<Empty title="No webhook endpoint yet">Add the https address of a server that takes events.</Empty>
					) : (
						<Table
							rows={list}
							columns={[
								[
									"Endpoint",
									(e) => (
										<div class="wrap">
											<b>{e.url}</b> <span class="quiet">{e.description}</span>
										</div>
									),
								],
								["Events", (e) => e.eventTypes.join(", "), "wrap"],
								["State", (e) => (e.disabled ? <Badge tone="bad">{e.disabledReason ? why[e.disabledReason] : "Disabled"}</Badge> : <Badge tone="good">Enabled</Badge>), "fit"],
								[
									"",
									(e) => (
										<button type="button" class="plain" onClick={() => open(e)}>
											Open<span class="hidden"> {e.url}</span>
										</button>
									),
									"fit",
								],
							]}
						/>
					)
				}
			</Loaded>
			{adding && (
				<AddEndpoint
					onClose={() => add(false)}
					onDone={(made) => {
						add(false);
						show(made);
						endpoints.again();
					}}
				/>
			)}
			{secret && (
				<Dialog title="The secret of the endpoint" onClose={() => show("")}>
					<p>Your server verifies deliveries with it. It is shown only once.</p>
					<Snippet text={secret} what="the secret" />
					<div class="actions">
						<button type="button" class="primary" onClick={() => show("")}>
							Done
						</button>
					</div>
				</Dialog>
			)}
			{shown && (
				<Deliveries
					of={shown}
					onSecret={show}
					onChange={endpoints.again}
					onClose={() => {
						open(undefined);
						endpoints.again();
					}}
				/>
			)}
		</Page>
	);
}

/** Adds an endpoint. */
function AddEndpoint({ onClose, onDone }: { onClose: () => void; onDone: (secret: string) => void }) {
	const [url, setURL] = useState("");
	const [description, setDescription] = useState("");
	const [chosen, choose] = useState<string[]>(["document.failed", "answer.failed", "source.failed"]);
	const audited = useLoad(() => call<{ eventType: string }[]>("/security-events/types"));
	const types = [...own, ...(audited.value ?? []).map((t) => t.eventType)];
	return (
		<FormDialog
			title="Add a webhook endpoint"
			verb="Add endpoint"
			disabled={chosen.length === 0}
			onClose={onClose}
			onSubmit={async () => onDone((await call<{ secret: string }>("/webhook-endpoints", { method: "POST", body: { url: url.trim(), eventTypes: chosen, description: description || undefined } })).secret)}
		>
			<Field label="Address" hint="An https address on the public internet">
				{(a) => <input {...a} required type="url" maxLength={2048} value={url} autoComplete="off" onInput={(e) => setURL(e.currentTarget.value)} />}
			</Field>
			<fieldset class="checks stack tight">
				<legend>Events</legend>
				{types.map((type) => (
					<label key={type} class="check">
						<input type="checkbox" checked={chosen.includes(type)} onChange={(e) => choose(e.currentTarget.checked ? [...chosen, type] : chosen.filter((t) => t !== type))} />
						<code class="wrap">{type}</code>
					</label>
				))}
			</fieldset>
			<Field label="Description" hint="What the endpoint is for">
				{(a) => <input {...a} maxLength={200} value={description} autoComplete="off" onInput={(e) => setDescription(e.currentTarget.value)} />}
			</Field>
		</FormDialog>
	);
}

/** Shows an endpoint with its newest deliveries and the buttons that change it. */
function Deliveries({ of, onSecret, onChange, onClose }: { of: Endpoint; onSecret: (secret: string) => void; onChange: () => void; onClose: () => void }) {
	const path = `/webhook-endpoints/${of.id}`;
	const deliveries = usePart((most, after) => some<Delivery>(`${path}/deliveries`, most, after), [], 20);
	const action = useAction();
	const [disabled, setDisabled] = useState(of.disabled === true);
	const [removing, remove] = useState(false);
	useEvery(3000, deliveries.value?.items.some((d) => d.status === "waiting") === true, deliveries.again);
	const post = (below: string) =>
		action.run(async () => {
			await call(path + below, { method: "POST" });
			deliveries.again();
		});
	if (removing)
		return (
			<Confirm title="Delete the webhook endpoint" verb="Delete" name={new URL(of.url).host} onDone={() => call(path, { method: "DELETE" })} onClose={onClose}>
				<p>Events that wait for it are not delivered.</p>
			</Confirm>
		);
	return (
		<Dialog wide title={of.url} onClose={onClose}>
			<Problem error={action.error} />
			<Loaded of={deliveries}>
				{(list) =>
					!list || list.items.length === 0 ? (
						<p class="quiet">Nothing was delivered in the last 30 days.</p>
					) : (
						<Table
							rows={list.items}
							columns={[
								["Event", (d) => d.type],
								["Happened", (d) => <Time at={d.timestamp} />, "fit"],
								["Status", (d) => <Badge tone={tones[d.status]}>{d.status}</Badge>, "fit"],
								["Last reply", (d) => d.lastStatus || d.lastError || "none", "fit"],
								["Attempts", (d) => d.attempts, "fit"],
								["Next", (d) => (d.nextAttemptAt ? <Time at={d.nextAttemptAt} /> : "none"), "fit"],
								[
									"",
									(d) => (
										<button type="button" class="plain" disabled={action.busy || disabled} onClick={() => post(`/deliveries/${d.id}/replay`)}>
											Replay<span class="hidden"> {d.id}</span>
										</button>
									),
									"fit",
								],
							]}
						/>
					)
				}
			</Loaded>
			<More of={deliveries} what="deliveries" />
			<div class="actions">
				<button type="button" class="danger" onClick={() => remove(true)}>
					Delete
				</button>
				<button
					type="button"
					disabled={action.busy}
					onClick={() =>
						action.run(async () => {
							const made = await call<{ secret: string }>(path + "/rotate", { method: "POST" });
							onClose();
							onSecret(made.secret);
						})
					}
				>
					New secret
				</button>
				<button
					type="button"
					disabled={action.busy}
					onClick={() =>
						action.run(async () => {
							await call(path, { method: "PATCH", body: { disabled: !disabled } });
							setDisabled(!disabled);
							onChange();
						})
					}
				>
					{disabled ? "Enable" : "Disable"}
				</button>
				<button type="button" disabled={action.busy || disabled} onClick={() => post("/test")}>
					Send test
				</button>
				<button type="button" class="primary" autoFocus onClick={onClose}>
					Close
				</button>
			</div>
		</Dialog>
	);
}
