// Pages have addresses in the fragment, such as #/collections/ID, so that the files can be
// served from any path.
import { useEffect, useState } from "preact/hooks";

function parts(): string[] {
	return location.hash
		.replace(/^#\/?/, "")
		.split("/")
		.filter((p) => p !== "")
		.map((p) => {
			try {
				return decodeURIComponent(p);
			} catch {
				return p;
			}
		});
}

/** Returns the elements of the current address, and renders again when they change. */
export function useRoute(): string[] {
	const [route, set] = useState(parts);
	useEffect(() => {
		const changed = () => set(parts());
		addEventListener("hashchange", changed);
		return () => removeEventListener("hashchange", changed);
	}, []);
	return route;
}

/**
 * Returns the cursors that led to the page of a list that is shown, and what changes them. They stay with the entry of the
 * browser's history, so that the way back leads to that page.
 */
export function useCursors(): [after: string[], go: (after: string[]) => void] {
	const [after, set] = useState(() => (history.state as { after?: string[] } | null)?.after ?? []);
	const change = (after: string[]) => {
		history.replaceState({ after }, "");
		set(after);
	};
	return [after, change];
}

/** Forgets them: another person must not see them. */
export function forgetCursors(): void {
	history.replaceState(null, "");
}

export function to(...elements: string[]): string {
	return "#/" + elements.map(encodeURIComponent).join("/");
}

export function go(...elements: string[]): void {
	location.hash = to(...elements);
}
