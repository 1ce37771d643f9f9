import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { call, Failure, page, type Page as ApiPage } from "../api";
import { count, plural } from "../format";
import { step, useAction, useEvery, useLoad } from "../load";
import { Link } from "../markdown";
import { put, putAgain, stopPut, useProgress, usePutting } from "../puts";
import { go, to, useCursors } from "../route";
import type { Collection as CollectionType, Document } from "../types";
import { Badge, Confirm, Empty, Head, Loaded, Mark, Page, Pager, Problem, Time } from "../ui";
import { accepted, chosen, dropped } from "../upload";
import { AccessDialog, readersOf } from "./access";
import { CollectionForm } from "./collections";

/** A collection with its documents, and the place to drop more. */
export function Collection({ id }: { id: string }) {
	const collection = useLoad(() => call<CollectionType>(`/collections/${id}`), [id]);
	const [dialog, open] = useState<"edit" | "delete">();
	const [changed, change] = useState(0);
	const c = collection.value;
	if (!c && collection.error) {
		return (
			<Page title="Collection">
				{collection.error instanceof Failure && collection.error.status === 404 ? (
					<Empty title="There is no such collection" actions={<a class="button" href={to("collections")}>All collections</a>}>
						It was deleted, or your key may not read it.
					</Empty>
				) : (
					<Problem error={collection.error} retry={collection.again} />
				)}
			</Page>
		);
	}
	return (
		<Page
			title={c?.name ?? "Collection"}
			icon={c && <Mark name={c.name} url={c.iconUrl} />}
			about={c?.description ?? "\u00a0"}
			actions={
				c && (
					<>
						<button type="button" onClick={() => open("edit")}>
							Edit
						</button>
						<button type="button" class="danger" onClick={() => open("delete")}>
							Delete
						</button>
					</>
				)
			}
		>
			<Uploads collectionId={id} onPut={() => change((n) => n + 1)} />
			<Documents collectionId={id} changed={changed} />
			{dialog === "edit" && c && (
				<CollectionForm
					of={c}
					onClose={() => open(undefined)}
					onDone={(after) => {
						collection.set(after);
						open(undefined);
					}}
				/>
			)}
			{dialog === "delete" && c && (
				<Confirm
					title={`Delete ${c.name}`}
					verb="Delete collection"
					name={c.name}
					onClose={() => open(undefined)}
					onDone={async () => {
						await call(`/collections/${id}`, { method: "DELETE" });
						go("collections");
					}}
				>
					<p>All its documents are deleted with it. They are gone from answers at once. This cannot be undone.</p>
				</Confirm>
			)}
		</Page>
	);
}

const leftOut = (files: number) => `${plural(files, "file was", "files were")} left out`;

/** Puts dropped or chosen files. */
function Uploads({ collectionId, onPut }: { collectionId: string; onPut: () => void }) {
	const [over, setOver] = useState(false);
	const [reading, read] = useState(false); // the names in a dropped folder, which may be many
	const progress = useProgress(collectionId);
	const folder = useRef<HTMLInputElement>(null);
	const files = useRef<HTMLInputElement>(null);
	const busy = reading || progress?.running === true;
	const again = progress?.failed.filter((f) => f.passes).length ?? 0;
	useEffect(() => folder.current?.setAttribute("webkitdirectory", ""), []);
	useEffect(() => {
		if (progress && !busy) onPut();
	}, [busy]);
	const take = (e: { currentTarget: HTMLInputElement }) => {
		const uploads = chosen(e.currentTarget.files ?? []);
		e.currentTarget.value = ""; // so that the same files may be chosen again
		if (uploads.length > 0) void put(collectionId, uploads);
	};
	return (
		<section class="stack" aria-label="Put documents">
			<div
				class={over ? "drop over" : "drop"}
				onDragOver={(e) => {
					if (busy) return; // the whole page refuses files
					e.preventDefault();
					e.stopPropagation();
					setOver(true);
				}}
				onDragLeave={() => setOver(false)}
				onDrop={(e) => {
					e.preventDefault();
					setOver(false);
					if (busy || !e.dataTransfer?.types.includes("Files")) return; // a text or a link of another page
					read(true);
					void dropped(e.dataTransfer.items).then((uploads) => {
						read(false);
						void put(collectionId, uploads);
					});
				}}
			>
				<h2>Drop files or a folder here</h2>
				<p class="quiet">Markdown, text, reStructuredText, HTML, PDF, Word, Excel and PowerPoint. A file that you drop again replaces its document.</p>
				<div class="row">
					<button type="button" disabled={busy} onClick={() => folder.current?.click()}>
						Choose a folder
					</button>
					<button type="button" disabled={busy} onClick={() => files.current?.click()}>
						Choose files
					</button>
				</div>
				<input ref={folder} class="hidden" type="file" multiple tabIndex={-1} aria-hidden="true" onChange={take} />
				<input ref={files} class="hidden" type="file" multiple tabIndex={-1} aria-hidden="true" accept={accepted} onChange={take} />
			</div>
			{reading && <p role="status">Reading the names of the files …</p>}
			{progress && !reading && (
				<div class="card stack">
					<p role="status">
						{progress.running ? `Putting ${plural(progress.total, "file")} …` : progress.total === 0 ? "The folder has no files." : `${plural(progress.put, "document")} put. ${progress.put > 0 ? "They can be found within a minute." : ""}`}
						{progress.lost && " The server cannot be reached. The rest is put when it can be reached again."}
						{!busy && progress.failed.length > 0 && <span class="hidden"> {leftOut(progress.failed.length)}</span>}
					</p>
					{progress.running && (
						<p class="small quiet" aria-hidden="true">
							{count(progress.put)} of {count(progress.total)} put
						</p>
					)}
					{progress.running && <progress value={progress.put + progress.failed.length + Object.values(progress.sending).reduce((a, b) => a + b, 0)} max={progress.total} aria-label="Upload" />}
					{progress.running &&
						Object.entries(progress.sending).map(([path, part]) => (
							<p key={path} class="small quiet wrap">
								{path}: {Math.floor(part * 100)} %
							</p>
						))}
					{progress.failed.length > 0 && (
						<details open={progress.put === 0}>
							<summary>{leftOut(progress.failed.length)}</summary>
							<ul class="list small">
								{progress.failed.slice(0, busy ? 100 : undefined).map((f) => (
									<li key={f.path} class="wrap">
										<b>{f.path}</b>: {f.why} {f.requestId && <code class="quiet">{f.requestId}</code>}
									</li>
								))}
							</ul>
						</details>
					)}
					{busy && (
						<div>
							<button type="button" onClick={() => stopPut(collectionId)}>
								Stop putting files
							</button>
						</div>
					)}
					{!busy && again > 0 && (
						<div>
							<button type="button" onClick={() => void putAgain(collectionId)}>
								Put {plural(again, "file")} again
							</button>
						</div>
					)}
				</div>
			)}
		</section>
	);
}

/** What a document is called: a title may be blank. */
const nameOf = (d: Document) => d.title.trim() || d.uri;

/** Reads what lists do not have, such as the state of indexing, and leaves out what was deleted. */
async function withStates(documents: Document[]): Promise<Document[]> {
	const all = await Promise.all(
		documents.map((d) =>
			call<Document>(`/documents/${d.id}`).then(
				(whole) => ({ ...d, access: whole.access, indexing: whole.indexing }),
				(e: unknown) => (e instanceof Failure && e.status === 404 ? undefined : { ...d, indexing: undefined }),
			),
		),
	);
	return all.filter((d) => d !== undefined);
}

/** The documents that match, and how many of the newest ones were searched. */
interface Found extends ApiPage<Document> {
	looked: number;
	rest: Document[]; // that were found and are not shown yet
}

const atATime = 25;

/** Returns the earlier finds with up to 25 more: the documents among the next 2,000 whose title or address contains the text. */
async function find(path: string, text: string, before?: Found): Promise<Found> {
	const found = before ? [...before.rest] : [];
	let looked = 0;
	let next = before?.next;
	for (let more = !before || next !== undefined; more && found.length <= atATime && looked < step; more = next !== undefined) {
		const p: ApiPage<Document> = await page<Document>(path, 200, next);
		found.push(...p.items.filter((d) => `${d.title}\n${d.uri}`.toLowerCase().includes(text.toLowerCase())));
		looked += p.items.length;
		next = p.next;
	}
	return {
		items: [...(before?.items ?? []), ...(await withStates(found.slice(0, atATime)))],
		rest: found.slice(atATime),
		next,
		looked: (before?.looked ?? 0) + looked,
	};
}

/** Two functions: again returns what was found with its current states, or searches if nothing was; on searches further. */
function useFinding(path: string, text: string, changed: number) {
	const search = useMemo<{ shown?: Found }>(() => ({}), [path, text, changed]);
	const again = useCallback(async () => {
		const before = search.shown;
		const now = before ? { ...before, items: await withStates(before.items) } : await find(path, text);
		if (search.shown === before) search.shown = now; // else more was found in the meantime
		return search.shown ?? now;
	}, [search]);
	const latest = useRef(search);
	latest.current = search;
	const on = async () => {
		const found = await find(path, text, search.shown);
		if (latest.current === search) return (search.shown = found); // else something else is looked for by now
	};
	return { again, on };
}

function Documents({ collectionId, changed }: { collectionId: string; changed: number }) {
	const [after, setAfter] = useCursors();
	const [text, type] = useState("");
	const [wanted, want] = useState(""); // empty: all
	const path = `/documents?collectionId=${collectionId}`;
	const finding = useFinding(path, wanted, changed);
	const looking = useAction();
	const list = useLoad<ApiPage<Document> & Partial<Found>>(async () => {
		if (wanted) return finding.again();
		const p = await page<Document>(path, atATime, after.at(-1));
		return { ...p, items: await withStates(p.items) };
	}, [after, finding.again]);
	const found = wanted ? list.value : undefined;
	const more = async () => {
		const now = await finding.on();
		if (now) list.set(now);
	};
	const [opened, open] = useState<Document>();
	const [deleting, remove] = useState<Document>();
	const putting = usePutting(collectionId);
	useEvery(2000, putting || (list.value?.items.some((d) => d.indexing?.state === "pending" || d.indexing?.state === "extracting") ?? false), list.again);
	return (
		<section class="stack" aria-label="Documents">
			<div class="row between">
				<h2>Documents</h2>
				<form
					class="row"
					role="search"
					onSubmit={(e) => {
						e.preventDefault();
						want(text.trim());
						setAfter([]);
					}}
				>
					<input class="search" type="search" aria-label="Find documents" placeholder="Title or address" maxLength={1000} value={text} onInput={(e) => type(e.currentTarget.value)} />
					<button disabled={text.trim() === wanted}>{text.trim() === "" && wanted ? "Show all" : "Find"}</button>
				</form>
			</div>
			{deleting && (
				<Confirm
					title={`Delete “${nameOf(deleting)}”`}
					verb="Delete document"
					onClose={() => remove(undefined)}
					onDone={async () => {
						await call(`/documents/${deleting.id}`, { method: "DELETE" });
						if (list.value?.items.length === 1 && after.length > 0) setAfter(after.slice(0, -1)); // the page is empty now
						else list.again();
					}}
				>
					<p>It is gone from answers at once. This cannot be undone.</p>
				</Confirm>
			)}
			{opened && <AccessDialog document={opened} onClose={() => open(undefined)} onSaved={list.again} />}
			<Loaded of={list}>
				{(p) =>
					p.items.length === 0 && after.length === 0 ? (
						wanted ? (
							<Empty title={`No document has “${wanted}”`}>Documents are found if their title or address contains the whole text.</Empty>
						) : (
							<Empty title="No documents yet">{putting ? "The first ones are on their way." : "Drop a folder above. Each file becomes a document that answers can quote."}</Empty>
						)
					) : (
						<>
							<div class="table cards">
								<table>
									<Head names={["Title", "State", "Changed", ""]} />
									<tbody>
										{p.items.map((d) => (
											<tr key={d.id}>
												<td data-label="Title">
													<div class="wrap">
														<b>{nameOf(d)}</b>
														<div class="quiet">
															<Link to={d.uri}>{d.uri}</Link>
														</div>
														<Metadata of={d} />
														{d.access && <div class="small quiet">{readersOf(d.access)}</div>}
														{d.indexing?.error && <div>{d.indexing.error.detail}</div>}
													</div>
												</td>
												<td data-label="State" class="fit">
													<State of={d} />
												</td>
												<td data-label="Changed" class="fit">
													<Time at={d.updatedAt} />
												</td>
												<td data-label="" class="fit">
													<button type="button" class="plain" onClick={() => open(d)}>
														Readers<span class="hidden"> of {nameOf(d)}</span>
													</button>
													<button type="button" class="plain" onClick={() => remove(d)}>
														Delete<span class="hidden"> {nameOf(d)}</span>
													</button>
												</td>
											</tr>
										))}
									</tbody>
								</table>
							</div>
							{!wanted && <Pager after={after} next={p.next} onGo={setAfter} />}
						</>
					)
				}
			</Loaded>
			<Problem error={looking.error} />
			{found?.looked !== undefined && (found.rest?.length || found.next) && (
				<div class="row">
					<button type="button" disabled={looking.busy} onClick={() => looking.run(more)}>
						{found.rest?.length ? "Show more documents" : "Look at older documents"}
					</button>
					<span class="small quiet">{found.rest?.length ? `The newest ${found.items.length} that have the text are shown.` : `The newest ${count(found.looked)} documents were looked at.`}</span>
				</div>
			)}
		</section>
	);
}

/** The metadata of a document, as names and values. */
function Metadata({ of }: { of: Document }) {
	const all = Object.entries(of.metadata ?? {});
	if (all.length === 0) return null;
	return (
		<dl class="metadata small" aria-label={`Metadata of ${nameOf(of)}`}>
			{all.map(([name, value]) => (
				<div key={name}>
					<dt>{name}</dt>
					<dd>{Array.isArray(value) ? value.join(", ") : String(value)}</dd>
				</div>
			))}
		</dl>
	);
}

function State({ of }: { of: Document }) {
	switch (of.indexing?.state) {
		case "extracting":
			return <Badge tone="accent">Reading</Badge>;
		case "pending":
			return <Badge tone="accent">Indexing</Badge>;
		case "failed":
			return <Badge tone="bad">Failed</Badge>;
		case "indexed":
			return <Badge tone="good">Ready</Badge>;
		default:
			return <span class="quiet">Not known</span>; // it could not be read
	}
}
