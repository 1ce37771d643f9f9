// The users of the team: whom SCIM shows to its admins, and who used Docent.
import { call } from "./api";
import type { Team } from "./types";

export interface User {
	id: string;
	userName: string;
	displayName?: string;
	active?: boolean;
	roles?: { value: string }[];
}

const most = 2000;

/** Returns the first 2,000 users, or nothing if the team has no SAML metadata yet: then SCIM is refused. */
export async function users(): Promise<User[] | null> {
	const team = await call<Team>("/team");
	if (!team.samlConfigured) return null;
	const all: User[] = [];
	for (let more = true; more && all.length < most; ) {
		const query = new URLSearchParams({ count: "200", startIndex: String(all.length + 1), attributes: "userName,displayName,active,roles" });
		const list = await call<{ totalResults: number; Resources?: User[] }>(`/scim/v2/Users?${query}`, { headers: { Accept: "application/scim+json" } });
		all.push(...(list.Resources ?? []));
		more = (list.Resources ?? []).length > 0 && all.length < list.totalResults;
	}
	return all;
}

export interface UserUsage {
	userId: string;
	userName: string | null;
	questions: number;
	contextCalls: number;
	activeDays: number;
	lastActiveAt: string;
}

/** Returns what the first 2,000 users did since start, a date. */
export async function usageByUser(start: string): Promise<UserUsage[]> {
	const all: UserUsage[] = [];
	for (let after: string | null = ""; after !== null && all.length < most; ) {
		const query = new URLSearchParams({ start, limit: "200", ...(after && { after }) });
		const list: { users: UserUsage[]; nextCursor: string | null } = await call(`/usage/users?${query}`);
		all.push(...list.users);
		after = list.nextCursor;
	}
	return all;
}
