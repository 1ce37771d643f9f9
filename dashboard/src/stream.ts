// Answers as events, over fetch: EventSource can neither PUT nor send headers.
import { call, Failure, send } from "./api";
import type { Answer } from "./types";

/** What to ask, once. */
export interface Asked {
	question: string;
	previousQuestionId?: string;
}

/** What is called while an answer comes. */
export interface Listener {
	sources: (found: { title?: string; url: string }[]) => void;
	text: (text: string, replace: boolean) => void;
	done: (answer: Answer) => void;
	lost: (lost: boolean) => void; // the connection
}

/** How often a connection is tried again without any event in between. */
const tries = 8;

interface Event {
	name: string;
	id: string;
	data: string;
}

/** Calls each for every event of a text/event-stream until it ends, or each returns true. */
async function read(body: ReadableStream<Uint8Array>, each: (e: Event) => boolean): Promise<void> {
	const reader = body.getReader();
	const decoder = new TextDecoder();
	let rest = "";
	for (;;) {
		const { done, value } = await reader.read();
		if (done) return;
		rest += decoder.decode(value, { stream: true });
		const blocks = rest.split("\n\n");
		rest = blocks.pop() ?? "";
		for (const block of blocks) {
			const e: Event = { name: "", id: "", data: "" };
			for (const line of block.split("\n")) {
				const [, field, text = ""] = /^(\w+): ?(.*)$/.exec(line) ?? [];
				if (field === "event") e.name = text;
				else if (field === "id") e.id = text;
				else if (field === "data") e.data += text;
			}
			if (e.data === "") continue; // a comment that keeps the connection
			if (each(e)) {
				await reader.cancel();
				return;
			}
		}
	}
}

/**
 * Asks a question, or follows one that is being answered, until its answer is complete or failed. A lost connection
 * is repeated and continues after the last event, so nothing is asked twice.
 */
export async function follow(id: string, asked: Asked | undefined, signal: AbortSignal, on: Listener): Promise<void> {
	let last = "";
	let accepted = asked === undefined;
	let ended = false;
	let problem: Failure | undefined;
	for (let tried = 0; ; tried++) {
		try {
			const headers: Record<string, string> = { Accept: "text/event-stream" };
			if (last !== "") headers["Last-Event-ID"] = last;
			const reply = await send(`/answers/${id}`, accepted ? { headers, signal } : { method: "PUT", body: asked, headers, signal });
			on.lost(false);
			if (reply.body && reply.headers.get("Content-Type")?.startsWith("text/event-stream")) {
				await read(reply.body, (e) => {
					if (e.name !== "error") tried = 0;
					accepted = true;
					if (e.id !== "") last = e.id;
					const data = JSON.parse(e.data) as unknown;
					if (e.name === "sources") on.sources((data as { sources: { title?: string; url: string }[] }).sources);
					else if (e.name === "text.delta" || e.name === "text.replace") on.text((data as { text: string }).text, e.name === "text.replace");
					else if (e.name === "answer.completed") {
						ended = true;
						on.done(data as Answer);
					} else if (e.name === "error") {
						const p = data as { status: number; code: string; detail: string; requestId: string };
						if (p.status === 401) return true; // the session has ended, which the next request tells everybody
						problem = new Failure(p.status, p.code, p.detail, p.requestId);
					}
					return ended || problem !== undefined;
				});
			} else {
				accepted = true;
				const answer = await call<Answer>(`/answers/${id}`, { headers: { Prefer: "wait=20" }, signal });
				if (answer.state !== "processing") {
					ended = true;
					on.done(answer);
				}
			}
		} catch (error) {
			if (signal.aborted) return;
			const again = error instanceof Failure ? error.status === 0 || error.status === 503 : true;
			if (!again || tried >= tries) throw error;
		}
		if (ended || signal.aborted) return;
		if (problem) throw problem;
		if (tried >= tries) throw new Failure(0, "offline", "The connection was lost. The question is still answered and kept: open it again later.", "");
		on.lost(true);
		await new Promise((done) => setTimeout(done, Math.min(8000, 250 * 2 ** tried)));
	}
}
