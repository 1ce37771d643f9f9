import type { RefObject } from "preact";
import { useEffect } from "preact/hooks";

/**
 * Gives the focus to an element when the part of it that had the focus is removed, such as the button of a row that was deleted.
 * Otherwise the keyboard and a screen reader would start again at the top of the window.
 */
export function useKeptFocus(ref: RefObject<HTMLElement | null>): void {
	useEffect(() => {
		const element = ref.current;
		if (!element) return;
		let last: EventTarget | null = null;
		const note = (e: FocusEvent) => {
			last = e.target;
		};
		const removed = new MutationObserver(() => {
			if (!(last instanceof Element) || last.isConnected) return;
			last = null;
			if (document.activeElement === document.body) element.focus({ preventScroll: true });
		});
		element.addEventListener("focusin", note);
		removed.observe(element, { childList: true, subtree: true });
		return () => {
			element.removeEventListener("focusin", note);
			removed.disconnect();
		};
	}, []);
}
