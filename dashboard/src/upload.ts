// Reads dropped files and folders, and makes documents of them.
import { base, call, Failure, lost } from "./api";
import { bytes } from "./format";

export interface Upload {
	path: string; // with slashes
	file: File | undefined; // undefined: it cannot be read
}

const extensions = /\.(md|markdown|mdx|txt|text|html?|xhtml)$/i;
const most = 10_000_000; // bytes of a request
const office = "application/vnd.openxmlformats-officedocument.";
const word = office + "wordprocessingml.document";
const excel = office + "spreadsheetml.sheet";
const powerpoint = office + "presentationml.presentation";
/** The files whose text the server reads, by extension. */
const types: Record<string, string> = {
	pdf: "application/pdf",
	docx: word,
	docm: word,
	dotx: word,
	dotm: word,
	xlsx: excel,
	xlsm: excel,
	xltx: excel,
	xltm: excel,
	pptx: powerpoint,
	pptm: powerpoint,
	ppsx: powerpoint,
	ppsm: powerpoint,
	potx: powerpoint,
	potm: powerpoint,
	rst: "text/x-rst",
};
const mostInline = 4_000_000; // bytes of such a file in a request; a larger one is sent to an address of its own
const mostUploaded = 100 * 2 ** 20;
const mostRST = 4 * 2 ** 20; // the server reads no larger one

/** The extensions that can be put, for an input. */
export const accepted = ".md,.markdown,.mdx,.txt,.text,.html,.htm,.xhtml,.pdf,.docx,.docm,.dotx,.dotm,.xlsx,.xlsm,.xltx,.xltm,.pptx,.pptm,.ppsx,.ppsm,.potx,.potm,.rst";

/** Returns the media type of a file whose text the server reads, or nothing. */
function typeOf(path: string): string | undefined {
	const extension = /\.([^./]+)$/.exec(path)?.[1]?.toLowerCase() ?? "";
	return Object.hasOwn(types, extension) ? types[extension] : undefined;
}

/** Returns why a file cannot be put, or nothing. */
export function refusal(path: string, file: File): string | undefined {
	const type = typeOf(path);
	if (!type && !extensions.test(path)) return "Only Markdown, text, reStructuredText, HTML, PDF, Word, Excel and PowerPoint files can be put";
	const limit = type === types.rst ? mostRST : type ? mostUploaded : most;
	if (file.size > limit) return `It has ${bytes(file.size)}; at most ${bytes(limit)} can be put`;
	if (file.size === 0) return "It is empty";
	return undefined;
}

/** Returns the files of a drop, with those in folders. Files and folders whose names begin with a dot are left out. */
export async function dropped(items: DataTransferItemList): Promise<Upload[]> {
	// Read before the first wait: the list is emptied when the event has ended.
	const entries = [...items].map((i) => i.webkitGetAsEntry()).filter((e) => e !== null);
	const out: Upload[] = [];
	for (const e of entries) await walk(e, "", out);
	return out;
}

async function walk(entry: FileSystemEntry, under: string, out: Upload[]): Promise<void> {
	if (entry.name.startsWith(".")) return;
	const path = under + entry.name;
	if (entry.isFile) {
		const file = await new Promise<File>((done, failed) => (entry as FileSystemFileEntry).file(done, failed)).catch(() => undefined);
		out.push({ path, file });
		return;
	}
	const reader = (entry as FileSystemDirectoryEntry).createReader();
	for (;;) {
		const some = await new Promise<FileSystemEntry[]>((done, failed) => reader.readEntries(done, failed)).catch(() => undefined);
		if (!some) out.push({ path, file: undefined });
		if (!some?.length) return;
		for (const e of some) await walk(e, path + "/", out);
	}
}

/** Returns the files of an input, which may be a folder's. */
export function chosen(files: Iterable<File>): Upload[] {
	return [...files].map((file) => ({ path: file.webkitRelativePath || file.name, file })).filter((u) => !u.path.split("/").some((p) => p.startsWith(".")));
}

export interface Content {
	uri: string;
	title: string;
	body?: string;
	mediaType?: string;
	upload?: string;
}

/**
 * Returns the document of a file: its address, title and Markdown, or the file itself. It uploads a large file first,
 * unless signal is aborted, and calls sent with the share that was sent, from 0 to 1.
 */
export async function documentOf(path: string, file: File, signal: AbortSignal, sent: (part: number) => void): Promise<Content> {
	const name = path.split("/").pop() ?? path;
	const uri = "file:///" + path.split("/").map(encodeURIComponent).join("/");
	const mediaType = typeOf(path);
	if (mediaType) {
		const title = cut(name.replace(/\.[^.]+$/, "") || name);
		if (file.size <= mostInline) return { uri, title, mediaType, body: await base64(file) };
		return { uri, title, mediaType, upload: await sendFile(file, mediaType, signal, sent) };
	}
	const html = /\.x?html?$/i.test(path);
	const text = textOf(new Uint8Array(await file.arrayBuffer()), html);
	if (html) {
		const { readPage } = await import("./html");
		const page = readPage(text);
		return { uri, title: cut(page.title || name), body: page.body };
	}
	if (limitsReaders(text)) {
		throw new Error("Its front matter says who may read it, but this page does not read that. Put it with docent put, or remove access from its front matter and choose its readers here");
	}
	return { uri, title: cut(heading(text) || name.replace(extensions, "")), body: text };
}

/** Returns the text of a file in UTF-8, in UTF-16 with a byte order mark, or in the encoding that an HTML file names. */
function textOf(file: Uint8Array, html: boolean): string {
	const mark = (file[0] ?? 0) * 256 + (file[1] ?? 0);
	const text = decoded(file, mark === 0xfffe ? "utf-16le" : mark === 0xfeff ? "utf-16be" : "utf-8") ?? (html && decoded(file, charsetOf(file)));
	if (typeof text !== "string") throw new Error("It is not valid UTF-8. Save it as UTF-8");
	if (text.includes("\0")) throw new Error("It is binary, or UTF-16 without a byte order mark. Save it as UTF-8");
	return text;
}

function decoded(file: Uint8Array, encoding: string): string | undefined {
	try {
		return new TextDecoder(encoding, { fatal: true }).decode(file);
	} catch {
		return undefined; // it is in another encoding, or there is no such one
	}
}

/** Returns the encoding that the beginning of an HTML file names. */
function charsetOf(file: Uint8Array): string {
	return /charset\s*=\s*["']?([\w-]+)/i.exec(new TextDecoder("latin1").decode(file.subarray(0, 1024)))?.[1] ?? "utf-8";
}

/** How much of a text is searched for a heading. */
const titleWithin = 64 * 1024;

/** Returns the first heading of level one, or nothing. A comment in a block of code is none. */
function heading(text: string): string {
	let fence = "";
	for (const line of text.slice(0, titleWithin).split("\n")) {
		const mark = /^ {0,3}(```+|~~~+)/.exec(line)?.[1];
		if (mark !== undefined) {
			if (fence === "") fence = mark;
			else if (mark.startsWith(fence)) fence = "";
		} else if (fence === "" && /^#\s/.test(line)) {
			const title = line.slice(1).trim().replace(/(^|\s)#+$/, "").trim();
			if (title !== "") return title;
		}
	}
	return "";
}

/** Returns the characters of a title that the server takes; slice would cut an emoji in two. */
function cut(title: string): string {
	return Array.from(title).slice(0, 1024).join("");
}

function base64(file: File): Promise<string> {
	return new Promise((done, failed) => {
		const reader = new FileReader();
		reader.onload = () => done(String(reader.result).replace(/^[^,]*,/, ""));
		reader.onerror = () => failed(new Error("It cannot be read"));
		reader.readAsDataURL(file);
	});
}

interface Address {
	id: string;
	uploadUrl: string;
	method: string;
	headers: Record<string, string>;
}

/** Sends a file to an address that works once, and returns the id of the upload. */
async function sendFile(file: File, mediaType: string, signal: AbortSignal, sent: (part: number) => void): Promise<string> {
	const to = await call<Address>("/uploads", { method: "POST", body: { mediaType, size: file.size }, signal });
	const address = new URL(to.uploadUrl);
	// The server's own address may have another name than the one of this page, to which alone it may connect.
	const own = address.pathname.endsWith(`/v1/uploads/${to.id}`);
	// fetch does not tell how much was sent.
	const request = new XMLHttpRequest();
	await new Promise<void>((done, failed) => {
		signal.throwIfAborted();
		signal.addEventListener("abort", () => request.abort());
		request.onabort = () => failed(signal.reason);
		request.open(to.method, own ? `${base}/uploads/${to.id}${address.search}` : address.href);
		for (const [name, value] of Object.entries(to.headers)) request.setRequestHeader(name, value);
		request.upload.onprogress = (e) => sent(e.loaded / file.size);
		// The browser sends no file that has changed since it was chosen, and does not say why.
		request.onerror = () =>
			void file.slice(0, 1).arrayBuffer().then(
				() => failed(lost(undefined)),
				() => failed(new Error("It has changed since you chose it. Drop it again")),
			);
		request.onload = () => (request.status >= 200 && request.status < 300 ? done() : failed(refused(request)));
		request.send(file);
	});
	return to.id;
}

/** Returns the error of a reply, which is not JSON if a bucket refuses a file. */
function refused(request: XMLHttpRequest): Failure {
	let problem: { code?: string; detail?: string; requestId?: string } = {};
	try {
		problem = JSON.parse(request.responseText) as typeof problem;
	} catch {
		// the status has to do
	}
	return new Failure(request.status, problem.code ?? "unknown", problem.detail ?? `The file was refused with status ${request.status}. Drop it again.`, problem.requestId ?? "");
}

/** Reports whether the front matter of a Markdown file has access, which says who may read it. */
function limitsReaders(text: string): boolean {
	const front = /^---[ \t]*\r?\n([\s\S]*?)\r?\n(?:---|\.\.\.)[ \t]*(?:\r?\n|$)/.exec(text)?.[1];
	return front !== undefined && /^["']?access["']?[ \t]*:/m.test(front);
}
