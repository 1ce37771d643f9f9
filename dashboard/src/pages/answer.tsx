import { useEffect, useRef, useState } from "preact/hooks";
import { call, Failure } from "../api";
import { Icon } from "../icons";
import { useAction, useLoad } from "../load";
import { Link, Markdown } from "../markdown";
import { go, to } from "../route";
import { follow } from "../stream";
import type { Answer, Found, Rating } from "../types";
import { Confirm, Copy, Empty, Problem } from "../ui";
import { accepted, ask, QuestionForm, waitingFor } from "./question";

/** What is known of an answer while it comes. */
interface State {
	question?: string;
	previous?: string;
	sources: { title?: string; url: string }[];
	text: string;
	answer?: Answer; // complete or failed
	error?: unknown;
	lost?: boolean;
	stopped?: boolean;
}

/** Shows the answer to the question with the id as it is written, and asks the question first if that was not done yet. */
function useAnswer(id: string): [State, stop: () => void, again: () => void] {
	const [state, set] = useState<State>({ sources: [], text: "" });
	const stopping = useRef<AbortController>(undefined);
	const [turn, setTurn] = useState(0);
	useEffect(() => {
		const stop = new AbortController();
		stopping.current = stop;
		const add = (part: Partial<State>) => !stop.signal.aborted && set((s) => ({ ...s, ...part }));
		const run = async () => {
			const asked = waitingFor(id);
			if (asked) {
				add({ question: asked.question, previous: asked.previousQuestionId });
			} else {
				const first = await call<Answer>(`/answers/${id}`, { signal: stop.signal });
				add({ question: first.question, previous: first.previousQuestionId, ...(first.state === "processing" ? {} : { answer: first, text: first.result?.answer ?? "" }) });
				if (first.state !== "processing") return;
			}
			await follow(id, asked, stop.signal, {
				sources: (sources) => {
					accepted(id);
					add({ sources });
				},
				text: (text, replace) => !stop.signal.aborted && set((s) => ({ ...s, text: replace ? text : s.text + text })),
				done: (answer) => {
					accepted(id);
					add({ answer, question: answer.question, text: answer.result?.answer ?? "", lost: false });
				},
				lost: (lost) => add({ lost }),
			});
		};
		set((s) => ({ ...s, text: "", stopped: false, error: undefined }));
		run().catch((error: unknown) => add({ error, lost: false }));
		return () => stop.abort();
	}, [id, turn]);
	const stop = () => {
		stopping.current?.abort();
		set((s) => ({ ...s, stopped: true, lost: false }));
	};
	return [state, stop, () => setTurn(turn + 1)];
}

export function AnswerCard({ id }: { id: string }) {
	const [state, stop, again] = useAnswer(id);
	const [deleting, remove] = useState(false);
	const { answer, error, question } = state;
	useEffect(() => {
		if (question) document.title = `${question.slice(0, 100)} · Docent`; // many answers may be open, and the history has their names
	}, [question]);
	if (error instanceof Failure && error.status === 404) {
		return (
			<Empty title="This question is not here" actions={<a class="button" href={to("ask")}>Ask a question</a>}>
				It was deleted, or it belongs to somebody else.
			</Empty>
		);
	}
	const running = !answer && !error && !state.stopped;
	const references = answer?.result?.references ?? [];
	return (
		<>
			<article class="card stack loose">
				<div>
					{state.previous && (
						<a class="small" href={to("ask", state.previous)}>
							Follows an earlier question
						</a>
					)}
					<h2 class="wrap">{state.question ?? "\u00a0"}</h2>
				</div>
				{running && state.sources.length > 0 && (
					<section class="small" aria-label="Sources found">
						<ul class="chips">
							{state.sources.map((s) => (
								<li key={s.url}>
									<Link to={s.url}>{s.title?.trim() || s.url}</Link>
								</li>
							))}
						</ul>
					</section>
				)}
				<div aria-live="polite" aria-busy={running && state.text !== ""}>{state.text !== "" && <Markdown text={state.text} />}</div>
				{running && state.text === "" && (
					<div class="stack">
						<div class="bone" />
						<div class="bone" />
					</div>
				)}
				<div class="row between" hidden={!running && !state.stopped}>
					<span class="quiet" role="status">
						{running && (state.lost ? "The connection was lost. Connecting again …" : state.sources.length > 0 ? "Writing the answer …" : "Reading your documents …")}
						{state.stopped && "Stopped. The answer is still written and kept."}
					</span>
					{running && (
						<button type="button" onClick={stop}>
							Stop
						</button>
					)}
					{state.stopped && (
						<button type="button" onClick={again}>
							Show the answer
						</button>
					)}
				</div>
				{error !== undefined && <Problem error={error} retry={again} />}
				{answer?.state === "failed" && <Problem error={new Failure(0, answer.error?.code ?? "", answer.error?.detail ?? "The question could not be answered.", "")} retry={() => ask({ question: answer.question, previousQuestionId: answer.previousQuestionId })} />}
				{references.length > 0 && <References of={references} />}
				{answer?.state === "complete" && <Feedback answer={answer} />}
			</article>
			{answer?.result?.references.length === 0 && !namesClosest(answer.result.answer) && <Near question={answer.question} />}
			{answer?.state === "complete" && <QuestionForm id="followup" label="Follow-up question" hint="Ask a follow-up question" previous={id} verb="Ask follow-up" />}
			{answer && (
				<div class="row">
					<Copy text={location.href} label="Copy link" what="to this answer" />
					<button type="button" class="danger" onClick={() => remove(true)}>
						Delete answer
					</button>
				</div>
			)}
			{deleting && (
				<Confirm
					title="Delete the question and its answer"
					verb="Delete answer"
					onClose={() => remove(false)}
					onDone={async () => {
						await call(`/answers/${id}`, { method: "DELETE" });
						go("ask");
					}}
				>
					<p>Links to it stop working. This cannot be undone.</p>
				</Confirm>
			)}
		</>
	);
}

function References({ of }: { of: { htmlUrl: string; title?: string }[] }) {
	return (
		<section class="stack" aria-label="References">
			<h3>References</h3>
			<ol class="refs">
				{of.map((r) => (
					<li key={r.htmlUrl}>
						<span>
							<Link to={r.htmlUrl}>{r.title?.trim() || r.htmlUrl}</Link>
							{r.title?.trim() && <div class="small quiet wrap">{r.htmlUrl}</div>}
						</span>
					</li>
				))}
			</ol>
		</section>
	);
}

const ratings: [Rating, string][] = [
	["up", "Helpful"],
	["down", "Not helpful"],
];

/** Says whether the answer helped, and why. */
function Feedback({ answer }: { answer: Answer }) {
	const [given, setGiven] = useState(answer.feedback);
	const [comment, setComment] = useState(answer.feedback?.comment ?? "");
	const action = useAction();
	const give = (rating: Rating, comment: string) =>
		action.run(async () => {
			const feedback = { rating, comment: comment.trim() || undefined };
			await call(`/answers/${answer.questionId}/feedback`, { method: "PUT", body: feedback });
			setGiven(feedback);
		});
	return (
		<section class="stack tight" aria-label="Feedback">
			<div class="row">
				{ratings.map(([rating, label]) => (
					<button key={rating} type="button" aria-pressed={given?.rating === rating} disabled={action.busy} onClick={() => give(rating, comment)}>
						<Icon name={rating} />
						{label}
					</button>
				))}
				<span class="small quiet" role="status">
					{given && (given.comment ? "Thank you. Your comment is kept with the answer." : "Thank you.")}
				</span>
			</div>
			{given && (
				<form
					class="row"
					onSubmit={(e) => {
						e.preventDefault();
						give(given.rating, comment);
					}}
				>
					<label class="hidden" for="comment">
						Comment
					</label>
					<input id="comment" class="grow" maxLength={2000} placeholder={given.rating === "up" ? "What helped? (optional)" : "What is wrong or missing? (optional)"} value={comment} onInput={(e) => setComment(e.currentTarget.value)} />
					<button disabled={action.busy || comment.trim() === (given.comment ?? "")}>Send comment</button>
				</form>
			)}
			<Problem error={action.error} />
		</section>
	);
}

/** Whether an answer that found nothing names the closest documents itself. */
const namesClosest = (text: string) => text.includes("\nClosest:\n");

/** The pages that are nearest to a question that nothing answers. */
function Near({ question }: { question: string }) {
	const near = useLoad(() => call<{ sources: Found[] }>("/context/search", { method: "POST", body: { query: question, limit: 3 } }), [question]);
	if (near.value?.sources.length === 0) {
		return (
			<p class="quiet">
				Ask in other words, or <a href={to("collections")}>put the documents</a> that answer this.
			</p>
		);
	}
	if (!near.value) return null;
	return (
		<section class="stack">
			<h2>Nearest pages</h2>
			<ol class="refs">
				{near.value.sources.map((s) => (
					<li key={s.url}>
						<Link to={s.url}>{s.title?.trim() || s.url}</Link>
					</li>
				))}
			</ol>
		</section>
	);
}
