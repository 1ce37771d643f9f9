/** A client of Docent: ask questions, keep documents current, verify webhooks. */
export { AnswerFailed, Docent, defaultServer, type AskOptions, type DocentOptions, type List } from "./docent.js";
export { DocentError } from "./errors.js";
export type { AnswerEvent, Source } from "./events.js";
export type { UploadOptions } from "./uploads.js";
export { verifyWebhook, WebhookError, type WebhookEvent, type WebhookOptions } from "./webhooks.js";
export type { Answer, Collection, Document, DocumentInput, DocumentSummary, Filter, Metadata, Reference } from "./rest/index.js";
