// Files that are sent to an address, by a server that fails.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtemp, rm, truncate, writeFile } from "node:fs/promises";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Docent, DocentError } from "docent-client";
import { uploadFile } from "docent-client/node";

const content = "%PDF-1.7\nA report.\n";
const type = "application/pdf";
const query = "X-Amz-Credential=AKIA%2F20261121&X-Amz-Signature=hidden";
const expiresAt = "2026-11-21T12:15:00.000Z";
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
/** A try whose connection breaks after the file has arrived. */
const broken = 0;
/** The status of the error after a redirect, whose own status fetch does not tell. */
const redirected = 0;
const none = undefined;

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "docent-"));
  await writeFile(join(folder, "report.PDF"), content);
});
after(() => rm(folder, { recursive: true }));

async function sparse(name: string, size: number): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, "");
  await truncate(path, size);
  return path;
}

/** store serves an API with one upload, whose address gives these statuses one after the other, and the last of them again. */
async function store(statuses: number[], { life = 900, retryAfter = "0" } = {}) {
  const asked: unknown[] = [];
  const sent: { headers: IncomingHttpHeaders; digest: string }[] = [];
  const others: string[] = [];
  const server = createServer(async (request, response) => {
    if (request.method === "POST") {
      let body = "";
      for await (const part of request) body += part;
      asked.push(JSON.parse(body));
      const headers = { "Content-Type": type, "If-None-Match": "*", "X-Amz-Checksum-Sha256": "x" };
      response.writeHead(201, { "Content-Type": "application/json", Date: new Date(Date.parse(expiresAt) - life * 1000).toUTCString() });
      return response.end(JSON.stringify({ id: "the-id", uploadUrl: `${base}/bucket/a?${query}`, method: "PUT", headers, expiresAt }));
    }
    if (request.url !== `/bucket/a?${query}`) others.push(request.url ?? "");
    const digest = createHash("sha256");
    for await (const part of request) digest.update(part);
    sent.push({ headers: request.headers, digest: digest.digest("hex") });
    const status = statuses[Math.min(sent.length, statuses.length) - 1]!;
    if (status === broken) return request.socket.destroy();
    response.writeHead(status, { "Retry-After": retryAfter, ...(status === 307 && { Location: `${base}/elsewhere?${query}` }) });
    return response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = () => new Promise((resolve) => (server.close(resolve), server.closeAllConnections()));
  return { docent: new Docent({ server: base, key: "key" }), asked, sent, others, close };
}

for (const [name, statuses, refused] of [
  ["at once", [204], none],
  ["of S3", [200], none],
  ["again", [503, 500, 204], none],
  ["after a break", [broken, 204], none],
  ["its reply was lost", [broken, 412], none],
  ["its reply was lost at serve", [500, 409], none],
  ["the address was used", [409], 409],
  ["the address has expired", [403], 403],
  ["it redirects", [307], redirected],
  ["it fails each time", [503, 503, 503, 503, 503], 503],
] satisfies [string, number[], number | undefined][]) {
  test(`a file is sent to its address: ${name}`, async () => {
    const { docent, asked, sent, others, close } = await store(statuses);
    try {
      const result = await uploadFile(docent, join(folder, "report.PDF")).catch((error: unknown) => error);
      if (refused !== undefined) {
        assert.ok(result instanceof DocentError && result.status === refused, String(result));
        assert.match(result.message, /^The address of the upload (answered|redirects)/);
        assert.doesNotMatch(result.message, /hidden/);
      } else assert.equal(result, "the-id");
      assert.deepEqual(asked, [{ mediaType: type, size: content.length, sha256: sha256(content) }]);
      assert.deepEqual(sent.map(({ digest }) => digest), statuses.map(() => sha256(content)));
      assert.deepEqual(others, []);
      for (const { headers } of sent) {
        assert.deepEqual(
          [headers.authorization, headers.cookie, headers["transfer-encoding"], headers["content-length"], headers["content-type"]],
          [undefined, undefined, undefined, String(content.length), type],
        );
        assert.deepEqual([headers["if-none-match"], headers["x-amz-checksum-sha256"]], ["*", "x"]);
      }
    } finally {
      await close();
    }
  });
}

test("an address that has expired by then is not tried again", async () => {
  const { docent, sent, close } = await store([503], { life: 20, retryAfter: "30" });
  await assert.rejects(docent.upload(new Blob([content], { type })), DocentError);
  assert.equal(sent.length, 1);
  await close();
});

/** replying is a client of a server that gives the same reply to each request, and of how many there were. */
function replying(status: number, reply: object) {
  const requests: string[] = [];
  const server: typeof fetch = async (input) => {
    requests.push(new Request(input).method);
    return Response.json(reply, { status });
  };
  return { docent: new Docent({ server: "http://x", key: "key", fetch: server }), requests };
}

test("a refusal of the server itself keeps its code", async () => {
  const { docent, requests } = replying(409, { status: 409, code: "upload-limit", detail: "This team has 20 uploads." });
  await assert.rejects(docent.upload(new Blob([content], { type })), (error) => error instanceof DocentError && error.code === "upload-limit");
  assert.deepEqual(requests, ["POST"]);
});

test("an address of an upload that is none", async () => {
  const { docent } = replying(201, { id: "i", uploadUrl: "file:///hidden", method: "PUT", headers: {}, expiresAt });
  await assert.rejects(docent.upload(new Blob([content], { type })), { message: "the server returned an address that is none" });
});

test("what cannot be sent is not asked for", async () => {
  const { docent, requests } = replying(500, {});
  await assert.rejects(docent.upload(new Blob([content])), /give a mediaType/);
  await assert.rejects(docent.upload(new Blob([content], { type }), { mediaType: "text/plain" }), /give a mediaType/);
  await assert.rejects(docent.upload(new Blob([], { type })), { message: "it is empty" });
  await assert.rejects(uploadFile(docent, await sparse("a.txt", 1)), /give a mediaType/);
  await assert.rejects(uploadFile(docent, await sparse("empty.pdf", 0)), { message: "it is empty" });
  await assert.rejects(uploadFile(docent, await sparse("large.pdf", (96 << 20) + 1)), { message: "it has over 96 MB" });
  await assert.rejects(uploadFile(docent, await sparse("large.rst", (4 << 20) + 1)), { message: "it has over 4 MB" });
  await assert.rejects(uploadFile(docent, await sparse("large.docx", (100 << 20) + 1)), { message: "it has over 100 MB" });
  await assert.rejects(uploadFile(docent, join(folder, "none.pdf")), { code: "ENOENT" });
  assert.deepEqual(requests, []);
});

test("a caller that stops is not waited for when a file is sent", async () => {
  const { docent, sent, close } = await store([503], { retryAfter: "30" });
  const controller = new AbortController();
  const stopped = docent.upload(new Blob([content], { type }), { signal: controller.signal });
  while (sent.length === 0) await new Promise((resolve) => setImmediate(resolve));
  controller.abort();
  await assert.rejects(stopped, { name: "AbortError" });
  await close();
});

test("a file is not read into memory", async () => {
  const { docent, sent, close } = await store([503, 200]);
  const inits: RequestInit[] = [];
  const watched: typeof fetch = (input, init) => {
    if (init?.body instanceof Blob) inits.push(init);
    return fetch(input, init);
  };
  try {
    await uploadFile(new Docent({ server: docent.rest.getConfig().baseUrl ?? "", key: "key", fetch: watched }), join(folder, "report.PDF"));
    assert.equal(sent.length, 2);
    // Only so Node's fetch keeps no copy of what it sends.
    assert.deepEqual(inits.map((init) => [init.window, init.redirect]), [[null, "error"], [null, "error"]]);
  } finally {
    await close();
  }
});
