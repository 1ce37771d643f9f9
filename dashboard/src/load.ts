import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { type Part, sessionOver } from "./api";

/** What is being loaded: neither value nor error at first. */
export interface Loading<T> {
	value?: T;
	error?: unknown;
	again: () => void;
	set: (value: T) => void;
}

/** Loads something when the component appears or what it depends on changes. */
export function useLoad<T>(load: () => Promise<T>, depends: unknown[] = []): Loading<T> {
	const [state, setState] = useState<{ value?: T; error?: unknown }>({});
	const turn = useRef(0);
	const run = useCallback(() => {
		const mine = ++turn.current;
		load().then(
			(value) => mine === turn.current && setState({ value }),
			(error: unknown) => mine === turn.current && setState((old) => ({ ...old, error })),
		);
	}, depends);
	useEffect(() => {
		run();
		return () => {
			turn.current++;
		};
	}, [run]);
	return { ...state, again: run, set: (value) => setState({ value }) };
}

/** The part of a list that is shown, null if there is no such list, and the function that shows more of it. */
export interface Growing<T> extends Loading<Part<T> | null> {
	more: { busy: boolean; error: unknown; load: () => void };
}

/** How many items most lists show at first, and how many more with each click. */
export const step = 2000;

/** Loads the first items of a list as useLoad does, and as many more each time. Every reload reads all shown items again. */
export function usePart<T>(load: (most: number, after?: string) => Promise<Part<T> | null>, depends: unknown[] = [], by = step): Growing<T> {
	const shown = useRef<Part<T> | null>(null);
	const wanted = () => Math.max(by, shown.current?.items.length ?? 0);
	const list = useLoad(async () => {
		for (;;) {
			const most = wanted();
			const part = await load(most);
			if (!part?.next || most >= wanted()) return part; // else more was shown in the meantime
		}
	}, depends);
	shown.current = list.value ?? null;
	const { busy, error, run } = useAction();
	const more = () =>
		run(async () => {
			const before = shown.current;
			const rest = before && (await load(by, before.next));
			if (rest && before === shown.current) list.set({ ...rest, items: [...before.items, ...rest.items] }); // else it was read again
		});
	return { ...list, more: { busy, error, load: more } };
}

/**
 * Calls again every so often while wanted, and not while the page is hidden or nobody is signed in. It calls less and
 * less often, because a session may make a limited number of calls per day, and the wait may take hours.
 */
export function useEvery(milliseconds: number, wanted: boolean, again: () => void): void {
	useEffect(() => {
		if (!wanted) return;
		let wait = milliseconds;
		let timer: number;
		const later = () => {
			timer = setTimeout(() => {
				if (!document.hidden && !sessionOver()) {
					wait = Math.min(wait * 1.2, milliseconds * 15);
					again();
				}
				later();
			}, wait);
		};
		later();
		return () => clearTimeout(timer);
	}, [wanted, again, milliseconds]);
}

/** Runs something once at a time, and keeps its error. A button that is disabled in the meantime gets the focus back. */
export function useAction(): { busy: boolean; error: unknown; run: (action: () => Promise<void>) => void } {
	const [state, set] = useState<{ busy: boolean; error?: unknown }>({ busy: false });
	const running = useRef(false); // at once, also before the next rendering
	const from = useRef<Element | null>(null);
	useLayoutEffect(() => {
		if (state.busy) return;
		const back = from.current;
		from.current = null;
		if (!(back instanceof HTMLElement)) return;
		const focus = () => document.activeElement === document.body && back.focus();
		focus();
		const over = document.activeElement?.closest("dialog"); // such as the sign-in, if the session has ended
		if (over && !over.contains(back)) over.addEventListener("close", focus, { once: true });
	}, [state.busy]);
	const run = (action: () => Promise<void>) => {
		if (running.current) return;
		running.current = true;
		from.current = document.activeElement;
		set({ busy: true });
		const end = (error?: unknown) => {
			running.current = false;
			set({ busy: false, error });
		};
		action().then(() => end(), end);
	};
	return { busy: state.busy, error: state.error, run };
}
