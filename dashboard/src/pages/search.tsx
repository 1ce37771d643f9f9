import { useState } from "preact/hooks";
import { call } from "../api";
import { plural } from "../format";
import { useLoad } from "../load";
import { Link } from "../markdown";
import { to, useRoute } from "../route";
import type { Found } from "../types";
import { Badge, Choice, Empty, Page, Problem } from "../ui";
import { type Condition, Conditions, filterOf } from "./conditions";

type Space = "" | "documentation" | "messages" | "code" | "prs" | "issues";
const spaces: [Space, string][] = [
	["", "Everything"],
	["documentation", "Documentation"],
	["messages", "Messages"],
	["code", "Code"],
	["prs", "Pull requests"],
	["issues", "Issues"],
];

interface Asked {
	query: string;
	space: Space;
	filter?: object;
	limit: number;
}

/** How many results are shown at first, and at most: the API has no further ones. */
const few = 20;
const most = 50;

/** Search of collections and connected data sources. */
export function Search() {
	const [, opened = "", where] = useRoute(); // the search that the address has
	const [query, setQuery] = useState(opened);
	const [space, setSpace] = useState<Space>(spaces.find(([s]) => s === where)?.[0] ?? "");
	const [conditions, setConditions] = useState<Condition[]>([]);
	const [asked, ask] = useState<Asked | undefined>(opened.trim() === "" ? undefined : { query: opened.trim(), space, limit: few });
	const search = (space: Space) => {
		const text = query.trim();
		if (text === "") return;
		ask({ query: text, space, filter: filterOf(conditions), limit: few });
		history.replaceState(null, "", to("search", text, ...(space ? [space] : []))); // the way back leads to it
	};
	const results = useLoad(async () => {
		if (!asked) return undefined;
		const reply = await call<{ sources: Found[] }>(`/context/search${asked.space && "/" + asked.space}`, { method: "POST", body: { query: asked.query, limit: asked.limit, filter: asked.filter } });
		return { asked, sources: reply.sources };
	}, [asked]);
	const found = results.error === undefined ? results.value : undefined;
	const busy = asked !== results.value?.asked && results.error === undefined; // the results are of the search before
	return (
		<Page title="Search" about="Find the passages themselves: in collections, code, pull requests, issues and messages.">
			<form
				class="stack"
				role="search"
				onSubmit={(e) => {
					e.preventDefault();
					search(space);
				}}
			>
				<div class="row">
					<input class="search" type="search" aria-label="Search for" placeholder="Search for" maxLength={1000} value={query} onInput={(e) => setQuery(e.currentTarget.value)} />
					<button class="primary" disabled={busy || query.trim() === ""}>
						Search
					</button>
				</div>
				<div>
					<Choice
						label="Where"
						options={spaces}
						value={space}
						onChange={(s) => {
							setSpace(s);
							search(s);
						}}
					/>
				</div>
				<Conditions value={conditions} onChange={setConditions} />
			</form>
			<Problem error={results.error} retry={results.again} />
			{!asked && <Empty title="Search by words or by meaning">The passages that fit best come first, with a link to where they are from. To get an answer instead, ask.</Empty>}
			{found?.sources.length === 0 && (
				<Empty title={`Nothing matches “${found.asked.query}”`}>{conditions.length > 0 ? "Try other words, another tab, or fewer filters." : "Try other words, or another tab."}</Empty>
			)}
			{found && found.sources.length > 0 && (
				<div class="stack" aria-live="polite" aria-busy={busy}>
					<p class="small quiet">
						{found.sources.length < found.asked.limit ? plural(found.sources.length, "result") : `The best ${found.asked.limit} results are shown.`}
						{found.sources.length === most && " Search with more words, in one tab or with a filter to find others."}
					</p>
					{found.sources.map((s) => (
						<article key={s.url + s.content} class="card stack tight">
							<div class="row between">
								<h2 class="wrap">
									<Link to={s.url}>{s.title?.trim() || s.url}</Link>
								</h2>
								<Badge>{s.provider === "custom" ? s.sourceType : `${s.provider} ${s.sourceType}`}</Badge>
							</div>
							<p class={s.sourceType === "code" ? "wrap lines mono" : "wrap lines"}>
								<Marked text={s.content.replace(/^(.+)\n\n(?=#{1,6} \1\n)/, "").slice(0, 600)} query={found.asked.query} />
							</p>
							<p class="small quiet wrap">{s.url}</p>
						</article>
					))}
					{found.sources.length === found.asked.limit && found.asked.limit < most && (
						<div>
							<button type="button" disabled={busy} onClick={() => ask({ ...found.asked, limit: most })}>
								Show more results
							</button>
						</div>
					)}
				</div>
			)}
		</Page>
	);
}

/** The text with the words of the query marked. */
function Marked({ text, query }: { text: string; query: string }) {
	const words = query.split(/[^\p{L}\p{N}]+/u).filter((w) => w.length > 2);
	if (words.length === 0) return <>{text}</>;
	const parts = text.split(new RegExp(`(${words.join("|")})`, "giu"));
	return <>{parts.map((p, i) => (i % 2 ? <mark>{p}</mark> : p))}</>;
}
