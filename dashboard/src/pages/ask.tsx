import { all, call, page } from "../api";
import { count } from "../format";
import { useLoad } from "../load";
import { to, useCursors } from "../route";
import type { Answer, Collection, Document, Quota } from "../types";
import { Empty, Loaded, Page, Pager } from "../ui";
import { AnswerCard } from "./answer";
import { ask, QuestionForm } from "./question";

/** The first page: a field for a question, then the answer with its sources. */
export function Ask({ id }: { id?: string }) {
	return (
		<Page title="Ask" about="Ask a question in plain words. The answer quotes your team’s documents and links to them." actions={id && <a class="button" href={to("ask")}>Ask another question</a>}>
			{id ? (
				<AnswerCard id={id} />
			) : (
				<>
					<QuestionForm id="question" label="Your question" hint="What would you like to know?" verb="Ask">
						<Left />
					</QuestionForm>
					<Suggestions onAsk={(question) => ask({ question })} />
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
	const titles = documents.items.map((d) => d.title.trim() || d.uri);
	return titles.map((title) => (title.endsWith("?") ? title : `What should I know about ${title}?`));
}

function Suggestions({ onAsk }: { onAsk: (question: string) => void }) {
	const questions = useLoad(suggest);
	if (questions.value?.length === 0) {
		return (
			<Empty title="Put your first documents" actions={<a class="button primary" href={to("collections")}>Open collections</a>}>
				Docent answers from what you give it. Make a collection and drop a folder of Markdown, text, reStructuredText, HTML, PDF or Office files on it.
			</Empty>
		);
	}
	return (
		<div class="stack">
			<h2>Try one of these</h2>
			<div class="suggest">
				<Loaded of={questions} bones={1}>
					{(all) =>
						all.map((q) => (
							<button key={q} type="button" onClick={() => onAsk(q)}>
								{q}
							</button>
						))
					}
				</Loaded>
			</div>
		</div>
	);
}

function History() {
	const [after, setAfter] = useCursors();
	const asked = useLoad(() => page<Answer>("/answers", 10, after.at(-1)), [after]);
	return (
		<div class="stack">
			<h2>Asked before</h2>
			<Loaded of={asked}>
				{(p) =>
					p.items.length === 0 && after.length === 0 ? (
						<p class="quiet">Nothing yet. Questions and their answers stay here until you delete them.</p>
					) : (
						<>
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
							<Pager after={after} next={p.next} onGo={setAfter} />
						</>
					)
				}
			</Loaded>
		</div>
	);
}
