import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Me } from "./types";

/** Who is signed in, for every page. */
export const SessionContext = createContext<Me | undefined>(undefined);

export function useMe(): Me {
	const me = useContext(SessionContext);
	if (!me) throw new Error("nobody is signed in");
	return me;
}

export function useAdmin(): boolean {
	const me = useMe();
	return me.user?.role === "admin" && me.key.dataSourceIds === null;
}
