/** The request is not a webhook that was signed with the secret just now. Reply with status 400. */
export class WebhookError extends Error {
  override name = "WebhookError";
}

/** An event of a webhook. */
export interface WebhookEvent {
  type?: string;
  [member: string]: unknown;
}

export interface WebhookOptions {
  /** How many seconds the time of a webhook may differ from the clock; 300 unless given. */
  tolerance?: number;
  /** The time in seconds since 1970; the clock unless given. */
  now?: number;
}

/**
 * verifyWebhook returns the event of a webhook that is signed by the Standard Webhooks specification, or throws
 * WebhookError. body is the request's body as it was received, and secret begins with whsec_. A receiver may get an
 * event more than once: remember the header webhook-id of those that were handled.
 */
export async function verifyWebhook(
  body: string | Uint8Array,
  headers: Headers | Record<string, string | string[] | undefined>,
  secret: string,
  options: WebhookOptions = {},
): Promise<WebhookEvent> {
  const named = headers instanceof Headers ? headers : headersOf(headers);
  const [id, sent, signatures] = ["webhook-id", "webhook-timestamp", "webhook-signature"].map((name) => {
    const value = named.get(name);
    if (value === null) throw new WebhookError(`The header ${name} is missing.`);
    return value;
  }) as [string, string, string];
  if (!/^\d{1,15}$/.test(sent)) throw new WebhookError("The header webhook-timestamp is not a time.");
  if (Math.abs((options.now ?? Date.now() / 1000) - Number(sent)) > (options.tolerance ?? 300)) {
    throw new WebhookError("The webhook is too old, or from the future.");
  }
  const secretBytes = bytesOf(secret.replace(/^whsec_/, ""));
  if (!secretBytes?.length) throw new Error("the secret of a webhook is whsec_ followed by base64");
  const key = await crypto.subtle.importKey("raw", secretBytes, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
  const prefix = new TextEncoder().encode(`${id}.${sent}.`);
  const content = typeof body === "string" ? new TextEncoder().encode(body) : body;
  const signed = new Uint8Array(prefix.length + content.length);
  signed.set(prefix);
  signed.set(content, prefix.length);
  let valid = false;
  for (const signature of signatures.split(" ")) {
    // one for each secret while a secret is replaced; verify takes the same time for every signature
    const bytes = signature.startsWith("v1,") ? bytesOf(signature.slice(3)) : undefined;
    if (bytes && (await crypto.subtle.verify("HMAC", key, bytes, signed))) valid = true;
  }
  if (!valid) throw new WebhookError("No signature of the webhook is of this secret.");
  let event: unknown;
  try {
    event = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(content));
  } catch {
    // not JSON
  }
  if (event === null || typeof event !== "object" || Array.isArray(event)) throw new WebhookError("The body is not a JSON object.");
  return event as WebhookEvent;
}

function headersOf(headers: Record<string, string | string[] | undefined>): Headers {
  const named = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && /^webhook-/i.test(name)) named.set(name, Array.isArray(value) ? value.join(" ") : value);
  }
  return named;
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}
