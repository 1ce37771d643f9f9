// The feed of security events, newest first.
import { call, untilNow } from "./api";
import type { SecurityEvent } from "./types";

export interface Feed {
	events: SecurityEvent[];
	nextCursor: string | null;
	hasMore: boolean;
}

/** How many pages without a fitting event are read in a row. For one page the API looks at 2,000 events. */
const most = 20;

/** Returns the next events that fit the filter, if there are any, after a cursor. */
export async function readFeed(filter: Record<string, string>, limit: number, after?: string | null): Promise<Feed> {
	for (let n = 1; ; n++) {
		const query = new URLSearchParams({ order: "desc", until: untilNow, limit: String(limit), ...filter, ...(after && { after }) });
		const page = await call<Feed>(`/security-events?${query}`);
		if (page.events.length > 0 || !page.hasMore || n === most) return page;
		after = page.nextCursor;
	}
}
