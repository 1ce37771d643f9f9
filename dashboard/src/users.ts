// The users and groups of the team, which SCIM shows to its admins, and who used Docent.
import { call, type Part, several } from "./api";
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

/** Returns the next users or groups, or nothing if the team has no SAML metadata yet: then SCIM is refused. */
async function listed<T>(type: "Users" | "Groups", attributes: string, most: number, after?: string): Promise<Part<T> | null> {
	const team = await call<Team>("/team");
	if (!team.samlConfigured) return null;
	return several<T>(most, after, async (count, startIndex = "1") => {
		const query = new URLSearchParams({ count: String(count), startIndex, attributes });
		const list = await call<{ totalResults: number; Resources?: T[] }>(`/scim/v2/${type}?${query}`, asSCIM);
		const items = list.Resources ?? [];
		const next = Number(startIndex) + items.length;
		return { items, total: list.totalResults, next: items.length > 0 && next <= list.totalResults ? String(next) : undefined };
	});
}

export const users = (most: number, after?: string) => listed<User>("Users", "userName,displayName,active,roles", most, after);
export const groups = (most: number, after?: string) => listed<Group>("Groups", "displayName", most, after);

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

/** Returns what the next users did since start, a date. */
export function usageByUser(start: string, most: number, after?: string): Promise<Part<UserUsage>> {
	return several(most, after, async (limit, after) => {
		const query = new URLSearchParams({ start, limit: String(limit), ...(after && { after }) });
		const list = await call<{ users: UserUsage[]; nextCursor: string | null }>(`/usage/users?${query}`);
		return { items: list.users, next: list.nextCursor ?? undefined };
	});
}
