// What the API replies, as far as the dashboard reads it.

export interface Me {
	team: { id: string; name: string };
	user?: { id: string; userName: string; displayName: string; role: "admin" | "member" };
	key: Key;
}

/** A part of what a key may do. */
export type Scope = "read" | "ask" | "write" | "manage" | "audit";

export interface Key {
	id: string;
	kind: "personal" | "team" | "scim" | "session" | "agent";
	name: string;
	hint: string | null;
	userId: string | null;
	/** The user who made it, null if the operator did. */
	createdBy: string | null;
	dataSourceIds: string[] | null;
	scopes: Scope[] | null;
	/** Whether it may act for the person whom a request names. */
	actFor: boolean;
	createdAt: string;
	expiresAt: string | null;
	lastUsedAt: string | null;
	previousSecretExpiresAt: string | null;
}

export interface Session {
	id: string;
	name: string;
	signIn: "link" | "key" | "saml" | "oidc";
	current: boolean;
	createdAt: string;
	expiresAt: string;
	lastUsedAt: string | null;
}

export interface Collection {
	id: string;
	name: string;
	description: string;
	iconUrl?: string;
}

/** Who may read a document. */
export interface Access {
	users: string[];
	groups: string[];
}

export interface Document {
	id: string;
	collectionId: string;
	title: string;
	uri: string;
	/** Of a document that was put as a file. */
	mediaType?: string;
	createdAt: string;
	updatedAt: string;
	access?: Access;
	metadata?: Record<string, string | number | boolean | string[]>;
	indexing?: { state: "extracting" | "pending" | "indexed" | "failed"; error?: { code: string; detail: string } };
}

export interface Answer {
	questionId: string;
	question: string;
	state: "processing" | "complete" | "failed";
	result?: { answer: string; references: Reference[] };
	error?: { code: string; detail: string };
	previousQuestionId?: string;
	feedback?: { rating: Rating; comment?: string };
}

export type Rating = "up" | "down";

export interface Reference {
	htmlUrl: string;
	title?: string;
}

export interface DataSource {
	id: string;
	provider: string;
	name: string;
	state: "connecting" | "ready" | "failed" | "paused";
	settings: Record<string, string | string[]>;
	createdAt: string;
	lastSync?: string;
	lastError?: { at: string; code: string; detail: string };
	sync?: { state: "waiting" | "reading" | "removing"; part?: string; read: number; removed: number; rejected: number; began?: string; next?: string };
	webhookSecret?: string;
}

export interface Found {
	title: string;
	url: string;
	content: string;
	provider: string;
	sourceType: string;
}

export interface Quota {
	name: string;
	limit: number;
	used: number;
	remaining: number;
	resetsAt: string | null;
}

export interface Metrics {
	requests?: number;
	accepted?: number;
	[name: string]: number | string | undefined;
}

export interface Usage {
	buckets: { start: string; end: string; results: { feature?: string; userId?: string | null; client?: string; metrics: Metrics }[] }[];
	nextCursor: string | null;
	hasMore: boolean;
}

export interface SecurityEvent {
	id: string;
	eventType: string;
	category: string;
	severity: "informational" | "low" | "medium" | "high" | "critical";
	description: string;
	occurredAt: string;
	outcome: { result: string; reason: string | null; statusCode: number | null };
	actor: { type: string; id?: string; displayName?: string };
	client?: { ip?: string };
	request?: { id: string };
}

export interface Saml {
	entityId: string;
	singleSignOnUrl: string;
	certificates: { subject: string; sha256: string; notAfter: string }[];
	metadataUrl?: string;
	updatedAt: string;
}

export interface SignOn {
	method?: "saml" | "oidc";
	required: boolean;
	attribute: string;
	oidc?: { issuer: string; clientId: string; hasSecret: boolean };
	test?: { at: string; userName: string; current: boolean };
	signInUrl: string;
	entityId: string;
	acsUrl: string;
	redirectUrl: string;
}

export interface Team {
	id: string;
	name: string;
	samlConfigured: boolean;
	webFetch: boolean;
	createdAt: string;
}
