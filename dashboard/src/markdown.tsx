// Renders the Markdown of answers. Only the elements below can come out: text never becomes
// markup, and links lead to web and mail addresses only.
import type { ComponentChildren, VNode } from "preact";

export function Markdown({ text }: { text: string }) {
	return <div class="text">{blocks(text.replace(/\r\n?/g, "\n").split("\n"))}</div>;
}

const item = /^(\s{0,3})([-*+]|\d{1,9}[.)])\s+/;

/** How deep quotations and lists nest. What is deeper is shown as a paragraph. */
const deepest = 20;

/** Returns the blocks of lines, which are nested depth deep. */
function blocks(lines: string[], depth = 0): VNode[] {
	const out: VNode[] = [];
	let i = 0;
	const take = (belongs: (line: string) => boolean): string[] => {
		const from = i;
		while (i < lines.length && belongs(lines[i] ?? "")) i++;
		return lines.slice(from, i);
	};
	while (i < lines.length) {
		const line = lines[i] ?? "";
		const fence = /^\s{0,3}(```+|~~~+)/.exec(line)?.[1];
		const heading = /^\s{0,3}(#{1,6})\s+(.*?)\s*#*$/s.exec(line); // s: a separator such as U+2028 does not end a line here
		if (line.trim() === "") {
			i++;
		} else if (depth === deepest) {
			out.push(<p>{spans(take(() => true).join("\n"))}</p>);
		} else if (fence !== undefined) {
			i++;
			const code = take((l) => !l.trimStart().startsWith(fence));
			i++;
			out.push(<pre tabIndex={0}>{<code>{code.join("\n")}</code>}</pre>);
		} else if (heading) {
			i++;
			out.push(<h3>{spans(heading[2] ?? "")}</h3>);
		} else if (/^\s{0,3}>/.test(line)) {
			const quoted = take((l) => /^\s{0,3}>/.test(l) || (l.trim() !== "" && !item.test(l)));
			out.push(<blockquote>{blocks(quoted.map((l) => l.replace(/^\s{0,3}>\s?/, "")), depth + 1)}</blockquote>);
		} else if (item.test(line)) {
			out.push(list(take((l) => l.trim() !== "" || item.test(lines[i + 1] ?? "") || /^\s{2,}\S/.test(lines[i + 1] ?? "")), depth + 1));
		} else if (/^\s{0,3}([-*_])(\s*\1){2,}\s*$/.test(line)) {
			i++;
		} else if (line.includes("|") && /^\s*\|?\s*:?-+/.test(lines[i + 1] ?? "")) {
			out.push(table(take((l) => l.includes("|"))));
		} else {
			out.push(<p>{spans(take((l) => l.trim() !== "" && !/^\s{0,3}(#{1,6}\s|>|```|~~~)/.test(l) && (l === line || !item.test(l))).join("\n"))}</p>);
		}
	}
	return out;
}

function list(lines: string[], depth: number): VNode {
	const items: string[][] = [];
	for (const line of lines) {
		const found = item.exec(line);
		if (found || items.length === 0) items.push([line.replace(item, "")]);
		else items[items.length - 1]?.push(line.replace(/^\s{1,4}/, ""));
	}
	const children = items.map((lines) => <li>{lines.length === 1 ? spans(lines[0] ?? "") : blocks(lines, depth)}</li>);
	const start = /^\s*(\d+)/.exec(lines[0] ?? "")?.[1];
	return start ? <ol start={Number(start)}>{children}</ol> : <ul>{children}</ul>;
}

function table(lines: string[]): VNode {
	const cells = (line: string) => line.trim().replace(/^\||\|$/g, "").split("|").map((c) => c.trim());
	const [head, , ...rows] = lines.map(cells);
	return (
		<div class="table" tabIndex={0}>
			<table>
				<thead>
					<tr>{head?.map((c) => <th scope="col">{spans(c)}</th>)}</tr>
				</thead>
				<tbody>
					{rows.map((r) => (
						<tr>{r.map((c) => <td>{spans(c)}</td>)}</tr>
					))}
				</tbody>
			</table>
		</div>
	);
}

const span = /(`+)(.+?)\1(?!`)|\*\*(.+?)\*\*|__(.+?)__|(?<![\w*])\*(?!\s)(.+?)\*(?!\w)|(?<!\w)_(?!\s)(.+?)_(?!\w)|!?\[((?:[^\[\]\\]|\\.)*)\]\(<?([^\s<>]+?)>?(?:\s+"[^"]*")?\)|<((?:https?|mailto):[^\s<>]+)>|\\([!-/:-@[-`{-~])/s;

/** Returns the text with its emphasis, code and links. */
function spans(text: string): ComponentChildren[] {
	const out: ComponentChildren[] = [];
	while (text !== "") {
		const m = span.exec(text);
		if (!m) {
			out.push(text);
			break;
		}
		if (m.index > 0) out.push(text.slice(0, m.index));
		const [whole, , code, strong, strong2, em, em2, label, address, bare, escaped] = m;
		if (code !== undefined) out.push(<code>{code}</code>);
		else if (strong !== undefined || strong2 !== undefined) out.push(<strong>{spans(strong ?? strong2 ?? "")}</strong>);
		else if (em !== undefined || em2 !== undefined) out.push(<em>{spans(em ?? em2 ?? "")}</em>);
		else if (address !== undefined) out.push(<Link to={address}>{spans(label || address)}</Link>);
		else if (bare !== undefined) out.push(<Link to={bare}>{bare}</Link>);
		else out.push(escaped);
		text = text.slice(m.index + whole.length);
	}
	return out;
}

/** A link that leaves the dashboard. An address of another scheme is shown as text. */
export function Link({ to, children }: { to: string; children: ComponentChildren }) {
	if (!/^(https?|mailto):/i.test(to)) return <span title={to}>{children}</span>;
	return (
		<a href={to} target="_blank" rel="noopener noreferrer">
			{children}
		</a>
	);
}
