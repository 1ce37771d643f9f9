// The parts that pages are made of.
import type { ComponentChildren, RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Failure } from "./api";
import { ago, count, exact } from "./format";
import { Icon } from "./icons";
import { type Growing, type Loading, useAction } from "./load";

type Children = { children?: ComponentChildren };

/** A page with its heading. It sets the title of the window. */
export function Page({ title, about, actions, icon, wide, children }: Children & { title: string; icon?: ComponentChildren; about?: ComponentChildren; actions?: ComponentChildren; wide?: boolean }) {
	useEffect(() => {
		document.title = `${title} · Docent`;
	}, [title]);
	return (
		<div class={wide ? "content wide" : "content"}>
			<div class="head">
				<div>
					<div class="row">
						{icon}
						<h1>{title}</h1>
					</div>
					{about && <p>{about}</p>}
				</div>
				{actions && <div class="row">{actions}</div>}
			</div>
			{children}
		</div>
	);
}

export function Badge({ tone = "", children }: Children & { tone?: "" | "good" | "warn" | "bad" | "accent" }) {
	return <span class={`badge ${tone}`}>{children}</span>;
}

/** A time in words, with the exact one on hover and for screen readers. */
export function Time({ at }: { at: string | null | undefined }) {
	if (!at) return <span class="quiet">Never</span>;
	return (
		<time dateTime={at} title={exact(at)}>
			{ago(at)}
		</time>
	);
}

export function Copy({ text, label = "Copy", what }: { text: string; label?: string; what?: string }) {
	const [said, say] = useState("");
	const copy = async () => {
		const done = await navigator.clipboard?.writeText(text).then(
			() => true,
			() => false, // the browser forbids it
		);
		say(done ? "Copied" : "Select and copy it yourself");
		setTimeout(() => say(""), done ? 2000 : 10_000);
	};
	return (
		<button type="button" onClick={() => void copy()}>
			<Icon name="copy" />
			<span aria-live="polite">{said || label}</span>
			{what && <span class="hidden">{what}</span>}
		</button>
	);
}

/** A text to copy, such as a key or an address. */
export function Snippet({ text, what }: { text: string; what: string }) {
	return (
		<div class="secret">
			<code>{text}</code>
			<Copy text={text} what={what} />
		</div>
	);
}

/** What went wrong, in the API's words, with what to do and the request id. */
export function Problem({ error, retry }: { error: unknown; retry?: () => void }) {
	if (error === undefined || error === null) return null;
	const failure = error instanceof Failure ? error : undefined;
	const text = failure?.message ?? (error instanceof Error ? error.message : String(error));
	return (
		<div class="note bad" role="alert">
			<p>{text}</p>
			{failure?.code === "admin-required" && <p class="quiet">Ask an admin of your team to do this.</p>}
			{(failure?.requestId || retry) && (
				<div class="row">
					{retry && (
						<button type="button" onClick={retry}>
							Try again
						</button>
					)}
					{failure?.requestId && (
						<>
							<span class="small quiet wrap">
								Request <code>{failure.requestId}</code>
							</span>
							<Copy text={failure.requestId} what="request id" />
						</>
					)}
				</div>
			)}
		</div>
	);
}

/** Shows what was loaded, its error, or bones of the size of what comes. */
export function Loaded<T>({ of, bones = 3, tall, children }: { of: Loading<T>; bones?: number; tall?: boolean; children: (value: T) => ComponentChildren }) {
	if (of.value !== undefined) {
		return (
			<>
				{of.error !== undefined && <Problem error={of.error} retry={of.again} />}
				{children(of.value)}
			</>
		);
	}
	if (of.error !== undefined) return <Problem error={of.error} retry={of.again} />;
	return (
		<div class="stack" role="status">
			<span class="hidden">Loading</span>
			{Array.from({ length: bones }, (_, i) => (
				<div key={i} class={tall ? "bone tall" : "bone"} />
			))}
		</div>
	);
}

export function Empty({ title, children, actions }: Children & { title: string; actions?: ComponentChildren }) {
	return (
		<div class="empty">
			<h2>{title}</h2>
			<p>{children}</p>
			{actions && <div class="row">{actions}</div>}
		</div>
	);
}

/** The buttons to turn the pages of a list, newest first. after has the cursors that led to the current page. */
export function Pager({ after, next, onGo }: { after: string[]; next: string | undefined; onGo: (after: string[]) => void }) {
	if (after.length === 0 && !next) return null;
	return (
		<div class="row">
			<button type="button" disabled={after.length === 0} onClick={() => onGo(after.slice(0, -1))}>
				Newer
			</button>
			<button type="button" disabled={!next} onClick={() => next && onGo([...after, next])}>
				Older
			</button>
		</div>
	);
}

/** Says which part of a list is shown, with a button for more. Shows nothing if all of it is shown. */
export function More<T>({ of, what }: { of: Growing<T>; what: string }) {
	const part = of.value;
	if (part?.next === undefined) return null;
	return (
		<>
			<Problem error={of.more.error} />
			<div class="row">
				<button type="button" disabled={of.more.busy} onClick={of.more.load}>
					Show more {what}
				</button>
				<span class="small quiet">
					The first {count(part.items.length)}
					{part.total !== undefined && ` of ${count(part.total)}`} are shown.
				</span>
			</div>
		</>
	);
}

/** The head of a table: the names of its columns, empty for the buttons of a row. Those of numbers are on the right. */
export function Head({ names, numbers = [] }: { names: string[]; numbers?: string[] }) {
	return (
		<thead>
			<tr>
				{names.map((name) => (
					<th key={name} scope="col" class={numbers.includes(name) ? "num" : undefined}>
						{name || <span class="hidden">Actions</span>}
					</th>
				))}
			</tr>
		</thead>
	);
}

/** A column of a table: its name, empty for the buttons of a row, and what it shows of a row. */
export type Column<T> = [name: string, show: (row: T) => ComponentChildren, look?: "fit" | "wrap"];

/** A table whose rows become cards on a narrow screen. */
export function Table<T extends { id: string }>({ columns, rows }: { columns: Column<T>[]; rows: T[] }) {
	return (
		<div class="table cards">
			<table>
				<Head names={columns.map(([name]) => name)} />
				<tbody>
					{rows.map((row) => (
						<tr key={row.id}>
							{columns.map(([name, show, look]) => (
								<td key={name} data-label={name} class={look}>
									{show(row)}
								</td>
							))}
						</tr>
					))}
				</tbody>
			</table>
		</div>
	);
}

let ids = 0;

/** Returns an id that is unique in the page. */
export function useId(): string {
	const ref = useRef("");
	ref.current ||= `f${++ids}`;
	return ref.current;
}

export function Field({ label, hint, children }: { label: string; hint?: ComponentChildren; children: (a: { id: string; "aria-describedby"?: string }) => ComponentChildren }) {
	const id = useId();
	return (
		<div class="field">
			<label for={id}>{label}</label>
			{children(hint ? { id, "aria-describedby": id + "h" } : { id })}
			{hint && (
				<span class="hint" id={id + "h"}>
					{hint}
				</span>
			)}
		</div>
	);
}

/**
 * The autocomplete of a field for a secret of somebody else. With "off", browsers fill in the personal key that they saved at the
 * sign-in, which would be sent to a provider.
 */
export const secretField = "new-password";

/** Shows a dialog as long as it is in the page. The browser keeps the focus inside, and returns it when the dialog goes. */
export function useModal(): { ref: RefObject<HTMLDialogElement | null>; shown: () => boolean } {
	const ref = useRef<HTMLDialogElement>(null);
	const shown = useRef(true);
	useLayoutEffect(() => {
		ref.current?.showModal();
		return () => {
			shown.current = false; // the event of closing comes later, when another dialog may be there
			ref.current?.close();
		};
	}, []);
	return { ref, shown: () => shown.current };
}

export function Dialog({ title, wide, onClose, children }: Children & { title: string; wide?: boolean; onClose: () => void }) {
	const { ref, shown } = useModal();
	const id = useId();
	return (
		<dialog ref={ref} class={wide ? "wide" : undefined} aria-labelledby={id} onClose={() => shown() && onClose()}>
			<div class="stack loose">
				<h2 id={id}>{title}</h2>
				{children}
			</div>
		</dialog>
	);
}

/** A dialog with a form: its fields, what went wrong, and the buttons. It stays open until onSubmit or onClose closes it. */
export function FormDialog({ title, verb, cancel = "Cancel", danger, disabled, below, onSubmit, onClose, children }: Children & {
	title: string;
	verb: string;
	cancel?: string;
	danger?: boolean;
	disabled?: boolean;
	below?: ComponentChildren;
	onSubmit: () => Promise<void>;
	onClose: () => void;
}) {
	const action = useAction();
	return (
		<Dialog title={title} onClose={onClose}>
			<form
				class="stack loose"
				onSubmit={(e) => {
					e.preventDefault();
					if (!disabled) action.run(onSubmit);
				}}
			>
				{children}
				<Problem error={action.error} />
				<div class="actions">
					<button type="button" onClick={onClose}>
						{cancel}
					</button>
					<button class={danger ? "danger primary" : "primary"} disabled={disabled || action.busy}>
						{verb}
					</button>
				</div>
			</form>
			{below}
		</Dialog>
	);
}

/** Returns a name as a person would type it, with single spaces and composed accents, because a person cannot see the difference. */
const asTyped = (name: string) => name.normalize("NFC").replace(/\s+/g, " ").trim();

/** Asks before something is destroyed. If much is destroyed, its name must be typed. */
export function Confirm({ title, verb, name, onDone, onClose, children }: Children & { title: string; verb: string; name?: string; onDone: () => Promise<void>; onClose: () => void }) {
	const [typed, type] = useState("");
	return (
		<FormDialog title={title} verb={verb} danger disabled={name !== undefined && asTyped(typed) !== asTyped(name)} onSubmit={() => onDone().then(onClose)} onClose={onClose}>
			<div class="stack">{children}</div>
			{name !== undefined && <Field label={`Type “${name}” to confirm`}>{(a) => <input {...a} value={typed} autoComplete="off" spellcheck={false} onInput={(e) => type(e.currentTarget.value)} />}</Field>}
		</FormDialog>
	);
}

/** A few alternatives, of which one is chosen. */
export function Choice<T extends string>({ label, options, value, onChange }: { label: string; options: [T, string][]; value: T; onChange: (v: T) => void }) {
	return (
		<div class="choice" role="group" aria-label={label}>
			{options.map(([v, text]) => (
				<button key={v} type="button" aria-pressed={v === value} onClick={() => onChange(v)}>
					{text}
				</button>
			))}
		</div>
	);
}

/** The icon of a collection, or its first letter. */
export function Mark({ name, url }: { name: string; url?: string }) {
	const [broken, set] = useState("");
	if (url && url !== broken && /^(https|data):/.test(url)) return <img class="icon" src={url} alt="" width={32} height={32} loading="lazy" onError={() => set(url)} />;
	return (
		<span class="icon" aria-hidden="true">
			{[...name][0]?.toUpperCase()}
		</span>
	);
}
