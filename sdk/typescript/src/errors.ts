/** A refusal by the server. Match on code, which is empty if something other than Docent answered. */
export class DocentError extends Error {
  override name = "DocentError";

  constructor(
    readonly status: number,
    readonly code: string,
    readonly detail: string,
    readonly requestId = "",
    /** The seconds after which it is worth trying again; absent if the reply does not say. */
    readonly retryAfter?: number,
  ) {
    super(`${detail || `The server answered ${status}.`} (${code || status}, request ${requestId || "unknown"})`);
  }
}

/** errorOf returns the error of a reply. Of a body that is not the API's problem object only the status counts. */
export function errorOf(status: number, headers: Headers, body: string): DocentError {
  let problem: unknown;
  try {
    problem = JSON.parse(body);
  } catch {
    // not JSON
  }
  const text = (name: string): string => {
    const value = problem !== null && typeof problem === "object" ? (problem as Record<string, unknown>)[name] : undefined;
    return typeof value === "string" ? value : "";
  };
  const requestId = text("requestId") || headers.get("X-Request-Id") || "";
  return new DocentError(status, text("code"), text("detail") || text("title"), requestId, retryAfter(headers.get("Retry-After")));
}

function retryAfter(value: string | null): number | undefined {
  if (value === null) return undefined;
  if (/^\d{1,9}$/.test(value)) return Number(value);
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max((at - Date.now()) / 1000, 0);
}
