// The forms of data sources, made from the providers and their settings.
import { useState } from "preact/hooks";
import { call } from "../api";
import list from "../providers.json";
import type { DataSource } from "../types";
import { Field, FormDialog, secretField } from "../ui";

export interface Setting {
	name: string;
	label: string;
	kind: string; // text, url, list or secret
	help: string;
	placeholder?: string;
	either?: string; // those of a provider with the same text exclude each other
	choices?: string[];
	required?: boolean;
	parts?: boolean;
}

interface Provider {
	name: string;
	title: string;
	imported: boolean; // whether a source without settings is filled by import
	settings: Setting[];
	webhook?: { label: string; guide: string };
}

const providers: Provider[] = list;

export const providerOf = (name: string) => providers.find((p) => p.name === name);

/** What the form has for each setting; a list has an entry per line. */
type Values = Record<string, string>;

const entries = (text: string) =>
	text
		.split("\n")
		.map((line) => line.trim())
		.filter((line) => line !== "");

/** Returns the settings that differ from before; null removes one. */
function changed(settings: Setting[], values: Values, before: Values) {
	const out: Record<string, string | string[] | null> = {};
	for (const { name, kind } of settings) {
		const text = kind === "list" ? entries(values[name] ?? "").join("\n") : (values[name] ?? "").trim();
		if (text !== (before[name] ?? "")) out[name] = text === "" ? null : kind === "list" ? text.split("\n") : text;
	}
	return out;
}

function Settings({ of, values, editing, onChange }: { of: Setting[]; values: Values; editing?: boolean; onChange: (v: Values) => void }) {
	return (
		<>
			{of.map((s) => {
				const others = of.filter((o) => o !== s && o.either !== undefined && o.either === s.either);
				const missing = others.length > 0 && others.every((o) => !values[o.name]?.trim());
				const hint = [
					!s.required && others.length === 0 && !editing && "Optional.",
					s.help,
					s.kind === "list" && "One per line.",
					others.length > 0 && `Either this or ${others.map((o) => o.label).join(", ")}.`,
					s.kind === "secret" && (editing ? "Leave it empty to keep the current one." : "It is stored encrypted."),
					editing && s.parts && "Entries that stay are not read again. The items of entries that you remove are removed.",
				];
				const set = (e: { currentTarget: { value: string } }) => onChange({ ...values, [s.name]: e.currentTarget.value });
				const common = { value: values[s.name] ?? "", required: (s.required || missing) && !(editing && s.kind === "secret") };
				return (
					<Field key={s.name} label={s.label} hint={hint.filter(Boolean).join(" ")}>
						{(a) => {
							if (s.choices)
								return (
									<select {...a} {...common} onChange={set}>
										<option value="">{s.required ? "Choose one" : "Default"}</option>
										{s.choices.map((c) => (
											<option key={c}>{c}</option>
										))}
									</select>
								);
							if (s.kind === "list") return <textarea {...a} {...common} rows={3} placeholder={s.placeholder} onInput={set} />;
							if (s.kind === "secret") return <input {...a} {...common} type="password" autoComplete={secretField} onInput={set} />;
							if (s.kind === "url") return <input {...a} {...common} type="url" placeholder="https://" onInput={set} />;
							return <input {...a} {...common} placeholder={s.placeholder} onInput={set} />;
						}}
					</Field>
				);
			})}
		</>
	);
}

/** Changes the name, the settings and the secrets of a data source. */
export function Edit({ of, onClose, onDone }: { of: DataSource; onClose: () => void; onDone: () => void }) {
	const before: Values = Object.fromEntries(Object.entries(of.settings).map(([name, value]) => [name, typeof value === "string" ? value : value.join("\n")]));
	const [name, setName] = useState(of.name);
	const [values, setValues] = useState(before);
	const provider = providerOf(of.provider);
	const imported = provider?.imported && Object.keys(of.settings).length === 0;
	const settings = (!imported && provider?.settings) || [];
	return (
		<FormDialog
			title={`Edit ${of.name}`}
			verb="Save"
			onClose={onClose}
			onSubmit={async () => {
				await call(`/data-sources/${of.id}`, { method: "PATCH", body: { name: name.trim(), settings: changed(settings, values, before) } });
				onDone();
			}}
		>
			<div class="stack">
				<Field label="Name">{(a) => <input {...a} required maxLength={100} value={name} onInput={(e) => setName(e.currentTarget.value)} />}</Field>
				<Settings of={settings} values={values} editing onChange={setValues} />
			</div>
		</FormDialog>
	);
}

/** What a source can be connected to: what a connector reads, then what imports fill. */
const kinds = [
	...providers.filter((p) => p.settings.length > 0).map((p) => ({ id: p.name, provider: p.name, title: p.title, settings: p.settings })),
	...providers.filter((p) => p.imported).map((p) => ({ id: `${p.name} imported`, provider: p.name, title: `${p.title}, imported`, settings: [] })),
];

export function Connect({ onClose, onDone }: { onClose: () => void; onDone: (s: DataSource) => void }) {
	const [kind, setKind] = useState(kinds[0]);
	const [name, setName] = useState("");
	const [values, setValues] = useState<Values>({});
	if (!kind) return null;
	return (
		<FormDialog
			title="Connect data source"
			verb="Connect"
			onClose={onClose}
			onSubmit={async () => {
				const body = { provider: kind.provider, name: name.trim(), settings: changed(kind.settings, values, {}) };
				onDone(await call<DataSource>("/data-sources", { method: "POST", body }));
			}}
		>
			<div class="stack">
				<Field label="Provider">
					{(a) => (
						<select
							{...a}
							value={kind.id}
							onChange={(e) => {
								setKind(kinds.find((k) => k.id === e.currentTarget.value));
								setValues({}); // a secret goes to the provider that it was typed for
							}}
						>
							{kinds.map((k) => (
								<option key={k.id} value={k.id}>
									{k.title}
								</option>
							))}
						</select>
					)}
				</Field>
				<Field label="Name">{(a) => <input {...a} required maxLength={100} value={name} onInput={(e) => setName(e.currentTarget.value)} />}</Field>
				<Settings of={kind.settings} values={values} onChange={setValues} />
			</div>
		</FormDialog>
	);
}
