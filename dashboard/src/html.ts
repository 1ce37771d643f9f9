// Turns an HTML file into Markdown. The parsed document is never shown and runs no script.

interface Policy {
	createHTML(text: string): string;
}
const factory = (globalThis as { trustedTypes?: { createPolicy(name: string, rules: { createHTML: (t: string) => string }): Policy } }).trustedTypes;
const policy: Policy = factory?.createPolicy("read-html-file", { createHTML: (t) => t }) ?? { createHTML: (t) => t };

const skipped = new Set(["SCRIPT", "STYLE", "NOSCRIPT", "TEMPLATE", "NAV", "HEADER", "FOOTER", "ASIDE", "FORM", "IFRAME", "SVG", "HEAD"]);

export function readPage(text: string): { title: string; body: string } {
	const page = new DOMParser().parseFromString(policy.createHTML(text), "text/html");
	const articles = page.querySelectorAll("article");
	const from = page.querySelector("main") ?? (articles.length === 1 ? articles[0]! : page.body);
	return { title: page.title.trim() || (page.querySelector("h1")?.textContent ?? "").trim(), body: block(from).replace(/\n{3,}/g, "\n\n").trim() };
}

function block(node: Element): string {
	let out = "";
	for (const child of node.childNodes) {
		if (child instanceof Element) out += element(child);
		else if (child.nodeType === Node.TEXT_NODE) out += (child.textContent ?? "").replace(/\s+/g, " ");
	}
	return out;
}

function element(e: Element): string {
	const name = e.tagName.toUpperCase();
	if (skipped.has(name)) return "";
	const heading = /^H([1-6])$/.exec(name)?.[1];
	if (heading) return `\n\n${"#".repeat(Number(heading))} ${block(e).trim()}\n\n`;
	switch (name) {
		case "PRE":
			return `\n\n\`\`\`\n${e.textContent ?? ""}\n\`\`\`\n\n`;
		case "CODE":
			return "`" + (e.textContent ?? "") + "`";
		case "STRONG":
		case "B":
			return `**${block(e).trim()}**`;
		case "BR":
			return "\n";
		case "LI":
			return `\n- ${block(e).trim()}`;
		case "A": {
			const to = e.getAttribute("href") ?? "";
			return /^https?:/.test(to) ? `[${block(e).trim()}](${to})` : block(e);
		}
		case "TR":
			return `\n| ${[...e.children].map((c) => block(c).trim().replace(/\|/g, "\\|")).join(" | ")} |`;
		case "P":
		case "DIV":
		case "SECTION":
		case "ARTICLE":
		case "MAIN":
		case "BLOCKQUOTE":
		case "UL":
		case "OL":
		case "DL":
		case "DT":
		case "DD":
		case "FIGURE":
		case "FIGCAPTION":
		case "DETAILS":
		case "SUMMARY":
		case "ADDRESS":
		case "CAPTION":
		case "TABLE":
			return `\n\n${block(e).trim()}\n\n`;
		default:
			return block(e);
	}
}
