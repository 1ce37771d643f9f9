import { DocentError, errorOf } from "./errors.js";
import * as rest from "./rest/index.js";
import type { Client } from "./rest/client/index.js";
import { repeated } from "./retries.js";

const maxUpload = 100 << 20;
const maxPDF = 96 << 20;
const maxRST = 4 << 20;

export type MediaType = rest.CreateUploadInput["mediaType"];

const office = "application/vnd.openxmlformats-officedocument.";

/** mediaTypes has the media types of the files whose text the server reads, by the extensions of their names. */
export const mediaTypes: Readonly<Record<string, MediaType>> = {
  ".pdf": "application/pdf",
  ".docx": `${office}wordprocessingml.document`,
  ".docm": `${office}wordprocessingml.document`,
  ".dotx": `${office}wordprocessingml.document`,
  ".dotm": `${office}wordprocessingml.document`,
  ".xlsx": `${office}spreadsheetml.sheet`,
  ".xlsm": `${office}spreadsheetml.sheet`,
  ".xltx": `${office}spreadsheetml.sheet`,
  ".xltm": `${office}spreadsheetml.sheet`,
  ".pptx": `${office}presentationml.presentation`,
  ".pptm": `${office}presentationml.presentation`,
  ".ppsx": `${office}presentationml.presentation`,
  ".ppsm": `${office}presentationml.presentation`,
  ".potx": `${office}presentationml.presentation`,
  ".potm": `${office}presentationml.presentation`,
  ".rst": "text/x-rst",
};

export interface UploadOptions {
  /** The kind of file. Unless given: that of the Blob, or of the extension of the file's name. */
  mediaType?: string;
  /** The SHA-256 of the file in hexadecimal digits, so that a file which is damaged on the way is refused. */
  sha256?: string;
  signal?: AbortSignal;
}

/** mediaTypeOf returns a media type by its name, and throws if files of it cannot be uploaded. */
export function mediaTypeOf(name: string | undefined): MediaType {
  const all = Object.values(mediaTypes);
  const found = all.find((known) => known === name);
  if (!found) throw new Error(`give a mediaType of a PDF, DOCX, XLSX, PPTX or reStructuredText file: ${all.join(", ")}`);
  return found;
}

/** checkSize throws if a file cannot be uploaded for its size in bytes. */
export function checkSize(size: number, mediaType: MediaType): void {
  const most = mediaType === mediaTypes[".pdf"] ? maxPDF : mediaType === mediaTypes[".rst"] ? maxRST : maxUpload;
  if (size === 0) throw new Error("it is empty");
  if (size > most) throw new Error(`it has over ${most >> 20} MB`);
}

/** upload sends a file to an address of its own; Docent.upload says how. Neither the key nor a redirect's target gets it. */
export async function upload(client: Client, inner: typeof fetch, file: Blob, options: UploadOptions): Promise<string> {
  const mediaType = mediaTypeOf(options.mediaType ?? file.type);
  checkSize(file.size, mediaType);
  const { sha256, signal } = options;
  const asked = Date.now();
  const body = { mediaType, size: file.size, ...(sha256 && { sha256 }) };
  const { data: to, response } = await rest.createUpload({ client, body, throwOnError: true, ...(signal && { signal }) });
  if (!/^https?:\/\/[^/\s]/.test(to.uploadUrl)) throw new Error("the server returned an address that is none"); // the address is a secret

  // By the server's clock. Without its time only the server knows when the address expires.
  const life = Date.parse(to.expiresAt) - Date.parse(response.headers.get("Date") ?? "");
  const end = Number.isNaN(life) ? undefined : asked + life;
  const headers = new Headers(to.headers);
  let sent = 0;
  const attempt = async () => {
    sent++;
    const content = file.slice(); // without a type, which would become a header
    // With this redirect and window, fetch keeps no copy of the content to send it once more (Node would, in memory).
    const init: RequestInit = { method: to.method, headers, body: content, redirect: "error", window: null, credentials: "omit" };
    const response = await inner(to.uploadUrl, { ...init, signal: signal ?? null }).catch((error: unknown) => {
      throw redirects(error) ? new DocentError(0, "", "") : error;
    });
    if (!response.ok) throw errorOf(response.status, response.headers, await response.text());
    await response.body?.cancel();
  };
  try {
    await repeated({ method: to.method, headers, signal, end }, attempt);
  } catch (error) {
    if (!(error instanceof DocentError)) throw error;
    // After 409 and 412 an earlier try arrived, but its reply did not.
    if (!(sent > 1 && [409, 412].includes(error.status))) throw explained(error);
  }
  return to.id;
}

/** redirects reports whether Node says that the reply is a redirect. Sending the file again does not help. */
function redirects(error: unknown): boolean {
  return error instanceof Error && error.cause instanceof Error && error.cause.message === "unexpected redirect";
}

/** explained returns an error of the address itself. Something other than Docent, such as S3, tells no code. */
function explained(error: DocentError): DocentError {
  if (error.code) return error;
  const hint = error.status === 403 ? "; it may have expired" : "";
  const what = error.status === 0 ? "redirects" : `answered ${error.status}${hint}`;
  return new DocentError(error.status, "", `The address of the upload ${what}.`, error.requestId, error.retryAfter);
}
