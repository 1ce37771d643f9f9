import { useState } from "preact/hooks";
import { type Feed, readFeed } from "../feed";
import { useAction, useLoad } from "../load";
import { useAdmin } from "../session";
import type { SecurityEvent } from "../types";
import { Badge, Dialog, Empty, Head, Loaded, Page, Problem, Snippet, Time } from "../ui";
import { Collectors } from "./collectors";

const categories: [string, string][] = [
	["", "All categories"],
	["authentication", "Authentication"],
	["identity", "Identity"],
	["configuration", "Configuration"],
	["data", "Data"],
	["activity", "Activity"],
];

/** Security events, newest first. */
export function Events() {
	if (useAdmin()) return <AllEvents />;
	return (
		<Page title="Security events">
			<Empty title="Only admins see security events">Ask an admin of your team.</Empty>
		</Page>
	);
}

function AllEvents() {
	const [category, setCategory] = useState("");
	const [outcome, setOutcome] = useState("");
	const [more, setMore] = useState<{ of?: Feed; events: SecurityEvent[]; next: string | null }>({ events: [], next: null });
	const older = useAction();
	const [shown, show] = useState<SecurityEvent>();
	const [connecting, connect] = useState(false);
	const query = (after?: string) => readFeed({ ...(category && { category }), ...(outcome && { outcome }) }, 50, after);
	const feed = useLoad(() => query(), [category, outcome]);
	const first = feed.value;
	const read = first && more.of === first; // not of another filter
	const below = read ? more.events : [];
	const next = read ? more.next : first?.hasMore ? first.nextCursor : null;
	return (
		<Page
			wide
			title="Security events"
			about="Who did what. A SIEM or another collector can read the same feed."
			actions={
				<>
					<button type="button" onClick={() => connect(true)}>
						Connect a collector
					</button>
					<select aria-label="Category" class="auto" value={category} onChange={(e) => setCategory(e.currentTarget.value)}>
						{categories.map(([v, text]) => (
							<option key={v} value={v}>
								{text}
							</option>
						))}
					</select>
					<select aria-label="Outcome" class="auto" value={outcome} onChange={(e) => setOutcome(e.currentTarget.value)}>
						<option value="">All outcomes</option>
						<option value="success">Success</option>
						<option value="failure">Failure</option>
					</select>
				</>
			}
		>
			<Loaded of={feed} bones={8}>
				{(f) =>
					f.events.length + below.length === 0 ? (
						<Empty title="No such events">{next ? "Nothing was recorded lately with these filters." : "Nothing was recorded with these filters."}</Empty>
					) : (
						<div class="table cards">
							<table>
								<Head names={["Event", "Type", "From", "When", ""]} />
								<tbody>
									{[...f.events, ...below].map((e) => (
										<tr key={e.id}>
											<td data-label="Event">
												<div class="wrap">
													{e.description}
													{e.outcome.result === "failure" && (
														<>
															{" "}
															<Badge tone="bad">{e.outcome.reason ?? "failed"}</Badge>
														</>
													)}
													{(e.severity === "high" || e.severity === "critical") && (
														<>
															{" "}
															<Badge tone="warn">{e.severity}</Badge>
														</>
													)}
												</div>
											</td>
											<td data-label="Type">
												<code>{e.eventType}</code>
											</td>
											<td data-label="From" class="fit">
												<code>{e.client?.ip ?? "Docent"}</code>
											</td>
											<td data-label="When" class="fit">
												<Time at={e.occurredAt} />
											</td>
											<td data-label="" class="fit">
												<button type="button" class="plain" onClick={() => show(e)}>
													Details<span class="hidden"> of {e.description}</span>
												</button>
											</td>
										</tr>
									))}
								</tbody>
							</table>
						</div>
					)
				}
			</Loaded>
			<Problem error={older.error} />
			{next && (
				<div>
					<button
						type="button"
						disabled={older.busy}
						onClick={() =>
							older.run(async () => {
								const p = await query(next);
								setMore({ of: first, events: [...below, ...p.events], next: p.hasMore ? p.nextCursor : null });
							})
						}
					>
						Older events
					</button>
				</div>
			)}
			{connecting && <Collectors onClose={() => connect(false)} />}
			{shown && (
				<Dialog title={shown.eventType} onClose={() => show(undefined)}>
					<p>{shown.description}</p>
					<Snippet text={JSON.stringify(shown, null, 2)} what="the event" />
					<div class="actions">
						<button type="button" onClick={() => show(undefined)}>
							Close
						</button>
					</div>
				</Dialog>
			)}
		</Page>
	);
}
