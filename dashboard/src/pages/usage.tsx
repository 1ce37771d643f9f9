import { useState } from "preact/hooks";
import { call, send } from "../api";
import { count, ago, exact, plural } from "../format";
import { useAction, useLoad, usePart } from "../load";
import { useAdmin } from "../session";
import type { Quota, Usage } from "../types";
import { Choice, Empty, Head, Loaded, More, Page, Problem, Time } from "../ui";
import { usageByUser } from "../users";
import { Chart } from "../chart";

type Days = "7" | "30" | "90";

function startOf(days: Days): string {
	return new Date(Date.now() - (Number(days) - 1) * 86400_000).toISOString().slice(0, 10);
}

/** What the team did, and the rest of today's quotas. */
export function UsagePage() {
	const [days, setDays] = useState<Days>("30");
	const admin = useAdmin();
	const usage = useLoad(() => call<Usage>(`/usage?start=${startOf(days)}&groupBy=feature&limit=200`), [days]);
	const users = usePart((most, after) => usageByUser(startOf(days), most, after), [days]);
	return (
		<Page
			title="Usage"
			about={admin ? "What your team did with Docent, by UTC day." : "What you did with Docent, by UTC day."}
			actions={
				<>
					<Choice
						label="Period"
						options={[
							["7", "7 days"],
							["30", "30 days"],
							["90", "90 days"],
						]}
						value={days}
						onChange={setDays}
					/>
					<DownloadCSV days={days} />
				</>
			}
		>
			<Quotas />
			<Loaded of={usage} tall>
				{(u) => <Report usage={u} days={Number(days)} />}
			</Loaded>
			<section class="stack">
				<h2>Users</h2>
				<Loaded of={users}>
					{(u) =>
						!u || u.items.length === 0 ? (
							<p class="quiet">Nobody has used Docent with a personal key or in the dashboard in this time.</p>
						) : (
							<div class="table cards">
								<table>
									<Head names={["User", "Questions", "Searches", "Active days", "Last active"]} numbers={["Questions", "Searches", "Active days"]} />
									<tbody>
										{u.items.map((x) => (
											<tr key={x.userId}>
												<td data-label="User">
													<div class="wrap">{x.userName ?? <code>{x.userId}</code>}</div>
												</td>
												<td data-label="Questions" class="num">
													{count(x.questions)}
												</td>
												<td data-label="Searches" class="num">
													{count(x.contextCalls)}
												</td>
												<td data-label="Active days" class="num">
													{count(x.activeDays)}
												</td>
												<td data-label="Last active" class="fit">
													<LastActive hour={x.lastActiveAt} />
												</td>
											</tr>
										))}
									</tbody>
								</table>
							</div>
						)
					}
				</Loaded>
				<More of={users} what="users" />
			</section>
		</Page>
	);
}

/** When a user was last active, of which only the hour is known. */
function LastActive({ hour }: { hour: string }) {
	return Date.now() - Date.parse(hour) < 3600_000 ? <>this hour</> : <Time at={hour} />;
}

function DownloadCSV({ days }: { days: Days }) {
	const action = useAction();
	const download = async () => {
		const reply = await send(`/usage?start=${startOf(days)}&groupBy=feature&limit=200`, { headers: { Accept: "text/csv" } });
		const a = document.createElement("a");
		a.href = URL.createObjectURL(await reply.blob());
		a.download = `docent-usage-${startOf(days)}.csv`;
		a.click();
		URL.revokeObjectURL(a.href);
	};
	return (
		<>
			<button type="button" disabled={action.busy} onClick={() => action.run(download)}>
				Download CSV
			</button>
			<Problem error={action.error} />
		</>
	);
}

const names: Record<string, string> = { "answers-day": "Questions today", "pat-day": "Calls of this key today", "session-day": "Calls of this session today", collections: "Collections" };

function Quotas() {
	const quotas = useLoad(() => call<{ quotas: Quota[] }>("/usage/quotas"));
	return (
		<Loaded of={quotas} bones={1} tall>
			{(q) => (
				<div class="grid">
					{q.quotas.map((one) => (
						<div key={one.name} class="card figure">
							<span class="quiet" id={`quota-${one.name}`}>
								{names[one.name] ?? one.name}
							</span>
							<b>
								{count(one.used)} <span class="quiet small">of {count(one.limit)}</span>
							</b>
							<progress aria-labelledby={`quota-${one.name}`} value={one.used} max={one.limit} />
							<span class="small quiet" title={one.resetsAt ? exact(one.resetsAt) : undefined}>
								{one.resetsAt ? `Full again ${ago(one.resetsAt)}` : `${count(one.remaining)} left`}
							</span>
						</div>
					))}
				</div>
			)}
		</Loaded>
	);
}

function Report({ usage, days }: { usage: Usage; days: number }) {
	const byDay = new Map<string, { questions: number; requests: number }>();
	const byFeature = new Map<string, number>();
	for (const b of usage.buckets) {
		const day = { questions: 0, requests: 0 };
		for (const r of b.results) {
			const n = r.metrics.requests ?? 0;
			day.requests += n;
			day.questions += r.metrics.accepted ?? 0;
			if (r.feature) byFeature.set(r.feature, (byFeature.get(r.feature) ?? 0) + n);
		}
		byDay.set(b.start.slice(0, 10), day);
	}
	const all = Array.from({ length: days }, (_, i) => {
		const day = new Date(Date.now() - (days - 1 - i) * 86400_000).toISOString().slice(0, 10);
		return { day, ...(byDay.get(day) ?? { questions: 0, requests: 0 }) };
	});
	const questions = all.reduce((n, d) => n + d.questions, 0);
	const requests = all.reduce((n, d) => n + d.requests, 0);
	if (requests === 0) return <Empty title="Nothing happened in this time">Ask a question, or use a key with the API or the command line.</Empty>;
	return (
		<>
			<section class="card stack">
				<div class="row between">
					<h2>By day</h2>
					<div class="row small">
						<span class="key">{plural(questions, "question")}</span>
						<span class="key more">{plural(requests - questions, "other request")}</span>
					</div>
				</div>
				<Chart days={all} />
			</section>
			<section class="stack">
				<h2>By feature</h2>
				<div class="table">
					<table>
						<Head names={["Feature", "Requests"]} numbers={["Requests"]} />
						<tbody>
							{[...byFeature]
								.filter(([, n]) => n > 0)
								.sort((a, b) => b[1] - a[1])
								.map(([f, n]) => (
									<tr key={f}>
										<td>{f.replace(/[._]/g, " ")}</td>
										<td class="num">{count(n)}</td>
									</tr>
								))}
						</tbody>
					</table>
				</div>
			</section>
		</>
	);
}
