import { DocentError, errorOf } from "./errors.js";
import { answerEventOf, readEvents, type AnswerEvent } from "./events.js";
import { createClient, type Client } from "./rest/client/index.js";
import * as rest from "./rest/index.js";
import { failureBefore, retrying, sleep, tries } from "./retries.js";
import { upload, type UploadOptions } from "./uploads.js";

export const defaultServer = "http://127.0.0.1:8080/v1";

export interface DocentOptions {
  /** The address of the API; without a path it gets /v1. Unless given: DOCENT_SERVER of the environment, or defaultServer. */
  server?: string;
  /** The API key. Unless given: DOCENT_API_KEY of the environment. */
  key?: string;
  fetch?: typeof fetch;
}

export interface AskOptions {
  /** Selects documents by their metadata. */
  filter?: rest.Filter;
  /** A question that this one follows; it is understood together with it. */
  previousQuestionId?: string;
  /** A UUID. Asking the same again under the same id costs nothing. */
  questionId?: string;
  signal?: AbortSignal;
}

/** A question that could not be answered. Match on code. */
export class AnswerFailed extends Error {
  override name = "AnswerFailed";
  readonly code: string;

  constructor(readonly answer: rest.Answer) {
    super(answer.error?.detail ?? "The question was not answered.");
    this.code = answer.error?.code ?? "";
  }
}

/** List is an operation of the API whose reply is a page of items. */
export type List<Item, Query> = (options: {
  client: Client;
  query: Query & { after?: string };
  throwOnError: true;
}) => Promise<{ data: Item[]; response: Response }>;

/** A client of one server with one key. */
export class Docent {
  /** What the generated operations take as their client. They throw DocentError, and repeat as this class does. */
  readonly rest: Client;
  readonly #server: string;
  readonly #key: string;
  readonly #inner: typeof fetch;
  readonly #fetch: typeof fetch;

  constructor(options: DocentOptions = {}) {
    const environment: Record<string, string | undefined> = globalThis.process?.env ?? {};
    const key = options.key || environment["DOCENT_API_KEY"];
    if (!key) throw new Error("no API key: give key or set DOCENT_API_KEY");
    this.#key = key;
    this.#server = (options.server || environment["DOCENT_SERVER"] || defaultServer).replace(/\/+$/, "");
    if (!/^https?:\/\/./.test(this.#server)) throw new Error(`the server ${this.#server} is not an http or https URL such as ${defaultServer}`);
    if (new URL(this.#server).pathname === "/") this.#server += "/v1";
    this.#inner = options.fetch ?? ((input, init) => fetch(input, init));
    this.#fetch = retrying(this.#inner);
    this.rest = createClient({ baseUrl: this.#server, auth: key, fetch: this.#fetch, throwOnError: true });
  }

  /**
   * ask asks a question and waits for its answer, at most timeout seconds (120). It throws AnswerFailed, DocentError,
   * and a TimeoutError; the question is answered nevertheless after the last. If the server could not be reached until then, it
   * throws the error of fetch.
   */
  async ask(question: string, options: AskOptions & { timeout?: number } = {}): Promise<rest.Answer> {
    const questionId = options.questionId ?? crypto.randomUUID();
    const { timeout = 120 } = options;
    const end = Date.now() + timeout * 1000;
    const late = AbortSignal.timeout(Math.min(Math.max(0, Math.round((timeout + grace) * 1000)), 2 ** 31 - 1));
    const signal = options.signal ? AbortSignal.any([options.signal, late]) : late;
    const tooLate = () => new DOMException(`question ${questionId} is not answered after ${timeout} seconds`, "TimeoutError");
    try {
      return await this.#answer(questionId, questionOf(question, options), end, signal, tooLate);
    } catch (error) {
      if (late.aborted && !options.signal?.aborted) throw failureBefore(error) ?? tooLate(); // a server out of reach is no late answer
      throw error;
    }
  }

  async #answer(questionId: string, question: rest.Question, end: number, signal: AbortSignal, tooLate: () => Error): Promise<rest.Answer> {
    const common = { client: this.rest, path: { questionId }, throwOnError: true as const, signal };
    await rest.askQuestion({ ...common, body: question });
    for (;;) {
      const started = Date.now();
      const wait = Math.max(0, Math.min(20, Math.floor((end - started) / 1000)));
      const { data } = await rest.getAnswer({ ...common, headers: { Prefer: `wait=${wait}` } });
      const answer = data as rest.Answer; // 304, which has none, needs If-None-Match
      if (answer.state === "failed") throw new AnswerFailed(answer);
      if (answer.state === "complete") return answer;
      if (Date.now() >= end) throw tooLate();
      if (Date.now() - started < 1000) {
        await sleep(Math.max(0, Math.min(2, (end - Date.now()) / 1000)), signal); // the server did not hold the request
      }
    }
  }

  /**
   * stream asks a question and yields what is new of its answer while it is written; the last event has the whole
   * answer. A broken connection is continued where it broke. It throws DocentError if the question cannot be answered.
   */
  async *stream(question: string, options: AskOptions = {}): AsyncGenerator<AnswerEvent, void> {
    const url = `${this.#server}/answers/${encodeURIComponent(options.questionId ?? crypto.randomUUID())}`;
    const headers = new Headers({
      Accept: "text/event-stream",
      Authorization: `Bearer ${this.#key}`,
      "Content-Type": "application/json",
    });
    const body = JSON.stringify(questionOf(question, options));
    for (let failed = 0; ; ) {
      let broken: unknown = new Error("the stream ended before the answer was complete");
      const response = await this.#fetch(url, { method: "PUT", headers, body, signal: options.signal ?? null });
      const events = response.body ? readEvents(response.body) : undefined;
      try {
        for (;;) {
          let next;
          try {
            next = await events?.next();
          } catch (error) {
            if (options.signal?.aborted) throw error;
            broken = error;
          }
          if (!next || next.done) break;
          failed = 0;
          const sent = next.value;
          if (sent.name === "error") throw errorOf(Number(JSON.parse(sent.data).status), new Headers(), sent.data);
          if (sent.id) headers.set("Last-Event-ID", sent.id);
          const event = answerEventOf(sent);
          if (event) yield event;
          if (event?.name === "answer.completed") return;
        }
      } finally {
        await events?.return(); // closes the connection, also when the caller stops early
      }
      failed++;
      if (failed === tries) throw broken;
      await sleep(0.5 * 2 ** (failed - 1), options.signal);
    }
  }

  /** pages yields the items of all pages of a list, such as pages(rest.listDocuments, { collectionId }). */
  async *pages<Item, Query extends object>(list: List<Item, Query>, query: Query): AsyncGenerator<Item, void> {
    for (let after: string | undefined; ; ) {
      const page = await list({ client: this.rest, query: after ? { ...query, after } : query, throwOnError: true });
      yield* page.data;
      const next = nextOf(page.response.headers.get("Link") ?? "");
      if (!next || next === after) return;
      after = next;
    }
  }

  /** collections yields the team's collections, newest first. */
  collections(): AsyncGenerator<rest.Collection, void> {
    return this.pages((options) => rest.listCollections(options), { limit: 200 });
  }

  /** documents yields the documents of a collection, or all, newest first and without bodies. */
  documents(collectionId?: string): AsyncGenerator<rest.DocumentSummary, void> {
    return this.pages((options) => rest.listDocuments(options), { limit: 200, ...(collectionId && { collectionId }) });
  }

  /** answers yields the questions that were asked, newest first, with their answers. */
  answers(): AsyncGenerator<rest.Answer, void> {
    return this.pages((options) => rest.listAnswers(options), { limit: 200 });
  }

  /**
   * securityEvents yields the pages of the feed of security events after a cursor, or from the beginning, until none is
   * left. Keep the nextCursor of a page once its events are handled, and continue from it later.
   */
  async *securityEvents(after?: string): AsyncGenerator<rest.SecurityEventsPage, void> {
    for (;;) {
      const query = { limit: 200, ...(after && { after }) };
      const { data } = await rest.listSecurityEvents({ client: this.rest, query, throwOnError: true });
      yield data;
      if (!data.hasMore || !data.nextCursor) return;
      after = data.nextCursor;
    }
  }

  /**
   * collection returns the collection of that name, which is created if there is none. Programs with different keys that
   * find none at once create one each.
   */
  async collection(name: string, description = `Documents of ${name}.`): Promise<rest.Collection> {
    const found: rest.Collection[] = [];
    for await (const collection of this.collections()) if (collection.name === name) found.push(collection);
    if (found.length > 1) throw new Error(`${found.length} collections have the name ${name}; choose one by its id`);
    if (found[0]) return found[0];
    for (let turn = 0; turn < reused; turn++) {
      // Programs that find none at the same time send the same key, and get the same collection.
      const made = await this.#createCollection(name, description, await nameUUID(["docent collection", name, description, turn].join("\0")));
      try {
        const now = (await rest.getCollection({ client: this.rest, path: { collectionId: made.id }, throwOnError: true })).data;
        if (now.name === name) return now;
      } catch (error) {
        // The reply was that of a day's first call, and the collection was removed since.
        if (!(error instanceof DocentError) || error.status !== 404) throw error;
      }
    }
    return this.#createCollection(name, description, crypto.randomUUID());
  }

  /**
   * upload sends an Office file of up to 100 MB, a PDF of up to 96 MB or reStructuredText of up to 4 MB, and returns the id
   * for upload of a DocumentInput, which has to be put within an hour. It throws before anything is sent if the file cannot be, and
   * DocentError. In Node, uploadFile of docent-client/node sends the file of a path.
   */
  upload(file: Blob, options: UploadOptions = {}): Promise<string> {
    return upload(this.rest, this.#inner, file, options);
  }

  async #createCollection(name: string, description: string, key: string): Promise<rest.Collection> {
    const headers = { "Idempotency-Key": key };
    return (await rest.createCollection({ client: this.rest, body: { name, description }, headers, throwOnError: true })).data;
  }
}

/** grace is how many seconds ask waits longer for a server that does not reply at all. */
const grace = 5;

/** reused bounds the keys that Docent.collection tries: one for each collection of that name made and removed within a day. */
const reused = 25;

/** nameUUID returns the UUID of version 5 of a text (RFC 9562), the same as the other clients of Docent. */
async function nameUUID(text: string): Promise<string> {
  const namespace = [0x6b, 0xa7, 0xb8, 0x12, 0x9d, 0xad, 0x11, 0xd1, 0x80, 0xb4, 0x00, 0xc0, 0x4f, 0xd4, 0x30, 0xc8]; // of OIDs
  const sum = new Uint8Array(await crypto.subtle.digest("SHA-1", Uint8Array.of(...namespace, ...new TextEncoder().encode(text)))).slice(0, 16);
  sum[6] = (sum[6]! & 0x0f) | 0x50;
  sum[8] = (sum[8]! & 0x3f) | 0x80;
  const hex = Array.from(sum, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

function questionOf(question: string, { filter, previousQuestionId }: AskOptions): rest.Question {
  return { question, ...(filter && { filter }), ...(previousQuestionId && { previousQuestionId }) };
}

/** nextOf returns the cursor of the next page (RFC 8288). The rest of the address is the caller's own. */
function nextOf(link: string): string | undefined {
  for (const part of link.split(",")) {
    const found = /^\s*<([^>]*)>(.*)$/.exec(part);
    if (found?.[1] && found[2]?.includes('rel="next"')) return new URL(found[1], defaultServer).searchParams.get("after") ?? undefined;
  }
  return undefined;
}
