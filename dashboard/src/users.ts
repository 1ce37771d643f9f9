// The users and groups of the team, which SCIM shows to its admins, and who used Docent.
import { call } from "./api";
import type { Team } from "./types";

export interface User {
	id: string;
	userName: string;
	displayName?: string;
	active?: boolean;
	roles?: { value: string }[];
}

export interface Group {
	id: string;
	displayName: string;
}

export interface Member {
	value: string;
	display?: string;
}

const most = 2000;
const asSCIM = { headers: { Accept: "application/scim+json" } };

/** Returns the first 2,000 users or groups, or nothing if the team has no SAML metadata yet: then SCIM is refused. */
async function listed<T>(type: "Users" | "Groups", attributes: string): Promise<T[] | null> {
	const team = await call<Team>("/team");
	if (!team.samlConfigured) return null;
	const all: T[] = [];
	for (let more = true; more && all.length < most; ) {
		const query = new URLSearchParams({ count: "200", startIndex: String(all.length + 1), attributes });
		const list = await call<{ totalResults: number; Resources?: T[] }>(`/scim/v2/${type}?${query}`, asSCIM);
		all.push(...(list.Resources ?? []));
		more = (list.Resources ?? []).length > 0 && all.length < list.totalResults;
	}
	return all;
}

export const users = () => listed<User>("Users", "userName,displayName,active,roles");
export const groups = () => listed<Group>("Groups", "displayName");

export async function members(groupId: string): Promise<Member[]> {
	const group = await call<{ members?: Member[] }>(`/scim/v2/Groups/${groupId}?attributes=members`, asSCIM);
	return group.members ?? [];
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
