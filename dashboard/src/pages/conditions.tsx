// The filter of a search, as a form: conditions on metadata and facts, all of which hold.
import { useState } from "preact/hooks";
import { Icon } from "../icons";

type Operator = "is" | "not" | "in" | "gte" | "lte" | "exists" | "missing";

export interface Condition {
	key: number; // of the row, not of the document
	name: string;
	operator: Operator;
	value: string;
}

const operators: [Operator, string][] = [
	["is", "is"],
	["not", "is not"],
	["in", "is one of"],
	["gte", "at least"],
	["lte", "at most"],
	["exists", "is there"],
	["missing", "is not there"],
];

const facts = ["author", "assignee", "project", "number", "state", "labels", "createdAt", "updatedAt", "closedAt", "mergedAt"];

type Scalar = string | number | boolean;

/** Returns what a typed value can mean: the text, and the number or boolean that it reads as. */
function meanings(text: string): Scalar[] {
	if (text === "true" || text === "false") return [text, text === "true"];
	if (/^-?\d+(\.\d+)?$/.test(text)) return [text, Number(text)];
	return [text];
}

function one(c: Condition): object {
	const text = c.value.trim();
	const of = (m: Scalar[]) => ({ [c.name]: m.length === 1 ? m[0] : { in: m } });
	switch (c.operator) {
		case "is":
			return of(meanings(text));
		case "not":
			return { not: of(meanings(text)) };
		case "in": {
			const all = text.split(",").map((t) => t.trim()).filter((t) => t !== "");
			return { [c.name]: { in: all.flatMap(meanings) } };
		}
		case "gte":
		case "lte":
			return { [c.name]: { [c.operator]: meanings(text).at(-1) } };
		default:
			return { [c.name]: { exists: c.operator === "exists" } };
	}
}

/** Returns the API's filter of conditions; those without a name are left out. */
export function filterOf(conditions: Condition[]): object | undefined {
	const all = conditions.map((c) => ({ ...c, name: c.name.trim() })).filter((c) => c.name !== "");
	if (all.length === 0) return undefined;
	return { and: all.map(one) };
}

let rows = 0;

/** The conditions, and the button that adds one. */
export function Conditions({ value, onChange }: { value: Condition[]; onChange: (c: Condition[]) => void }) {
	const [added, setAdded] = useState(0); // takes the focus
	const change = (key: number, to: Partial<Condition>) => onChange(value.map((c) => (c.key === key ? { ...c, ...to } : c)));
	return (
		<fieldset class="stack tight">
			<legend class="hidden">Filters by metadata</legend>
			<datalist id="facts">
				{facts.map((f) => (
					<option key={f} value={f} />
				))}
			</datalist>
			{value.map((c, i) => (
				<div key={c.key} class="row condition">
					<input ref={(e) => {
						if (e && c.key === added) {
							e.focus();
							setAdded(0);
						}
					}} aria-label={`Name in filter ${i + 1}`} placeholder="Name, such as product" list="facts" required pattern="[A-Za-z][A-Za-z0-9_]*" title="Letters, digits and _, starting with a letter" maxLength={40} autoComplete="off" spellcheck={false} value={c.name} onInput={(e) => change(c.key, { name: e.currentTarget.value })} />
					<select aria-label={`Comparison in filter ${i + 1}`} class="auto" value={c.operator} onChange={(e) => change(c.key, { operator: e.currentTarget.value as Operator })}>
						{operators.map(([v, text]) => (
							<option key={v} value={v}>
								{text}
							</option>
						))}
					</select>
					{c.operator !== "exists" && c.operator !== "missing" && (
						<input aria-label={`Value in filter ${i + 1}`} placeholder={c.operator === "in" ? "Values, with commas" : "Value"} required maxLength={1000} autoComplete="off" value={c.value} onInput={(e) => change(c.key, { value: e.currentTarget.value })} />
					)}
					<button type="button" class="plain" aria-label={`Remove filter ${i + 1}`} onClick={() => onChange(value.filter((x) => x.key !== c.key))}>
						<Icon name="close" />
					</button>
				</div>
			))}
			{value.length < 10 && (
				<div>
					<button type="button" onClick={() => {
						setAdded(++rows);
						onChange([...value, { key: rows, name: "", operator: "is", value: "" }]);
					}}>
						Add a filter
					</button>
				</div>
			)}
		</fieldset>
	);
}
