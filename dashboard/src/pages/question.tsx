import { useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import { go } from "../route";
import type { Asked } from "../stream";

// Questions that the page of their answer is about to ask, by id.
const waiting = new Map<string, Asked>();

/** Forgets them: the next person neither sees nor asks them. */
export const forgetQuestions = (): void => waiting.clear();

/** Opens the page of a new question, which asks it. */
export function ask(asked: Asked): void {
	if (asked.question.trim() === "") return;
	const id = crypto.randomUUID();
	waiting.set(id, { ...asked, question: asked.question.trim() });
	go("ask", id);
}

/** The question that the page of id is to ask, if it was not asked yet. */
export const waitingFor = (id: string): Asked | undefined => waiting.get(id);

/** Notes that the server has the question. */
export const accepted = (id: string): boolean => waiting.delete(id);

/** A field for a question. Enter asks it. */
export function QuestionForm({ id, label, hint, previous, verb, children }: { id: string; label: string; hint: string; previous?: string; verb: string; children?: ComponentChildren }) {
	const [question, setQuestion] = useState("");
	const send = () => ask({ question, previousQuestionId: previous });
	return (
		<form
			class="card ask"
			onSubmit={(e) => {
				e.preventDefault();
				send();
			}}
		>
			<label class="hidden" for={id}>
				{label}
			</label>
			<textarea
				id={id}
				rows={2}
				maxLength={10000}
				placeholder={hint}
				value={question}
				onInput={(e) => setQuestion(e.currentTarget.value)}
				onKeyDown={(e) => {
					if (e.key === "Enter" && !e.shiftKey && !e.isComposing) {
						e.preventDefault();
						send();
					}
				}}
			/>
			<div class="row between">
				{children ?? <span />}
				<button class="primary" disabled={question.trim() === ""}>
					{verb}
				</button>
			</div>
		</form>
	);
}
