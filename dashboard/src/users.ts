// The users of the team, whom SCIM shows to its admins.
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
