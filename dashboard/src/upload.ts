// Reads dropped files and folders, and makes documents of them.
import { bytes } from "./format";

export interface Upload {
	path: string; // with slashes
	file: File;
}

const extensions = /\.(md|markdown|mdx|txt|text|html?|xhtml)$/i;
const most = 10_000_000; // bytes of a request

/** Returns why a file cannot be put, or nothing. */
export function refusal(u: Upload): string | undefined {
	if (!extensions.test(u.path)) return "Only Markdown, text and HTML can be put";
	if (u.file.size > most) return `It has ${bytes(u.file.size)}; at most ${bytes(most)} can be put`;
	if (u.file.size === 0) return "It is empty";
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
		const file = await new Promise<File>((done, failed) => (entry as FileSystemFileEntry).file(done, failed));
		out.push({ path, file });
		return;
	}
	const reader = (entry as FileSystemDirectoryEntry).createReader();
	for (;;) {
		const some = await new Promise<FileSystemEntry[]>((done, failed) => reader.readEntries(done, failed));
		if (some.length === 0) return;
		for (const e of some) await walk(e, path + "/", out);
	}
}

/** Returns the files of an input, which may be a folder's. */
export function chosen(files: FileList): Upload[] {
	return [...files].map((file) => ({ path: file.webkitRelativePath || file.name, file })).filter((u) => !u.path.split("/").some((p) => p.startsWith(".")));
}

/** Returns the document of a file: its address, title and Markdown. */
export async function documentOf(u: Upload): Promise<{ uri: string; title: string; body: string }> {
	const text = (await u.file.text()).replace(/^\ufeff/, "");
	const name = u.path.split("/").pop() ?? u.path;
	const uri = "file:///" + u.path.split("/").map(encodeURIComponent).join("/");
	if (/\.x?html?$/i.test(u.path)) {
		const { readPage } = await import("./html");
		const page = readPage(text);
		return { uri, title: (page.title || name).slice(0, 1024), body: page.body };
	}
	const heading = /^#\s+(.+?)\s*#*$/m.exec(text)?.[1];
	return { uri, title: (heading || name.replace(extensions, "")).slice(0, 1024), body: text };
}
