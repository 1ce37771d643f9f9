import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { to } from "./route";
import type { Me } from "./types";

/** Who is signed in, for every page, and the function that reads it again. */
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

// Signing in at a provider leaves the page, and so may a one-time link. So the page that the person wanted to open, such as an
// answer or the request of a program, waits in this tab.
const pending = "docent-page";

export function rememberPage(route: string[]): void {
	try {
		sessionStorage.setItem(pending, to(...route));
	} catch {
		// storage is forbidden: signing in leads to Ask
	}
}

/** Goes to the page that was wanted before signing in, unless the person has opened another one since. */
export function resumePage(): void {
	try {
		const page = sessionStorage.getItem(pending);
		sessionStorage.removeItem(pending);
		if (page !== null && location.hash === to("ask")) location.replace(page);
	} catch {
		// nothing was kept
	}
}
