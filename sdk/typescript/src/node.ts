import { createHash } from "node:crypto";
import { openAsBlob } from "node:fs";
import { lstat, readdir, readFile, stat } from "node:fs/promises";
import { basename, extname, join, relative, resolve, sep } from "node:path";
import { isDeepStrictEqual, promisify } from "node:util";
import { gzip } from "node:zlib";
import type { Docent } from "./docent.js";
import { DocentError } from "./errors.js";
import * as rest from "./rest/index.js";
import { sleep } from "./retries.js";
import { checkSize, mediaTypeOf, mediaTypes, type UploadOptions } from "./uploads.js";

const kinds = [".md", ".markdown", ".mdx", ".txt", ".text", ...Object.keys(mediaTypes)];
const maxDocument = 10 << 20;
/** The size in bytes from which a text is sent compressed, and another file to an address of its own. */
const packFrom = 4 << 20;
/** How many files are sent to addresses at a time. A team may have 20 uploads that no document uses yet. */
const uploads = 4;

/** uploadFile is Docent.upload for the file of a path, which is read twice and never whole into memory. */
export async function uploadFile(docent: Docent, path: string, options: UploadOptions = {}): Promise<string> {
  const mediaType = mediaTypeOf(options.mediaType ?? mediaTypes[extname(path).toLowerCase()]);
  checkSize((await stat(path)).size, mediaType);
  const file = await openAsBlob(path);
  return docent.upload(file, { ...options, mediaType, sha256: options.sha256 ?? (await sha256Of(file)) });
}

async function sha256Of(file: Blob): Promise<string> {
  const digest = createHash("sha256");
  for await (const part of file.stream()) digest.update(part);
  return digest.digest("hex");
}

export interface FolderOptions {
  /** A file's URI is this followed by its path below the folder; its file: URI unless given. */
  baseUri?: string;
  /** Removes documents of the collection whose URI is below baseUri and whose file is gone, whatever its kind. */
  delete?: boolean;
  /** How many files are sent at a time; 8 unless given. */
  parallel?: number;
  /** How many seconds to wait, at most, until questions find the documents; 0 unless given. */
  wait?: number;
  /** Changes a document before it is put, for example its metadata and access; undefined leaves the file out. */
  prepare?: (path: string, document: rest.DocumentInput) => rest.DocumentInput | undefined;
}

/** What putFolder did. failed has the reason by path or URI; pending are files that are not found yet. */
export interface FolderResult {
  put: string[];
  deleted: string[];
  failed: Record<string, string>;
  pending: string[];
}

/**
 * putFolder puts the Markdown, text, reStructuredText, PDF and Office files below folder into a collection, several at a time. A
 * file that has not changed changes nothing on the server, so a run that broke off is started again. A PDF, Office or reStructuredText
 * file that has not changed is not sent either, if the key may read documents, unless it could not be read or indexed before.
 * Hidden files and folders, and node_modules, are left out. A file that fails does not stop the others. A key that is refused,
 * or a used-up quota, does: DocentError.
 *
 * With delete, a folder without any file to put is an error. Front matter is not read: a file whose front matter says who may
 * read it fails unless prepare sets its access.
 *
 * A PDF or Office file over 4 MB is uploaded after prepare, which sees its document without body and upload.
 */
export async function putFolder(docent: Docent, folder: string, collectionId: string, options: FolderOptions = {}): Promise<FolderResult> {
  folder = resolve(folder);
  let base = options.baseUri ?? "file://" + escape(folder.split(sep).join("/").replace(/^(?!\/)/, "/"));
  if (!/[/=]$/.test(base)) base += "/";
  const files = new Map<string, string>();
  for await (const path of filesBelow(folder)) files.set(base + escape(relative(folder, path).split(sep).join("/")), path);
  if (options.delete && files.size === 0) {
    throw new Error(`${folder} has no file to put, so every document under ${base} would be removed`);
  }
  const result: FolderResult = { put: [], deleted: [], failed: {}, pending: [] };
  const each = <T>(items: Iterable<T>, name: (item: T) => string, act: (item: T) => Promise<void>) =>
    inParallel(items, options.parallel ?? 8, (item) =>
      act(item).catch((error: unknown) => {
        if (error instanceof DocentError && [401, 403, 429].includes(error.status)) throw error; // as would every further call
        result.failed[name(item)] = error instanceof Error ? error.message : String(error);
      }),
    );
  const common = { client: docent.rest, throwOnError: true as const };

  const known = [...files.values()].some((path) => extname(path).toLowerCase() in mediaTypes) ? await knownFiles(docent, collectionId) : new Map();
  const sending = atATime(uploads);
  const stored: [path: string, documentId: string][] = [];
  await each(files, ([, path]) => path, async ([uri, path]) => {
    let document: rest.DocumentInput | undefined = await documentOf(path, uri, collectionId);
    const large = document.body === undefined;
    if (options.prepare) document = options.prepare(path, document);
    if (!document) return;
    const old = document.uri === uri && document.collectionId === collectionId ? known.get(uri) : undefined;
    if (old && (await isStored(old, path, document)) && !(await hasFailed(docent, old.id))) {
      result.put.push(path);
      stored.push([path, old.id]);
      return;
    }
    const text = document.mediaType ? undefined : (document.body ?? undefined); // an upload replaces it
    if (document.access === undefined && text !== undefined && /^---\r?\n(?:(?!---).*\n)*access\s*:/.test(text)) {
      throw new Error("its front matter says who may read it, which is not read here: set access by prepare");
    }
    const put = async (body: rest.DocumentInput) => (await rest.putDocument({ ...common, body })).data;
    let data: rest.DocumentReceipt;
    if (text !== undefined) data = await put({ ...document, body: await packed(text) });
    else if (large && !document.body && !document.upload) {
      const whole = document;
      data = await sending(async () => put({ ...whole, upload: await uploadFile(docent, path) }));
    } else data = await put(document);
    result.put.push(path);
    stored.push([path, data.id]);
  });

  if (options.delete) {
    const gone: rest.DocumentSummary[] = [];
    for await (const d of docent.documents(collectionId)) if (!files.has(d.uri) && (await isGone(folder, base, d.uri))) gone.push(d);
    await each(gone, (d) => d.uri, async (d) => {
      await rest.deleteDocument({ ...common, path: { documentId: d.id } });
      result.deleted.push(d.uri);
    });
  }

  const end = Date.now() + (options.wait ?? 0) * 1000;
  if (options.wait) {
    await each(stored, ([path]) => path, async ([path, documentId]) => {
      for (let pause = 0.05; ; pause = Math.min(2 * pause, 2)) {
        const { indexing } = (await rest.getDocument({ ...common, path: { documentId } })).data;
        if (indexing.state === "indexed") return;
        if (indexing.state === "failed") throw new Error(indexing.error?.detail ?? "it could not be indexed");
        if (Date.now() + pause * 1000 > end) return void result.pending.push(path);
        await sleep(pause);
      }
    });
  }
  for (const list of [result.put, result.deleted, result.pending]) list.sort();
  return result;
}

/** knownFiles returns the documents of files in a collection by their URIs; none for a key that may only write. */
async function knownFiles(docent: Docent, collectionId: string): Promise<Map<string, rest.DocumentSummary>> {
  const known = new Map<string, rest.DocumentSummary>();
  try {
    for await (const d of docent.documents(collectionId)) if (d.sha256) known.set(d.uri, d);
  } catch (error) {
    if (!(error instanceof DocentError) || error.status !== 403) throw error;
    known.clear();
  }
  return known;
}

/** isStored reports whether putting the file of a path as a document would change nothing of what is stored. */
async function isStored(known: rest.DocumentSummary, path: string, document: rest.DocumentInput): Promise<boolean> {
  const { body, collectionId, uri, title, mediaType, metadata, access, keepAccess, ...others } = document;
  const same = (stored: unknown, put: unknown) => isDeepStrictEqual(stored ?? null, put ?? null);
  if (Object.values(others).some((value) => value !== undefined)) return false; // it has an upload, or what is not known here
  if (known.title !== title || !same(known.mediaType, mediaType) || !same(known.metadata, metadata)) return false;
  if (!keepAccess && !same(known.access, access)) return false;
  if (body) return createHash("sha256").update(Buffer.from(body, "base64")).digest("hex") === known.sha256;
  return (await stat(path)).size === known.size && (await sha256Of(await openAsBlob(path))) === known.sha256;
}

/** hasFailed reports whether the server tries again when a document is put as it is stored; also if it is gone. */
async function hasFailed(docent: Docent, documentId: string): Promise<boolean> {
  try {
    const { data } = await rest.getDocument({ client: docent.rest, throwOnError: true, path: { documentId } });
    return data.indexing.state === "failed";
  } catch (error) {
    if (error instanceof DocentError && error.status === 404) return true;
    throw error;
  }
}

async function inParallel<T>(items: Iterable<T>, parallel: number, act: (item: T) => Promise<void>): Promise<void> {
  const waiting = [...items].reverse();
  const work = async () => {
    for (let item = waiting.pop(); item !== undefined; item = waiting.pop()) await act(item);
  };
  try {
    await Promise.all(Array.from({ length: Math.max(1, parallel) }, work));
  } finally {
    waiting.length = 0; // after an error the others stop, too
  }
}

/** atATime returns a function that waits until so few others run, and then calls what it is given. */
function atATime(most: number): <T>(act: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (act) => {
    if (running >= most) await new Promise<void>((resolve) => waiting.push(resolve));
    else running++;
    try {
      return await act();
    } finally {
      const next = waiting.shift();
      if (next) next(); // it takes this one's place
      else running--;
    }
  };
}

async function* filesBelow(folder: string): AsyncGenerator<string, void> {
  const entries = await readdir(folder, { withFileTypes: true });
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, entry.name);
    if (entry.name.startsWith(".") || entry.name === "node_modules") continue;
    if (entry.isDirectory()) yield* filesBelow(path);
    else if (kinds.includes(extname(entry.name).toLowerCase()) && (await isFile(path))) yield path;
  }
}

/** Reports whether path is a file. It follows links; a broken link is not a file. */
async function isFile(path: string): Promise<boolean> {
  return stat(path).then((info) => info.isFile(), () => false);
}

/** documentOf returns the document of a file; it has no body if the file is uploaded. */
async function documentOf(path: string, uri: string, collectionId: string): Promise<rest.DocumentInput> {
  const title = cut(basename(path, extname(path)));
  const mediaType = mediaTypes[extname(path).toLowerCase()];
  if (mediaType) {
    const { size } = await stat(path);
    checkSize(size, mediaType);
    return { collectionId, title, uri, mediaType, ...(size <= packFrom && { body: await readFile(path, "base64") }) };
  }
  const data = await readFile(path);
  if (data.length > maxDocument) throw new Error("it has over 10 MB");
  const body = new TextDecoder("utf-8", { fatal: true }).decode(data);
  if (body.trim() === "") throw new Error("it is empty");
  const heading = /^# +(\S.*?)\s*#*\s*$/m.exec(body)?.[1];
  return { body, collectionId, title: heading ? cut(heading) : title, uri };
}

/** Returns the characters of a title that the server takes; slice would cut an emoji in two. */
function cut(title: string): string {
  return Array.from(title).slice(0, 1024).join("");
}

/**
 * Reports whether uri belongs to a path below folder at which no file exists: neither one of another kind, nor one that cannot
 * be reached.
 */
async function isGone(folder: string, base: string, uri: string): Promise<boolean> {
  if (!uri.startsWith(base)) return false;
  let name: string;
  try {
    name = decodeURIComponent(uri.slice(base.length));
  } catch {
    return false; // it is not UTF-8
  }
  const parts = name.split("/");
  if (base + escape(name) !== uri || name.includes("\0") || parts.some((part) => ["", ".", ".."].includes(part))) return false;
  return lstat(join(folder, ...parts)).then(() => false, (error: { code?: string }) => ["ENOENT", "ENOTDIR"].includes(error.code ?? ""));
}

/** packed returns a large text as base64 of its gzip form, because gateways limit the size of requests. */
async function packed(body: string): Promise<string> {
  if (Buffer.byteLength(body) <= packFrom) return body;
  return (await promisify(gzip)(body)).toString("base64");
}

/** escape percent-encodes a path as the command line does. */
function escape(path: string): string {
  const part = (text: string) =>
    encodeURIComponent(text)
      .replace(/[!'()*]/g, (c) => "%" + c.charCodeAt(0).toString(16).toUpperCase())
      .replace(/%(24|26|2B|3A|3D|40)/g, (c) => decodeURIComponent(c));
  return path.split("/").map(part).join("/");
}
