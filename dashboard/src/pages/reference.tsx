import { useState } from "preact/hooks";
import { base, forPerson, lost } from "../api";
import { useAction, useLoad } from "../load";
import { Badge, Choice, Copy, Empty, Field, Loaded, Page, Problem } from "../ui";

interface Parameter {
	name: string;
	in: "path" | "query" | "header";
	type: string;
	required?: boolean;
	doc?: string;
}

interface Operation {
	id: string;
	method: string;
	path: string;
	tag: string;
	summary: string;
	parameters?: Parameter[];
	media?: string;
	body?: Parameter[];
	example?: unknown;
	reply?: unknown;
	statuses: string[];
}

interface Reference {
	tags: { name: string; about: string }[];
	operations: Operation[];
}

/** Every operation of the API, each to be tried with the session. */
export function Reference() {
	const reference = useLoad(() =>
		fetch("reference.json", { cache: "no-cache" })
			.then((r) => {
				if (!r.ok) throw new Error("The reference cannot be loaded. Try again.");
				return r.json() as Promise<Reference>;
			})
			.catch((cause: unknown) => {
				throw cause instanceof TypeError ? lost(cause) : cause;
			}),
	);
	const [filter, setFilter] = useState("");
	const words = filter.toLowerCase().split(/\s+/);
	return (
		<Page title="API reference" about="Every operation. Try one here: it runs as you, on your team’s data." actions={<input class="search" type="search" aria-label="Filter operations" placeholder="Filter operations" value={filter} onInput={(e) => setFilter(e.currentTarget.value)} />}>
			<p class="quiet">
				The base address is <code class="wrap">{base}</code>. Outside of this page, send a key in the header <code>Authorization: Bearer …</code>
			</p>
			<Loaded of={reference} bones={8}>
				{(r) => {
					const shown = r.operations.filter((o) => words.every((w) => `${o.method} ${o.path} ${o.summary} ${o.tag}`.toLowerCase().includes(w)));
					if (shown.length === 0) return <Empty title="No such operation">Try fewer words.</Empty>;
					return r.tags
						.filter((t) => shown.some((o) => o.tag === t.name))
						.map((t) => (
							<section key={t.name} class="stack">
								<div>
									<h2>{t.name}</h2>
									<p class="quiet">{t.about}</p>
								</div>
								<div class="card ops">
									{shown
										.filter((o) => o.tag === t.name)
										.map((o) => (
											<OneOperation key={o.id} of={o} />
										))}
								</div>
							</section>
						));
				}}
			</Loaded>
		</Page>
	);
}

function OneOperation({ of }: { of: Operation }) {
	const [open, setOpen] = useState(false);
	return (
		<details onToggle={(e) => setOpen(e.currentTarget.open)}>
			<summary>
				<span class={`method ${of.method.toLowerCase()}`}>{of.method}</span>
				<code class="wrap">{of.path}</code>
				<span class="quiet">{of.summary}</span>
			</summary>
			{open && (
				<div class="body">
					<Parameters title="Parameters" of={of.parameters ?? []} />
					<Parameters title={`Body${of.media ? `, ${of.media}` : ""}`} of={of.body ?? []} />
					{of.reply !== undefined && (
						<div class="stack tight">
							<h3>Reply</h3>
							<pre class="block" tabIndex={0}>{JSON.stringify(of.reply, null, 2)}</pre>
						</div>
					)}
					<div class="row">
						{of.statuses.map((s) => (
							<Badge key={s} tone={s < "300" ? "good" : ""}>
								{s}
							</Badge>
						))}
					</div>
					<Example of={of} />
					<Try of={of} />
				</div>
			)}
		</details>
	);
}

function Parameters({ title, of }: { title: string; of: Parameter[] }) {
	if (of.length === 0) return null;
	return (
		<div class="stack tight">
			<h3>{title}</h3>
			<dl class="facts small">
				{of.map((p) => (
					<>
						<dt>
							<code>{p.name}</code>
						</dt>
						<dd>
							{p.type}
							{p.required && ", required"}
							{p.doc && <span class="quiet"> {p.doc}</span>}
						</dd>
					</>
				))}
			</dl>
		</div>
	);
}

type Language = "curl" | "typescript" | "python" | "go";

/** The call in four languages. */
function code(o: Operation, language: Language): string {
	const url = base + o.path;
	const media = o.media ?? "";
	const isJSON = media === "application/json";
	const body = media && (isJSON ? JSON.stringify(o.example ?? {}) : "BODY");
	switch (language) {
		case "curl":
			return [`curl -sS${o.method === "GET" ? "" : ` -X ${o.method}`} '${url}'`, `-H "Authorization: Bearer $DOCENT_API_KEY"`, ...(body ? [`-H 'Content-Type: ${media}'`, `${isJSON ? "-d" : "--data-binary"} '${body}'`] : [])].join(" \\\n  ");
		case "typescript":
			return `const reply = await fetch("${url}", {\n  method: "${o.method}",\n  headers: {\n    Authorization: \`Bearer \${process.env.DOCENT_API_KEY}\`,${body ? `\n    "Content-Type": "${media}",` : ""}\n  },${body ? `\n  body: ${isJSON ? `JSON.stringify(${body})` : `"${body}"`},` : ""}\n});\nconsole.log(reply.status, await reply.text());`;
		case "python":
			return `import json, os, urllib.request\n\nrequest = urllib.request.Request(\n    "${url}", method="${o.method}",\n    headers={"Authorization": "Bearer " + os.environ["DOCENT_API_KEY"]${body ? `, "Content-Type": "${media}"` : ""}},${body ? `\n    data=${isJSON ? `json.dumps(json.loads(${JSON.stringify(body)})).encode()` : `b"${body}"`},` : ""}\n)\nprint(urllib.request.urlopen(request).read().decode())`;
		case "go":
			return `request, err := http.NewRequest("${o.method}", "${url}", ${body ? `strings.NewReader(\`${body}\`)` : "nil"})\nif err != nil {\n\treturn err\n}\nrequest.Header.Set("Authorization", "Bearer "+os.Getenv("DOCENT_API_KEY"))${body ? `\nrequest.Header.Set("Content-Type", "${media}")` : ""}\nreply, err := http.DefaultClient.Do(request)`;
	}
}

function Example({ of }: { of: Operation }) {
	const [language, setLanguage] = useState<Language>("curl");
	const text = code(of, language);
	return (
		<div class="stack">
			<div class="row between">
				<Choice
					label="Language"
					options={[
						["curl", "curl"],
						["typescript", "TypeScript"],
						["python", "Python"],
						["go", "Go"],
					]}
					value={language}
					onChange={setLanguage}
				/>
				<Copy text={text} what="the example" />
			</div>
			<pre class="block" tabIndex={0}>{text}</pre>
		</div>
	);
}

interface Reply {
	status: number;
	text: string;
	took: number;
	requestId: string;
}

function Try({ of }: { of: Operation }) {
	const own = (of.parameters ?? []).filter((p) => p.in !== "header");
	const [values, setValues] = useState<Record<string, string>>({});
	const [body, setBody] = useState(of.media === "application/json" ? JSON.stringify(of.example ?? {}, null, 2) : "");
	const [reply, setReply] = useState<Reply>();
	const [sure, setSure] = useState(false);
	const action = useAction();
	const run = () =>
		action.run(async () => {
			let path = of.path;
			const query = new URLSearchParams();
			for (const p of own) {
				const v = values[p.name] ?? "";
				if (p.in === "path") path = path.replace(`{${p.name}}`, encodeURIComponent(v));
				else if (v !== "") query.set(p.name, v);
			}
			const began = performance.now();
			const sent = fetch(`${base}${path}${query.size ? `?${query}` : ""}`, {
				method: of.method,
				headers: { ...forPerson(), ...(of.media && body && { "Content-Type": of.media }) },
				body: of.media && body ? body : undefined,
			});
			const [r, text] = await sent.then(async (r) => [r, await shown(r)] as const).catch((cause: unknown) => {
				throw lost(cause);
			});
			setSure(false);
			setReply({ status: r.status, text: pretty(text), took: Math.round(performance.now() - began), requestId: r.headers.get("X-Request-Id") ?? "" });
		});
	const destroys = of.method === "DELETE";
	return (
		<form
			class="stack"
			onSubmit={(e) => {
				e.preventDefault();
				if (destroys && !sure) setSure(true);
				else run();
			}}
		>
			<h3>Try it</h3>
			{own.map((p) => (
				<Field key={p.name} label={p.name}>
					{(a) => <input {...a} required={p.required} value={values[p.name] ?? ""} onInput={(e) => setValues({ ...values, [p.name]: e.currentTarget.value })} />}
				</Field>
			))}
			{of.media && <Field label="Body">{(a) => <textarea {...a} class="mono" rows={6} spellcheck={false} value={body} onInput={(e) => setBody(e.currentTarget.value)} />}</Field>}
			<div class="row">
				<button class={destroys ? "danger" : ""} disabled={action.busy}>
					{sure ? "Yes, send it" : `Send ${of.method}`}
				</button>
				{sure && <span class="quiet">This changes your team’s data.</span>}
			</div>
			<Problem error={action.error} />
			{reply && (
				<div class="stack tight" aria-live="polite">
					<div class="row small">
						<Badge tone={reply.status < 300 ? "good" : "bad"}>{reply.status}</Badge>
						<span class="quiet">
							{reply.took} ms, request <code>{reply.requestId}</code>
						</span>
					</div>
					{reply.text && <pre class="block" tabIndex={0}>{reply.text}</pre>}
				</div>
			)}
		</form>
	);
}

/** Returns the text of a reply. A file is not read: many megabytes of it would stop the page for minutes. */
async function shown(r: Response): Promise<string> {
	const media = r.headers.get("Content-Type") ?? "";
	if (media === "" || /^text\/|json|xml\b/.test(media)) return r.text();
	await r.body?.cancel();
	return `A file of the type ${media}, which is not shown here.`;
}

function pretty(text: string): string {
	try {
		return JSON.stringify(JSON.parse(text), null, 2);
	} catch {
		return text;
	}
}
