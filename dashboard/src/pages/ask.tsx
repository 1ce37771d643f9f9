import { useEffect, useRef, useState } from "preact/hooks";
import { all, call, Failure, page } from "../api";
import { count } from "../format";
import { useAction, useLoad } from "../load";
import { Link, Markdown } from "../markdown";
import { go, to } from "../route";
import type { Answer, Collection, Document, Found, Quota } from "../types";
import { Copy, Empty, Loaded, Page, Problem } from "../ui";

/** The front door: a question, and the answer with the places that it comes from. */
export function Ask({ id }: { id?: string }) {
	const [question, setQuestion] = useState("");
	const action = useAction();
	const field = useRef<HTMLTextAreaElement>(null);
	const ask = (text: string) => {
		const asked = text.trim();
		if (asked === "") return;
		setQuestion(asked);
		action.run(async () => {
			const id = crypto.randomUUID();
			await call(`/answers/${id}`, { method: "PUT", body: { question: asked } });
			go("ask", id);
		});
	};
	return (
		<Page title="Ask" about="Ask a question in plain words. The answer quotes your team’s documents and links to them." actions={id && <a class="button" href={to("ask")}>Ask another question</a>}>
			{id ? (
				<AnswerCard id={id} />
			) : (
				<>
					<form
						class="card ask"
						onSubmit={(e) => {
							e.preventDefault();
							ask(question);
						}}
					>
						<label class="hidden" for="question">
							Your question
						</label>
						<textarea
							ref={field}
							id="question"
							rows={2}
							maxLength={10000}
							placeholder="What would you like to know?"
							value={question}
							onInput={(e) => setQuestion(e.currentTarget.value)}
							onKeyDown={(e) => {
								if (e.key === "Enter" && !e.shiftKey && !e.isComposing) {
									e.preventDefault();
									ask(question);
								}
							}}
						/>
						<div class="row between">
							<Left />
							<button class="primary" disabled={action.busy || question.trim() === ""}>
								{action.busy ? "Asking …" : "Ask"}
							</button>
						</div>
					</form>
					<Problem error={action.error} />
					<Suggestions onAsk={ask} />
					<History />
				</>
			)}
		</Page>
	);
}

/** How many questions are left today. */
function Left() {
	const quotas = useLoad(() => call<{ quotas: Quota[] }>("/usage/quotas"));
	const answers = quotas.value?.quotas.find((q) => q.name === "answers-day");
	return <span class="small quiet">{answers ? `${count(answers.remaining)} of ${count(answers.limit)} questions left today` : "\u00a0"}</span>;
}

const demo = ["How many questions may a team ask per day?", "What happens when I delete a collection?", "When should a client retry?"];

/** Suggests questions: of the demo, or from the titles of the team's newest documents. */
async function suggest(): Promise<string[]> {
	const collections = await all<Collection>("/collections");
	if (collections.some((c) => c.name === "About Docent")) return demo;
	const documents = await page<Document>("/documents", 3);
	return documents.items.map((d) => (d.title.endsWith("?") ? d.title : `What should I know about ${d.title}?`));
}

function Suggestions({ onAsk }: { onAsk: (question: string) => void }) {
	const questions = useLoad(suggest);
	if (questions.value?.length === 0) {
		return (
			<Empty title="Put your first documents" actions={<a class="button primary" href={to("collections")}>Open collections</a>}>
				Docent answers from what you give it. Make a collection and drop a folder of Markdown, text or HTML on it.
			</Empty>
		);
	}
	return (
		<div class="stack">
			<h2>Try one of these</h2>
			<div class="suggest">
				{questions.value?.map((q) => (
					<button key={q} type="button" onClick={() => onAsk(q)}>
						{q}
					</button>
				)) ?? <div class="bone" />}
			</div>
		</div>
	);
}

function History() {
	const asked = useLoad(() => page<Answer>("/answers", 10));
	return (
		<div class="stack">
			<h2>Asked before</h2>
			<Loaded of={asked}>
				{(p) =>
					p.items.length === 0 ? (
						<p class="quiet">Nothing yet. Questions and their answers stay here until you delete them.</p>
					) : (
						<ul class="list">
							{p.items.map((a) => (
								<li key={a.questionId}>
									<a href={to("ask", a.questionId)}>
										<span>{a.question}</span>
										<span class="small quiet">{a.state === "complete" ? (a.result?.references.length ? "Answered" : "Nothing found") : a.state === "failed" ? "Failed" : "In progress"}</span>
									</a>
								</li>
							))}
						</ul>
					)
				}
			</Loaded>
		</div>
	);
}

/** Waits for the answer, with long polls. */
async function wait(id: string, signal: AbortSignal): Promise<Answer> {
	for (;;) {
		const answer = await call<Answer>(`/answers/${id}`, { headers: { Prefer: "wait=20" }, signal });
		if (answer.state !== "processing") return answer;
		await new Promise((done) => setTimeout(done, 500));
	}
}

function AnswerCard({ id }: { id: string }) {
	const [answer, setAnswer] = useState<Answer>();
	const [error, setError] = useState<unknown>();
	const action = useAction();
	useEffect(() => {
		const stop = new AbortController();
		call<Answer>(`/answers/${id}`, { signal: stop.signal })
			.then((first) => {
				setAnswer(first);
				return first.state === "processing" ? wait(id, stop.signal).then(setAnswer) : undefined;
			})
			.catch((e: unknown) => !stop.signal.aborted && setError(e));
		return () => stop.abort();
	}, [id]);
	if (error) {
		const gone = error instanceof Failure && error.status === 404;
		return gone ? (
			<Empty title="This question is not here" actions={<a class="button" href={to("ask")}>Ask a question</a>}>
				It was deleted, or it belongs to somebody else.
			</Empty>
		) : (
			<Problem error={error} />
		);
	}
	const done = answer !== undefined && answer.state !== "processing";
	return (
		<>
			<article class="card stack loose" aria-busy={!done} aria-live="polite">
				<h2 class="wrap">{answer?.question ?? "\u00a0"}</h2>
				{!done && (
					<div class="stack" role="status">
						<span class="quiet">Reading your documents …</span>
						<div class="bone" />
						<div class="bone" />
					</div>
				)}
				{answer?.state === "failed" && <Problem error={new Failure(0, answer.error?.code ?? "", answer.error?.detail ?? "The question could not be answered.", "")} />}
				{answer?.result && <Result answer={answer} />}
			</article>
			{answer?.result?.references.length === 0 && <Near question={answer.question} />}
			{done && (
				<div class="row">
					<Copy text={location.href} label="Copy link" what="to this answer" />
					<button
						type="button"
						class="danger"
						disabled={action.busy}
						onClick={() =>
							action.run(async () => {
								await call(`/answers/${id}`, { method: "DELETE" });
								go("ask");
							})
						}
					>
						Delete answer
					</button>
				</div>
			)}
			<Problem error={action.error} />
		</>
	);
}

function Result({ answer }: { answer: Answer }) {
	const references = answer.result?.references ?? [];
	return (
		<>
			<Markdown text={answer.result?.answer ?? ""} />
			{references.length > 0 && (
				<section class="stack" aria-label="References">
					<h3>References</h3>
					<ol class="refs">
						{references.map((r) => (
							<li key={r.htmlUrl}>
								<span>
									<Link to={r.htmlUrl}>{r.title || r.htmlUrl}</Link>
									{r.title && <div class="small quiet wrap">{r.htmlUrl}</div>}
								</span>
							</li>
						))}
					</ol>
				</section>
			)}
		</>
	);
}

/** The pages that are nearest to a question that nothing answers. */
function Near({ question }: { question: string }) {
	const near = useLoad(() => call<{ sources: Found[] }>("/context/search", { method: "POST", body: { query: question, limit: 3 } }), [question]);
	if (!near.value?.sources.length) return null;
	return (
		<section class="stack">
			<h2>Nearest pages</h2>
			<ol class="refs">
				{near.value.sources.map((s) => (
					<li key={s.url}>
						<Link to={s.url}>{s.title}</Link>
					</li>
				))}
			</ol>
		</section>
	);
}
