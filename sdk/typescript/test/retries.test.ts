import assert from "node:assert/strict";
import { test } from "node:test";
import { Docent, DocentError } from "docent-client";
import { readEvents } from "../dist/events.js";
import { retrying } from "../dist/retries.js";

type Reply = () => Response;

const ok: Reply = () => new Response("ok");
const broken: Reply = () => {
  throw new TypeError("fetch failed");
};
const cut: Reply = () => {
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode("["));
      controller.error(new TypeError("terminated"));
    },
  });
  return new Response(body, { headers: { "Content-Type": "application/json" } });
};
const unreached: Reply = () => {
  throw new TypeError("fetch failed", { cause: Object.assign(new Error("refused"), { code: "ECONNREFUSED" }) });
};

function refusal(status: number, retryAfter?: string): Reply {
  const body = JSON.stringify({ status, code: "c", detail: "D.", requestId: "r" });
  return () => new Response(body, { status, headers: retryAfter === undefined ? {} : { "Retry-After": retryAfter } });
}

async function send(init: RequestInit, ...replies: Reply[]) {
  const waits: number[] = [];
  const sent: string[] = [];
  const server: typeof fetch = async (input) => {
    sent.push(await new Request(input).text());
    return replies[Math.min(sent.length, replies.length) - 1]!();
  };
  const repeated = retrying(server, async (seconds) => void waits.push(seconds));
  const result = await repeated("http://x/", init).catch((error: unknown) => error);
  return { result, waits, sent };
}

for (const [name, init, first, times] of [
  ["a read that fails", { method: "GET" }, refusal(500), 2],
  ["a put that breaks", { method: "PUT", body: "body" }, broken, 2],
  ["a reply that breaks", { method: "GET" }, cut, 2],
  ["the reply to a post that breaks", { method: "POST", body: "body" }, cut, 1],
  ["a permanent refusal", { method: "PUT", body: "body" }, refusal(400), 1],
  ["a used-up quota", { method: "GET" }, refusal(429), 1],
  ["too many requests", { method: "POST", body: "body" }, refusal(429, "1"), 2],
  ["a day to wait", { method: "GET" }, refusal(429, "86400"), 1],
  ["a busy server", { method: "POST", body: "body" }, refusal(503, "1"), 2],
  ["a post that failed", { method: "POST", body: "body" }, refusal(500), 1],
  ["a post that broke", { method: "POST", body: "body" }, broken, 1],
  ["a post that reached nobody", { method: "POST", body: "body" }, unreached, 2],
  ["a post with a key", { method: "POST", body: "body", headers: { "Idempotency-Key": "k" } }, broken, 2],
] satisfies [string, RequestInit, Reply, number][]) {
  test(`repeated: ${name}`, async () => {
    const { result, waits, sent } = await send(init, first, ok);
    assert.equal(sent.length, times);
    assert.equal(new Set(sent).size, 1);
    assert.equal(result instanceof Response, times === 2);
    assert.equal(waits.length, times - 1);
  });
}

test("it waits as long as the server says", async () => {
  assert.deepEqual((await send({}, refusal(503, "7"), ok)).waits, [7]);
});

test("it gives up", async () => {
  const { result, waits, sent } = await send({}, refusal(500));
  assert.ok(result instanceof DocentError);
  assert.deepEqual([result.status, result.code, result.detail, result.requestId, sent.length], [500, "c", "D.", "r", 5]);
  waits.forEach((wait, i) => assert.ok(0.5 * 2 ** i <= wait && wait <= 0.75 * 2 ** i, String(waits)));
});

test("a reply of something else", async () => {
  const { result } = await send({ method: "POST" }, () => new Response("<html>", { status: 502, headers: { "X-Request-Id": "p" } }));
  assert.ok(result instanceof DocentError);
  assert.deepEqual([result.status, result.code, result.requestId], [502, "", "p"]);
});

test("a caller that stops is not waited for", async () => {
  const controller = new AbortController();
  const repeated = retrying(async () => {
    controller.abort();
    throw new TypeError("fetch failed");
  });
  await assert.rejects(repeated("http://x/", { signal: controller.signal }));
});

test("a reply without a body may say that it is JSON", async () => {
  for (const status of [204, 304]) {
    const { result, sent } = await send({ method: "DELETE" }, () => new Response(null, { status, headers: { "Content-Type": "application/json" } }));
    assert.deepEqual([result instanceof Response && result.status, sent.length], [status, 1]);
  }
});

test("a question is not waited for longer", async () => {
  const silent: typeof fetch = (input) =>
    new Promise((_, reject) => new Request(input).signal.addEventListener("abort", (event) => reject((event.target as AbortSignal).reason)));
  const connection = setTimeout(() => undefined, 10_000); // keeps the process, as an open connection does
  const asked = new Docent({ server: "http://x", key: "key", fetch: silent }).ask("Who?", { questionId: "q", timeout: -4.9 });
  await assert.rejects(asked, { name: "TimeoutError", message: "question q is not answered after -4.9 seconds" });
  clearTimeout(connection);
});

test("a question says why it could not be asked in time", async () => {
  for (const [reply, expected] of [
    [unreached, { name: "TypeError", message: "fetch failed" }],
    [refusal(503, "30"), { name: "DocentError", status: 503 }],
  ] as const) {
    const asked = new Docent({ server: "http://x", key: "key", fetch: async () => reply() }).ask("Who?", { timeout: -4.9 });
    await assert.rejects(asked, expected);
  }
  const stopped = new AbortController();
  const stops: typeof fetch = async () => {
    setImmediate(() => stopped.abort()); // while it waits for the next attempt
    return unreached();
  };
  const asked = new Docent({ server: "http://x", key: "key", fetch: stops }).ask("Who?", { signal: stopped.signal });
  await assert.rejects(asked, { name: "AbortError" });
});

test("a silent stream is dead", async () => {
  let cancelled = false;
  const body = new ReadableStream<Uint8Array>({ cancel: () => void (cancelled = true) });
  await assert.rejects(readEvents(body, 0.01).next(), /nothing arrived for 0.01 seconds/);
  assert.ok(cancelled);
});

test("an address that is none", () => {
  for (const server of ["localhost:8080", "ftp://x/v1"]) assert.throws(() => new Docent({ server, key: "key" }));
});
