import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import { verifyWebhook, WebhookError } from "docent-client";

// The example of the libraries of the Standard Webhooks specification.
const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const sent = 1614265330;
const signature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
const headers = { "Webhook-Id": "msg_p5jXN8AQM9LWM0D4loKWxJek", "Webhook-Timestamp": String(sent), "Webhook-Signature": signature };
const body = '{"test": 2432232314}';

function signed(body: string): Record<string, string> {
  const key = Buffer.from(secret.slice(6), "base64");
  const digest = createHmac("sha256", key).update(`${headers["Webhook-Id"]}.${sent}.${body}`).digest("base64");
  return { ...headers, "Webhook-Signature": `v1,${digest}` };
}

test("a webhook is verified", async () => {
  assert.deepEqual(await verifyWebhook(body, headers, secret, { now: sent + 300 }), { test: 2432232314 });
  assert.deepEqual(await verifyWebhook(new TextEncoder().encode(body), new Headers(headers), secret, { now: sent - 300 }), { test: 2432232314 });
  const several = { ...headers, "Webhook-Signature": ["v1a,x", "v1,AAAA", signature] };
  assert.deepEqual(await verifyWebhook(body, several, secret, { now: sent }), { test: 2432232314 });
});

for (const [name, change] of Object.entries<{ body?: string; headers?: Record<string, string>; secret?: string; now?: number }>({
  "another body": { body: body + " " },
  "another secret": { secret: "whsec_" + btoa("another") },
  "another id": { headers: { ...headers, "Webhook-Id": "x" } },
  "another time": { headers: { ...headers, "Webhook-Timestamp": String(sent + 1) } },
  "no time": { headers: { ...headers, "Webhook-Timestamp": "soon" } },
  "too old": { now: sent + 301 },
  "from the future": { now: sent - 301 },
  "another version": { headers: { ...headers, "Webhook-Signature": signature.replace("v1", "v2") } },
  "no signature": { headers: { ...headers, "Webhook-Signature": "" } },
  "no base64": { headers: { ...headers, "Webhook-Signature": "v1,!" } },
  "no header": { headers: { "Webhook-Id": "x" } },
  "no object": { body: "[]", headers: signed("[]") },
  "no JSON": { body: "x", headers: signed("x") },
})) {
  test(`refused: ${name}`, async () => {
    await assert.rejects(
      verifyWebhook(change.body ?? body, change.headers ?? headers, change.secret ?? secret, { now: change.now ?? sent }),
      WebhookError,
    );
  });
}

test("a secret that is none", async () => {
  for (const wrong of ["whsec_", "whsec_!", ""]) {
    await assert.rejects(verifyWebhook(body, headers, wrong, { now: sent }), (error) => !(error instanceof WebhookError));
  }
});
