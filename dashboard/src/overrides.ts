// Text of documents may have characters that reverse the letters after them, so that "gnp.exe" is read as "exe.png". They are
// shown as a mark that something is there, wherever a text is shown.
import { options } from "preact";

const shown = (child: unknown): unknown => {
	if (typeof child === "string") return child.replace(/[\u202d\u202e]/g, "\ufffd");
	return Array.isArray(child) ? child.map(shown) : child;
};

const before = options.vnode;
options.vnode = (node) => {
	const props = node.props as { children?: unknown };
	if (props.children !== undefined) props.children = shown(props.children);
	before?.(node);
};
