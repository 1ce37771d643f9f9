import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { go } from "./route";
import type { Me } from "./types";

/** Who is signed in, for every page, and what reads that again. */
export const SessionContext = createContext<{ me: Me; again: () => void } | undefined>(undefined);

function useSession(): { me: Me; again: () => void } {
	const session = useContext(SessionContext);
	if (!session) throw new Error("nobody is signed in");
	return session;
}

export const useMe = () => useSession().me;

/** Returns what is called after the team or the person has changed. */
export const useMeChanged = () => useSession().again;

export function useAdmin(): boolean {
	const me = useMe();
	return me.user?.role === "admin" && me.key.dataSourceIds === null;
}

// A program may ask for access before the person is signed in, and signing in at a provider leaves
// the page. So the request waits in this tab.
const pending = "docent-connect";

export function rememberConnect(route: string[]): void {
	if (route[0] === "connect" && route[1]) sessionStorage.setItem(pending, route[1]);
}

/** Returns to the request of a program that waits for the person to be signed in. */
export function resumeConnect(route: string[]): void {
	const query = sessionStorage.getItem(pending);
	sessionStorage.removeItem(pending);
	if (query !== null && route[0] !== "connect") go("connect", query);
}
