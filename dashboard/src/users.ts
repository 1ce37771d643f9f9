// The users and groups of the team, which SCIM shows to its admins, and who used Docent.
import { call, type Part } from "./api";
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

const asSCIM = { headers: { Accept: "application/scim+json" } };

/** Returns the first users or groups, or nothing if the team has no SAML metadata yet: then SCIM is refused. */
async function listed<T>(type: "Users" | "Groups", attributes: string, most: number): Promise<Part<T> | null> {
	const team = await call<Team>("/team");
	if (!team.samlConfigured) return null;
	const all: T[] = [];
	let more = true;
	let total = 0;
	while (more && all.length < most) {
		const query = new URLSearchParams({ count: "200", startIndex: String(all.length + 1), attributes });
		const list = await call<{ totalResults: number; Resources?: T[] }>(`/scim/v2/${type}?${query}`, asSCIM);
		all.push(...(list.Resources ?? []));
		total = list.totalResults;
		more = (list.Resources ?? []).length > 0 && all.length < total;
	}
	return { items: all, more, total };
}

export const users = (most: number) => listed<User>("Users", "userName,displayName,active,roles", most);
export const groups = (most: number) => listed<Group>("Groups", "displayName", most);

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

/** Returns what the first users did since start, a date. */
export async function usageByUser(start: string, most: number): Promise<Part<UserUsage>> {
	const all: UserUsage[] = [];
	let after: string | null = "";
	while (after !== null && all.length < most) {
		const query = new URLSearchParams({ start, limit: "200", ...(after && { after }) });
		const list: { users: UserUsage[]; nextCursor: string | null } = await call(`/usage/users?${query}`);
		all.push(...list.users);
		after = list.nextCursor;
	}
	return { items: all, more: after !== null };
}
