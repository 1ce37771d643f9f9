// Calls of the public API, with the session's cookie. Addresses are relative, because a stage
// or a proxy's path may precede /v1.

/** The end of a window of security events that means now, whatever the browser's clock says. */
export const untilNow = "9999-12-31T00:00:00Z";

/** The address of the API, without a slash at the end. */
export const base = new URL("..", document.baseURI).href.replace(/\/$/, "");

/** An error of the API, in its own words. */
export class Failure extends Error {
	constructor(
		readonly status: number,
		readonly code: string,
		detail: string,
		readonly requestId: string,
		readonly retryAfter?: number, // seconds
	) {
		super(detail);
	}
}

let person = ""; // the id of the user who is signed in, empty if not known

/**
 * Makes further calls for a person alone. If another person has signed in since, here or in another tab, the
 * API refuses them, and the session counts as ended. Only /me is read in the session of any person, because it says whose session it is.
 */
export function callFor(id: string): void {
	person = id;
}

/** The header that makes a call for the person alone. */
export const forPerson = (): Record<string, string> => (person ? { "Docent-User": person } : {});

let over = false;
/** Reports whether the session had ended at the last reply. */
export const sessionOver = () => over;

/** Called when the session has ended. */
let onSignedOut: () => void = () => {};
export function whenSignedOut(call: () => void): void {
	onSignedOut = call;
}

export interface Options {
	method?: string;
	body?: unknown; // a string as it is, anything else as JSON
	headers?: Record<string, string>;
	signal?: AbortSignal;
}

/** Sends a request and returns the reply. Throws a Failure for an error or a lost connection. */
export async function send(path: string, o: Options = {}): Promise<Response> {
	const mine = person;
	const headers: Record<string, string> = { Accept: "application/json", ...(path !== "/me" && forPerson()), ...o.headers };
	let body: string | undefined;
	if (o.body !== undefined) {
		headers["Content-Type"] ??= "application/json";
		body = typeof o.body === "string" ? o.body : JSON.stringify(o.body);
	}
	let reply: Response;
	try {
		reply = await fetch(base + path, { method: o.method ?? "GET", headers, body, signal: o.signal, credentials: "same-origin", cache: "no-store" });
	} catch (cause) {
		throw lost(cause, o.signal);
	}
	if (reply.ok) {
		if (mine === person) over = false;
		return reply;
	}
	const signingIn = path === "/sessions" && o.method === "POST";
	const failure = await failureOf(reply, signingIn);
	if (failure.status === 401 && mine === person) {
		over = true;
		if (!signingIn) onSignedOut();
	}
	throw failure;
}

/** Returns the error of a reply. Its status is 401 if the session has ended; signing in may be refused without one. */
async function failureOf(reply: Response, signingIn: boolean): Promise<Failure> {
	const problem = (await reply.json().catch(() => ({}))) as { code?: string; detail?: string; title?: string; requestId?: string };
	const ended = (reply.status === 401 && !signingIn) || problem.code === "acting-not-allowed";
	const detail = ended ? "Your session had ended. Try again." : (problem.detail ?? problem.title ?? `The server answered with status ${reply.status}.`);
	return new Failure(ended ? 401 : reply.status, problem.code ?? "unknown", detail, problem.requestId ?? reply.headers.get("X-Request-Id") ?? "", Number(reply.headers.get("Retry-After")) || undefined);
}

/** Returns the error of a connection that was lost, or cause if the caller has aborted the request. */
export function lost(cause: unknown, signal?: AbortSignal): unknown {
	return signal?.aborted ? cause : new Failure(0, "offline", "The server cannot be reached. Check the connection, then try again.", "");
}

/** Returns the JSON of a reply, undefined for a reply without one. */
async function json<T>(reply: Response, signal?: AbortSignal): Promise<T> {
	const text = await reply.text().catch((cause: unknown) => {
		throw lost(cause, signal); // on the way
	});
	try {
		return (text === "" ? undefined : JSON.parse(text)) as T;
	} catch {
		throw new Failure(0, "not-docent", "Something other than Docent has answered, such as the sign-in page of a network. Check the connection, then try again.", "");
	}
}

/** Sends a request and returns the JSON of its reply, undefined for a reply without one. */
export async function call<T>(path: string, o: Options = {}): Promise<T> {
	return json<T>(await send(path, o), o.signal);
}

/** A page of a list, and the cursor of the next one. */
export interface Page<T> {
	items: T[];
	next: string | undefined;
}

export async function page<T>(path: string, limit: number, after?: string): Promise<Page<T>> {
	const query = new URLSearchParams({ limit: String(limit) });
	if (after !== undefined) query.set("after", after);
	const reply = await send(path + (path.includes("?") ? "&" : "?") + query);
	const link = /<([^>]+)>;\s*rel="?next"?/.exec(reply.headers.get("Link") ?? "")?.[1];
	return {
		items: await json<T[]>(reply),
		next: link === undefined ? undefined : (new URL(link).searchParams.get("after") ?? undefined),
	};
}

/** A part of a list, and the cursor of what follows it. */
export interface Part<T> extends Page<T> {
	total?: number; // of the whole list, if it is known
}

/** Reads the given number of items, in as many pages as that takes. */
export async function several<T>(most: number, after: string | undefined, read: (limit: number, after?: string) => Promise<Part<T>>): Promise<Part<T>> {
	let part = await read(Math.min(most, 200), after);
	while (part.next !== undefined && part.items.length < most) {
		const more: Part<T> = await read(Math.min(most - part.items.length, 200), part.next);
		part = { ...more, items: [...part.items, ...more.items] };
	}
	return part;
}

/** Returns the next items of a list after a cursor, the first ones without it. */
export function some<T>(path: string, most: number, after?: string): Promise<Part<T>> {
	return several(most, after, (limit, after) => page<T>(path, limit, after));
}

/** Returns all items of a short list, such as collections, of which the API allows only a few. */
export async function all<T>(path: string): Promise<T[]> {
	return (await some<T>(path, 2000)).items;
}
