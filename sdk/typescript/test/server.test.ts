// The SDK against a running docent serve, which DOCENT_SERVER and DOCENT_API_KEY name.
import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join, relative } from "node:path";
import { after, before, test } from "node:test";
import { Docent, DocentError, type AnswerEvent, type Collection, type DocumentInput } from "docent-client";
import { putFolder, uploadFile } from "docent-client/node";
import { deleteCollection, getDocument, getDocumentOriginal, importItems, listAnswers, putDocument, searchContext } from "docent-client/rest";
import { pdf } from "./files.js";

const question = "How do I roll back a release?";
const docent = new Docent();
let folder: string;
let handbook: Collection;

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

async function write(folder: string, files: Record<string, string | Uint8Array>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(join(folder, name, ".."), { recursive: true });
    await writeFile(join(folder, name), text);
  }
}

const newName = (what: string) => `${what}-${crypto.randomUUID().slice(0, 8)}`;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "docent-"));
  await write(folder, {
    "undo.md": "# Rolling back\n\nTo roll back a release, run `deployctl undo` within 24 hours.\n",
    "sub dir/lunch.txt": "The canteen opens at noon.\n",
    ".git/x.md": "hidden",
    "a.png": "",
  });
  handbook = await docent.collection(newName("typescript"));
  const result = await putFolder(docent, folder, handbook.id, { baseUri: "https://wiki.example/docs", wait: 120 });
  assert.deepEqual([result.failed, result.pending], [{}, []]);
  assert.deepEqual(result.put.map((path) => relative(folder, path)), ["sub dir/lunch.txt", "undo.md"]);
});

after(() => rm(folder, { recursive: true }));

test("ask waits for the answer", async () => {
  const questionId = crypto.randomUUID();
  const answer = await docent.ask(question, { questionId });
  assert.match(answer.answer ?? "", /deployctl undo/);
  assert.ok(answer.references?.some((r) => r.htmlUrl.endsWith("undo.md")));
  assert.deepEqual(await docent.ask(question, { questionId }), answer);
  assert.ok((await all(docent.answers())).some((a) => a.questionId === questionId));
});

test("a filter restricts what is found", async () => {
  const answer = await docent.ask(question, { filter: { product: "none" } });
  assert.equal(answer.references?.length ?? 0, 0);
});

function textOf(events: AnswerEvent[]): string {
  let text = "";
  for (const event of events) {
    if (event.name === "text.replace") text = event.text;
    if (event.name === "text.delta") text += event.text;
  }
  return text;
}

test("a stream has the text and the answer", async () => {
  const events = await all(docent.stream(question));
  const last = events.at(-1);
  assert.equal(events[0]?.name, "answer.created");
  assert.ok(events.some((e) => e.name === "sources" && e.sources.some((s) => s.url.endsWith("undo.md"))));
  assert.ok(last?.name === "answer.completed");
  assert.equal(textOf(events), last.answer.answer);
});

test("a broken stream is continued", async () => {
  const resumed: (string | null)[] = [];
  const cut: typeof fetch = async (input, init) => {
    const request = new Request(input, init);
    const response = await fetch(request);
    if (resumed.push(request.headers.get("Last-Event-ID")) > 2) return response;
    const part = (await response.text()).split("\n\n").slice(0, 2).join("\n\n") + "\n\n";
    let sent = false;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (sent) return controller.error(new TypeError("terminated"));
        controller.enqueue(new TextEncoder().encode(part));
        sent = true;
      },
    });
    return new Response(body, { headers: { "Content-Type": "text/event-stream" } });
  };
  const events = await all(new Docent({ fetch: cut }).stream(question));
  const last = events.at(-1);
  assert.ok(last?.name === "answer.completed");
  assert.equal(textOf(events), last.answer.answer);
  assert.equal(resumed.length, 3);
  assert.equal(resumed[0], null);
  assert.ok(resumed[1] && resumed[2]);
});

test("a caller may stop reading a stream", async () => {
  for await (const event of docent.stream(question)) {
    assert.equal(event.name, "answer.created");
    break;
  }
});

test("lists are read to the end", async () => {
  for (let i = 0; i < 3; i++) await docent.ask(`${question} ${i}`);
  const ids = (await all(docent.pages((options) => listAnswers(options), { limit: 2 }))).map((a) => a.questionId);
  assert.ok(ids.length > 2);
  assert.equal(new Set(ids).size, ids.length);
  const titles = (await all(docent.documents(handbook.id))).map((d) => d.title);
  assert.ok(titles.includes("Rolling back") && titles.includes("lunch"));
});

test("security events are read to the end", async () => {
  const pages = await all(docent.securityEvents());
  const count = (some: typeof pages) => some.reduce((sum, page) => sum + page.events.length, 0);
  const last = pages.at(-1);
  assert.ok(count(pages) > 0 && last && !last.hasMore && last.nextCursor);
  assert.ok(count(await all(docent.securityEvents(last.nextCursor))) < count(pages));
});

test("collections of a name asked for at once are one", async () => {
  const name = newName("once");
  const ids = new Set((await Promise.all(Array.from({ length: 8 }, () => docent.collection(name)))).map((c) => c.id));
  assert.equal(ids.size, 1);
  await deleteCollection({ client: docent.rest, path: { collectionId: [...ids][0]! } });
  const again = await docent.collection(name);
  assert.equal((await docent.collection(name)).id, again.id);
  assert.ok((await all(docent.collections())).some((c) => c.id === again.id));
});

test("files that are gone are deleted", async () => {
  const gone = await mkdtemp(join(tmpdir(), "docent-"));
  const collection = await docent.collection(newName("gone"));
  await write(gone, {
    "a.md": "# a",
    "b.md": "# b",
    "bad.md": Uint8Array.of(0xff, 0xfe, 0xff),
    "secret.md": "---\ntitle: x\naccess:\n  users: [eve]\n---\nSecret.\n",
  });
  let result = await putFolder(docent, gone, collection.id);
  assert.deepEqual(Object.keys(result.failed).map((path) => basename(path)).sort(), ["bad.md", "secret.md"]);
  await rm(join(gone, "a.md"));
  result = await putFolder(docent, gone, collection.id, {
    delete: true,
    prepare: (path, document) => (path.endsWith("secret.md") ? { ...document, access: { users: ["eve"], groups: [] } } : undefined),
  });
  assert.deepEqual(result.deleted.map((uri) => basename(uri)), ["a.md"]);
  assert.deepEqual((await all(docent.documents(collection.id))).map((d) => basename(d.uri)).sort(), ["b.md", "secret.md"]);
  for (const file of await readdir(gone)) await rm(join(gone, file));
  await assert.rejects(putFolder(docent, gone, collection.id, { delete: true }), /would be removed/);
  await rm(gone, { recursive: true });
});

test("files that are not put are not gone", async () => {
  const kept = await mkdtemp(join(tmpdir(), "docent-"));
  const collection = await docent.collection(newName("kept"));
  const baseUri = "https://wiki.example/kept/";
  await write(kept, { "a.md": "# a", "page.html": "<h1>Page</h1>" });
  for (const uri of ["page.html", "gone.html", "../a.md", "b.md?version=2", "caf%E9.md"]) {
    // as docent put and other programs put them
    await putDocument({ client: docent.rest, body: { body: "x", collectionId: collection.id, title: "x", uri: baseUri + uri } });
  }
  const result = await putFolder(docent, kept, collection.id, { baseUri, delete: true });
  assert.deepEqual([result.failed, result.deleted], [{}, [baseUri + "gone.html"]]);
  const uris = (await all(docent.documents(collection.id))).map((d) => d.uri.slice(baseUri.length)).sort();
  assert.deepEqual(uris, ["../a.md", "a.md", "b.md?version=2", "caf%E9.md", "page.html"]);
  await rm(kept, { recursive: true });
});

test("a server without a path gets /v1", async () => {
  const bare = new Docent({ server: new URL(process.env["DOCENT_SERVER"] ?? "").origin });
  assert.ok((await all(bare.collections())).some((c) => c.id === handbook.id));
});

test("large documents are put", async () => {
  const large = await mkdtemp(join(tmpdir(), "docent-"));
  await write(large, { "large.txt": "A line of a long log file.\n".repeat(200_000) });
  assert.deepEqual((await putFolder(docent, large, handbook.id)).failed, {});
  assert.ok((await all(docent.documents(handbook.id))).some((d) => d.title === "large"));
  await rm(large, { recursive: true });
});

test("PDF files of a folder are put", async () => {
  const files = await mkdtemp(join(tmpdir(), "docent-"));
  const collection = await docent.collection(newName("pdf"));
  await write(files, {
    "small.pdf": pdf("The cellar holds zithers."),
    "large.pdf": pdf("The attic holds quilts.", 5 << 20),
    "left.pdf": pdf("left out", 5 << 20),
    "empty.docx": "",
  });
  const prepare = (path: string, document: DocumentInput) => (path.endsWith("left.pdf") ? undefined : document);
  for (let run = 0; run < 2; run++) {
    const result = await putFolder(docent, files, collection.id, { baseUri: "https://wiki.example/pdf", prepare, wait: 120 });
    assert.deepEqual(result.failed, { [join(files, "empty.docx")]: "it is empty" });
    assert.deepEqual([result.pending, result.put.map((path) => basename(path))], [[], ["large.pdf", "small.pdf"]]);
  }
  for (const query of ["cellar zithers", "attic quilts"]) {
    const { data } = await searchContext({ client: docent.rest, body: { query } });
    assert.match(JSON.stringify(data), new RegExp(query.split(" ")[1]!));
  }
  await rm(files, { recursive: true });
});

/** Returns a Docent and which of its calls change something, but for those that send a file to its address. */
function countingDocent(): { counting: Docent; sent: string[] } {
  const sent: string[] = [];
  const counting = new Docent({
    fetch: (input, init) => {
      const { method, url } = input instanceof Request ? input : new Request(input, init);
      const path = new URL(url).pathname;
      if (method !== "GET" && !path.includes("/uploads/")) sent.push(`${method} ${path}`);
      return fetch(input, init);
    },
  });
  return { counting, sent };
}

test("reStructuredText of a folder is put", async () => {
  const { counting, sent } = countingDocent();
  const collection = await counting.collection(newName("rst"));
  const baseUri = "https://wiki.example/ts/rst/";
  const text = "Cellar\n~~~~~~\n\nIt holds demijohns.\n";
  const body = { collectionId: collection.id, title: "guide", uri: baseUri + "guide.rst", body: text };
  const documentId = (await putDocument({ client: docent.rest, throwOnError: true, body })).data.id;
  const files = await mkdtemp(join(tmpdir(), "docent-"));
  await write(files, { "guide.rst": text, "latin.rst": new Uint8Array([0x43, 0xe9]), "empty.rst": "" });
  const put = "PUT /v1/documents";
  for (const wanted of [[put, put], [put]]) {
    sent.length = 0;
    const { failed } = await putFolder(counting, files, collection.id, { baseUri, wait: 120 });
    const reasons = Object.fromEntries(Object.entries(failed).map(([path, reason]) => [basename(path), reason]));
    assert.deepEqual(reasons, { "empty.rst": "it is empty", "latin.rst": "The file is not text in UTF-8. Save it as UTF-8." });
    assert.deepEqual(sent, wanted);
  }
  const { data } = await getDocument({ client: docent.rest, throwOnError: true, path: { documentId } });
  assert.deepEqual([data.mediaType, data.body], ["text/x-rst", "# Cellar\n\nIt holds demijohns.\n\n"]);
  await rm(files, { recursive: true });
});

test("PDF files that have not changed are not sent", async () => {
  const files = await mkdtemp(join(tmpdir(), "docent-"));
  const { counting, sent } = countingDocent();
  const collection = await counting.collection(newName("unchanged"));
  await write(files, { "small.pdf": pdf("The cellar holds barrels."), "large.pdf": pdf("The attic holds trunks.", 5 << 20) });
  const put = async (change: (document: DocumentInput) => DocumentInput, wanted: string[]) => {
    sent.length = 0;
    const prepare = (_: string, document: DocumentInput) => change(document);
    const result = await putFolder(counting, files, collection.id, { baseUri: "https://wiki.example/unchanged", prepare });
    assert.deepEqual([result.failed, result.put.length, sent.sort()], [{}, 2, wanted]);
  };
  const labels = { metadata: { version: 2, labels: ["a", "b"] } };
  const plain = (document: DocumentInput): DocumentInput => document;
  const labelled = (document: DocumentInput): DocumentInput => ({ ...document, ...labels, access: { users: [], groups: [] } });
  const kept = (document: DocumentInput): DocumentInput => ({ ...document, ...labels, keepAccess: true });
  const titled = (document: DocumentInput): DocumentInput => ({ ...kept(document), title: `${document.title} of the house` });
  const whole = ["POST /v1/uploads", "PUT /v1/documents", "PUT /v1/documents"];
  for (const change of [plain, labelled, titled]) {
    await put(change, whole);
    await put(change, []);
  }
  await put(labelled, whole);
  await put(kept, []);
  await put(plain, whole);
  await write(files, { "large.pdf": pdf("The attic holds chests.", 5 << 20) }); // of the same size
  await put(plain, ["POST /v1/uploads", "PUT /v1/documents"]);
  await rm(files, { recursive: true });
});

test("PDF files that could not be read are sent again", async () => {
  const files = await mkdtemp(join(tmpdir(), "docent-"));
  const { counting, sent } = countingDocent();
  const collection = await counting.collection(newName("broken"));
  await write(files, { "broken.pdf": "%PDF-1.7\n, and no more of it", "whole.pdf": pdf("The cellar holds crates.") });
  for (const wanted of [["PUT /v1/documents", "PUT /v1/documents"], ["PUT /v1/documents"]]) {
    sent.length = 0;
    const result = await putFolder(counting, files, collection.id, { baseUri: "https://wiki.example/broken", wait: 120 });
    assert.deepEqual([Object.keys(result.failed).map((path) => basename(path)), sent], [["broken.pdf"], wanted]);
  }
  await rm(files, { recursive: true });
});

test("an upload is for one document", async () => {
  const data = pdf("The shed holds ladders.");
  const upload = await docent.upload(new Blob([data], { type: "application/pdf" }));
  const body = { collectionId: handbook.id, title: "Shed", uri: "https://wiki.example/ts/shed.pdf", upload };
  const common = { client: docent.rest, throwOnError: true as const };
  await putDocument({ ...common, body });
  const { data: receipt } = await putDocument({ ...common, body }); // as after a reply that was lost
  const original = await getDocumentOriginal({ ...common, path: { documentId: receipt.id }, parseAs: "arrayBuffer" });
  assert.deepEqual(Buffer.from(original.data as unknown as ArrayBuffer), Buffer.from(data));
  await assert.rejects(putDocument({ ...common, body: { ...body, uri: "https://wiki.example/ts/other.pdf" } }), DocentError);
  const path = join(folder, "shed.pdf");
  await writeFile(path, data);
  await assert.rejects(uploadFile(new Docent({ key: "docent_team_wrong" }), path), (error) => error instanceof DocentError && error.status === 401);
  await rm(path);
});

test("refusals are errors", async () => {
  await assert.rejects(docent.ask(""), (error) => error instanceof DocentError && error.code === "invalid-request" && error.requestId !== "");
  const stranger = new Docent({ key: "docent_team_wrong" });
  await assert.rejects(all(stranger.collections()), (error) => error instanceof DocentError && error.status === 401);
  await assert.rejects(putFolder(stranger, folder, handbook.id), DocentError);
  await assert.rejects(all(stranger.stream(question)), DocentError);
});

test("generated operations run", async () => {
  const { data } = await searchContext({ client: docent.rest, body: { query: question } });
  assert.match(JSON.stringify(data), /deployctl undo/);
  const items = new Blob(["{}"]); // a team key may not import: refused, but not for the body
  await assert.rejects(importItems({ client: docent.rest, path: { dataSourceId: crypto.randomUUID() }, body: items }), (error) => {
    return error instanceof DocentError && [403, 404].includes(error.status);
  });
});
