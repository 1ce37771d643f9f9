// Puts dropped files. A put goes on, and keeps what was left out, while other pages of the dashboard are open.
import { useEffect, useState } from "preact/hooks";
import { call, Failure } from "./api";
import { documentOf, refusal, type Upload } from "./upload";

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
	sending: Record<string, number>; // the part of each large file that was sent, from 0 to 1, by path
}

const all = new Map<string, Progress>(); // by collection
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
	all.clear();
	removeEventListener("beforeunload", warn);
	for (const changed of listeners) changed();
}

/** Returns how the last put to a collection goes or went, and renders again when that changes. */
export function useProgress(collectionId: string): Progress | undefined {
	const [, render] = useState(0);
	useEffect(() => {
		const changed = () => render((n) => n + 1);
		listeners.add(changed);
		return () => {
			listeners.delete(changed);
		};
	}, []);
	return all.get(collectionId);
}

const tries = 6;
const longestWait = 30; // seconds

/** Calls put again, some seconds later, if the server cannot be reached or has too much to do. */
async function patiently(put: () => Promise<void>): Promise<void> {
	for (let n = 1; ; n++) {
		try {
			return await put();
		} catch (e) {
			const passes = e instanceof Failure && [0, 429, 502, 503, 504].includes(e.status);
			const wait = passes ? (e.retryAfter ?? 2 ** (n - 1)) : Infinity;
			if (n === tries || wait > longestWait) throw e;
			await new Promise((done) => setTimeout(done, wait * 1000));
		}
	}
}

/** Reports whether the same file may be put later: after signing in, or when the server is reached and has time. */
const passes = (e: unknown) => e instanceof Failure && ([0, 401, 429].includes(e.status) || e.status >= 500);

/** Puts files, four at a time. Of files with one path, which is one document, only the first is put. */
export function put(collectionId: string, uploads: Upload[]): Promise<void> {
	return run(collectionId, uploads, { total: uploads.length, put: 0, failed: [], running: true, sending: {} });
}

/** Puts those files again that the last put to a collection left out and that may be put by now. */
export async function putAgain(collectionId: string): Promise<void> {
	const last = all.get(collectionId);
	if (!last || last.running) return;
	await run(
		collectionId,
		last.failed.filter((f) => f.passes),
		{ ...last, failed: last.failed.filter((f) => !f.passes), running: true },
	);
}

async function run(collectionId: string, uploads: Upload[], p: Progress): Promise<void> {
	const mine = person;
	const show = () => mine === person && set(collectionId, p);
	show();
	const waiting = [...uploads];
	const seen = new Set<string>();
	let ended: unknown; // the session: every other call would be refused too
	const stopped = () => {
		if (mine !== person) throw new Error("Somebody else has signed in");
		if (ended) throw ended;
	};
	const one = async ({ path, file }: Upload) => {
		try {
			if (seen.has(path)) throw new Error("Another file here has the same name");
			seen.add(path);
			if (!file) throw new Error("It cannot be read");
			const why = refusal(path, file);
			if (why) throw new Error(why);
			stopped();
			const content = await documentOf(path, file, (part) => {
				p.sending = { ...p.sending, [path]: part };
				show();
			});
			await patiently(async () => {
				stopped();
				await call("/documents", { method: "PUT", body: { collectionId, keepAccess: true, ...content } });
			});
			p.put++;
		} catch (e) {
			if (e instanceof Failure && e.status === 401) ended = e;
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
