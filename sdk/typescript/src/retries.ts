import { DocentError, errorOf } from "./errors.js";

/** How often a request is sent at most. */
export const tries = 5;
/** The longest wait in seconds. If a server asks for more, the caller has to decide. */
export const maxWait = 60;

/** Resolves after the given seconds, or rejects when the signal is aborted. */
export type Sleep = (seconds: number, signal?: AbortSignal | null) => Promise<void>;

export const sleep: Sleep = (seconds, signal) =>
  new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", abort);
      resolve();
    }, seconds * 1000);
    signal?.addEventListener("abort", abort, { once: true });
  });

/** Decides whether a request is sent again. */
export interface Repeated {
  method: string;
  headers: Headers;
  signal?: AbortSignal | undefined;
  /** When sending again has no more use, by Date.now(). */
  end?: number | undefined;
}

/**
 * waitBefore returns the seconds to wait after a failed attempt, counted from 1, or undefined if it must not be
 * repeated. GET, PUT and DELETE are repeated, and POST with an Idempotency-Key. Any other request is repeated only
 * if it changed nothing: it reached no server, or was refused for now.
 */
export function waitBefore(attempt: number, request: Repeated, error: unknown): number | undefined {
  if (attempt >= tries || request.signal?.aborted) return undefined;
  const safe = ["GET", "HEAD", "PUT", "DELETE"].includes(request.method) || request.headers.has("Idempotency-Key");
  let wait: number | undefined;
  if (error instanceof DocentError) {
    wait = error.retryAfter;
    if (error.status === 429) {
      if (wait === undefined) return undefined;
    } else if (error.status < 500 || !(safe || (error.status === 503 && wait !== undefined))) {
      return undefined;
    }
  } else if (!safe && !refused(error)) {
    return undefined;
  }
  wait ??= 0.5 * 2 ** (attempt - 1) * (1 + Math.random() / 2);
  if (request.end !== undefined && Date.now() + wait * 1000 > request.end) return undefined;
  return wait <= maxWait ? wait : undefined;
}

/** refused reports whether Node says that nothing listens at the address. */
function refused(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && (cause as { code?: unknown }).code === "ECONNREFUSED";
}

/**
 * whole returns a reply of JSON when all of it has arrived. Other replies, such as files and events, are read by the caller. A reply
 * without a body, such as a 204, may say that it is JSON: API Gateway says so wherever the server says nothing.
 */
async function whole(response: Response): Promise<Response> {
  if (response.body === null || !response.headers.get("Content-Type")?.startsWith("application/json")) return response;
  const { status, statusText, headers } = response;
  return new Response(await response.arrayBuffer(), { status, statusText, headers });
}

/** failures has the failed attempt by the reason for which a request was aborted before the next. */
const failures = new WeakMap<object, unknown>();

/** failureBefore returns why the last attempt failed, if a request was aborted with this reason before the next one. */
export function failureBefore(reason: unknown): unknown {
  return typeof reason === "object" && reason !== null ? failures.get(reason) : undefined;
}

/** repeated returns what attempt does once it succeeds. It repeats the request's attempts by waitBefore. */
export async function repeated<T>(request: Repeated, attempt: () => Promise<T>, pause: Sleep = sleep): Promise<T> {
  for (let tried = 1; ; tried++) {
    let failure: unknown;
    try {
      return await attempt();
    } catch (error) {
      failure = error;
    }
    const wait = waitBefore(tried, request, failure);
    if (wait === undefined) throw failure;
    try {
      await pause(wait, request.signal);
    } catch (reason) {
      if (typeof reason === "object" && reason !== null) failures.set(reason, failure);
      throw reason;
    }
  }
}

/** retrying returns a fetch that repeats requests by waitBefore, and throws DocentError for replies from 400 on. */
export function retrying(inner: typeof fetch, pause: Sleep = sleep): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    const attempt = async () => {
      const response = await inner(request.clone());
      if (response.status < 400) return whole(response);
      throw errorOf(response.status, response.headers, await response.text());
    };
    return repeated(request, attempt, pause);
  };
}
