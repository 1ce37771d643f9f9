import { useState } from "preact/hooks";
import { call } from "../api";
import { plural } from "../format";
import { useLoad } from "../load";
import { Choice, Empty, Loaded, Page, Time } from "../ui";
import { ask } from "./question";

interface Group {
	question: string;
	count: number;
	notFound: number;
	failed: number;
	ratedDown: number;
	lastAskedAt: string;
	questionIds: string[];
	comments: string[];
}

type Days = "7" | "30" | "90";

/** Questions that were not answered well, grouped by alike wording: what is missing in the documents. */
export function Unanswered() {
	const [days, setDays] = useState<Days>("30");
	const found = useLoad(() => call<{ groups: Group[]; complete: boolean }>(`/usage/unanswered?days=${days}`), [days]);
	return (
		<Page
			title="Not answered"
			about="Questions that found nothing or failed, or whose answers were rated as not helpful. Similar questions are grouped, the most frequent group first."
			actions={
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
			}
		>
			<Loaded of={found} tall>
				{({ groups, complete }) => (
					<>
						{groups.length === 0 && <Empty title="Everything was answered">There are no unanswered questions in this time.</Empty>}
						<ul class="list">
							{groups.map((g) => (
								<li key={g.questionIds[0]} class="gap">
									<span class="wrap">
										{g.question}
										{g.comments.map((c) => (
											<span key={c} class="small quiet comment">
												“{c}”
											</span>
										))}
									</span>
									<span class="small quiet">
										{[[g.notFound, "not found"] as const, [g.failed, "failed"] as const, [g.ratedDown, "not helpful"] as const]
											.filter(([n]) => n > 0)
											.map(([n, what]) => `${n} ${what}`)
											.join(", ")}
										, <Time at={g.lastAskedAt} />
									</span>
									{/* The answer itself belongs to the person who asked. */}
									<button type="button" onClick={() => ask({ question: g.question })}>
										Ask again<span class="hidden">: {g.question}</span>
									</button>
								</li>
							))}
						</ul>
						{!complete && <p class="small quiet">Only the newest 2,000 questions were looked at: {plural(groups.length, "group")}.</p>}
					</>
				)}
			</Loaded>
		</Page>
	);
}
