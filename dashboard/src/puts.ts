// Puts dropped files. A put continues, and keeps the list of skipped files, while other pages of the dashboard are open.
import { useEffect, useState } from "preact/hooks";
import { call, Failure } from "./api";
import { type Content, documentOf, refusal, type Upload } from "./upload";

/** A file that was left out, and whether the same file may be put later. */
export interface Failed extends Upload {
	why: string;
	requestId?: string;
	passes: boolean;
}

export interface Progress {
	total: number;
	put: number;
	failed: Failed[];
	running: boolean;
	lost: boolean; // the server cannot be reached; the put continues when it can be reached
	sending: Record<string, number>; // the part of each large file that was sent, from 0 to 1, by path
}

const all = new Map<string, Progress>(); // by collection
const running = new Map<string, AbortController>(); // by collection
let person = 0; // counts the people who put files from this page
const listeners = new Set<() => void>();
const warn = (e: BeforeUnloadEvent) => e.preventDefault();

function set(collectionId: string, p: Progress): void {
	all.set(collectionId, { ...p });
	if ([...all.values()].some((p) => p.running)) addEventListener("beforeunload", warn);
	else removeEventListener("beforeunload", warn);
	for (const changed of listeners) changed();
}

/** Forgets the files of whoever was signed in: the next person neither sees nor puts them. */
export function forgetPuts(): void {
	person++;
	for (const stop of running.values()) stop.abort();
	running.clear();
	all.clear();
	removeEventListener("beforeunload", warn);
	for (const changed of listeners) changed();
}

/** Calls changed when a put begins, makes progress or ends. */
function useChanges(changed: () => void): void {
	useEffect(() => {
		listeners.add(changed);
		return () => {
			listeners.delete(changed);
		};
	}, []);
}

/** Returns the progress or result of the last put to a collection, and renders again when that changes. */
export function useProgress(collectionId: string): Progress | undefined {
	const [, render] = useState(0);
	useChanges(() => render((n) => n + 1));
	return all.get(collectionId);
}

/** Reports whether files are being put to a collection. It renders again only when that changes, not with each file. */
export function usePutting(collectionId: string): boolean {
	const now = () => all.get(collectionId)?.running === true;
	const [putting, set] = useState(now);
	useChanges(() => set(now()));
	return putting;
}

const tries = 6;
const longestWait = 30; // seconds
const sentFor = 50 * 60_000; // milliseconds in which a document can still have a file that was sent: the API keeps it for an hour

/** Reports whether the server cannot be reached, or a proxy in front of it says so. */
const absent = (e: unknown) => e instanceof Failure && [0, 502, 503, 504].includes(e.status);

/** Waits, and no longer when the put is stopped. */
const pause = (seconds: number, signal: AbortSignal) =>
	new Promise<void>((done) => {
		const end = () => {
			clearTimeout(timer);
			signal.removeEventListener("abort", end);
			removeEventListener("online", end);
			done();
		};
		const timer = setTimeout(end, seconds * 1000);
		signal.addEventListener("abort", end);
		addEventListener("online", end);
	});

/** Waits until the server is reached. Returns false if it was at once. */
async function reached(signal: AbortSignal, onLost: () => void): Promise<boolean> {
	for (let n = 0; ; n++) {
		signal.throwIfAborted();
		try {
			await call("/me", { signal });
			return n > 0;
		} catch (e) {
			if (!absent(e)) return n > 0; // it refuses, so it is there
		}
		if (n === 0) onLost();
		await pause(Math.min(2 ** n, longestWait), signal);
	}
}

/** The state of the remaining files when a put is stopped. */
class Stopped extends Error {}

/** Reports whether the same file may be put later: after signing in, or when the server is reached and has time. */
const passes = (e: unknown) => e instanceof Stopped || (e instanceof Failure && ([0, 401, 429].includes(e.status) || e.status >= 500));

/** Puts files, four at a time. Files with the same path would be one document, so only the first of them is put. */
export function put(collectionId: string, uploads: Upload[]): Promise<void> {
	return run(collectionId, uploads, { total: uploads.length, put: 0, failed: [], running: true, lost: false, sending: {} });
}

/** Repeats the last put to a collection for the files that it left out and that may succeed now. */
export async function putAgain(collectionId: string): Promise<void> {
	const last = all.get(collectionId);
	if (!last || last.running) return;
	await run(
		collectionId,
		last.failed.filter((f) => f.passes),
		{ ...last, failed: last.failed.filter((f) => !f.passes), running: true },
	);
}

/** Stops the put to a collection. Files that are not put yet are left out, and may be put later. */
export function stopPut(collectionId: string): void {
	running.get(collectionId)?.abort(new Stopped("You stopped the put"));
}

async function run(collectionId: string, uploads: Upload[], p: Progress): Promise<void> {
	const mine = person;
	const show = () => mine === person && set(collectionId, p);
	const stop = new AbortController();
	running.set(collectionId, stop);
	show();
	const waiting = [...uploads];
	const seen = new Set<string>();
	let back: Promise<boolean> | undefined; // while the server cannot be reached: all wait for it together
	const connection = () =>
		(back ??= reached(stop.signal, () => {
			p.lost = true;
			show();
		}).finally(() => {
			back = undefined;
			p.lost = false;
			show();
		}));
	// The calls of the next person, who is known to api.ts by then, must not be these.
	const going = () => {
		if (mine !== person) throw new Error("Another person has signed in");
		stop.signal.throwIfAborted();
	};
	const read = (path: string, file: File) =>
		documentOf(path, file, stop.signal, (part) => {
			p.sending = { ...p.sending, [path]: part };
			show();
		});
	/**
	 * Puts a file, and tries again if the server cannot be reached or, some seconds later, if it has too much to do. A large file that
	 * was sent is not sent again, because a team may have few that no document uses yet.
	 */
	const patiently = async (path: string, file: File) => {
		let content: Content | undefined;
		let until = 0;
		for (let n = 1; ; n++) {
			if (back) await back;
			going();
			try {
				if (!content || Date.now() > until) {
					content = undefined;
					content = await read(path, file);
					until = Date.now() + sentFor;
				}
				going();
				await call("/documents", { method: "PUT", body: { collectionId, keepAccess: true, ...content }, signal: stop.signal });
				return;
			} catch (e) {
				if (!(e instanceof Failure) || (e.status !== 429 && !absent(e))) throw e;
				const wait = e.retryAfter ?? 2 ** (n - 1);
				if (n === tries || wait > longestWait) throw e;
				if (absent(e) && e.retryAfter === undefined) {
					if (await connection()) continue;
					if (!content && n > 1) throw e; // the server is there, and yet the file does not get where it is sent
				}
				await pause(wait, stop.signal);
			}
		}
	};
	const one = async ({ path, file }: Upload) => {
		try {
			if (seen.has(path)) throw new Error("Another file here has the same name");
			seen.add(path);
			if (!file) throw new Error("It cannot be read");
			const why = refusal(path, file);
			if (why) throw new Error(why);
			await patiently(path, file);
			p.put++;
		} catch (e) {
			if (e instanceof Failure && e.status === 401) stop.abort(e); // every other call would be refused too
			p.failed.push({ path, file, why: e instanceof Error ? e.message : String(e), requestId: e instanceof Failure ? e.requestId : undefined, passes: passes(e) });
		}
	};
	const worker = async () => {
		for (let u = waiting.shift(); u; u = waiting.shift()) {
			await one(u);
			const { [u.path]: _, ...rest } = p.sending;
			p.sending = rest;
			show();
		}
	};
	await Promise.all([worker(), worker(), worker(), worker()]);
	p.running = false;
	show();
}
