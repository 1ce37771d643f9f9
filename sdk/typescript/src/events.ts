import type { Answer } from "./rest/index.js";

/** A document that was found. */
export interface Source {
  url: string;
  title?: string;
}

/**
 * What is new of an answer. The text of text.delta follows what was sent; that of text.replace takes the place of
 * all of it. references are places in the list of the event sources.
 */
export type AnswerEvent =
  | { name: "answer.created"; questionId: string }
  | { name: "sources"; sources: Source[] }
  | { name: "text.delta" | "text.replace"; text: string; references: number[] }
  | { name: "answer.completed"; answer: Answer };

/** A server-sent event. */
export interface ServerSentEvent {
  name: string;
  id: string;
  data: string;
}

/** silence is how many seconds a stream may be silent. A server sends a comment every 10 seconds. */
const silence = 30;

/** Returns promise, rejected if it takes longer than the given seconds. */
async function within<T>(seconds: number, promise: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`nothing arrived for ${seconds} seconds`)), seconds * 1000);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** readEvents reads server-sent events. It throws an error if nothing arrives for most seconds: the connection is dead. */
export async function* readEvents(body: ReadableStream<Uint8Array>, most = silence): AsyncGenerator<ServerSentEvent, void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  let event: ServerSentEvent = { name: "", id: "", data: "" };
  try {
    for (;;) {
      const { done, value } = await within(most, reader.read());
      if (done) return;
      const lines = (rest + decoder.decode(value, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        const [field, value] = [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trim()];
        if (line.trim() === "") {
          if (event.data) yield event;
          event = { name: "", id: "", data: "" };
        } else if (field === "event") event.name = value;
        else if (field === "id") event.id = value;
        else if (field === "data") event.data += value;
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** answerEventOf returns the event of an answer's stream, or undefined for one that is not known. */
export function answerEventOf(event: ServerSentEvent): AnswerEvent | undefined {
  const data = JSON.parse(event.data);
  switch (event.name) {
    case "answer.completed":
      return { name: event.name, answer: data };
    case "answer.created":
    case "sources":
    case "text.delta":
    case "text.replace":
      return { name: event.name, ...data };
    default:
      return undefined;
  }
}
