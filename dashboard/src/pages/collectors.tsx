import { useState } from "preact/hooks";
import readme from "../../../functions/securityevents/README.md";
import { base } from "../api";
import { Markdown } from "../markdown";
import { Dialog, Field, Snippet } from "../ui";

/** The recipes of the feed's README by the name of the collector, with the address of this server. */
const recipes = readme
	.replaceAll("${FEED}", base)
	.replaceAll("https://HOST", base.replace(/\/v1$/, ""))
	.split("\n## ")
	.slice(1)
	.map((section): [name: string, text: string] => [section.slice(0, section.indexOf("\n")), section.slice(section.indexOf("\n") + 1)])
	.filter(([name]) => name !== "After a restore");

/** Shows how a collector polls the feed of security events. */
export function Collectors({ onClose }: { onClose: () => void }) {
	const [chosen, choose] = useState("");
	const recipe = recipes.find(([name]) => name === chosen)?.[1];
	return (
		<Dialog wide title="Connect a collector" onClose={onClose}>
			<p>
				Use a team key with the scope Audit, in place of <code>KEY</code>. Each event comes at least once: drop repeats by <code>id</code>.
			</p>
			<Field label="Collector">
				{(a) => (
					<select {...a} value={chosen} onChange={(e) => choose(e.currentTarget.value)}>
						<option value="">Any program</option>
						{recipes.map(([name]) => (
							<option key={name}>{name}</option>
						))}
					</select>
				)}
			</Field>
			{recipe === undefined ? <AnyProgram /> : <Recipe key={chosen} text={recipe} />}
			<div class="actions">
				<button type="button" onClick={onClose}>
					Close
				</button>
			</div>
		</Dialog>
	);
}

function AnyProgram() {
	return (
		<>
			<p>
				Read <code>events</code>, save <code>nextCursor</code>, and send it as <code>after</code> with the next request. Continue at once while <code>hasMore</code> is true.
			</p>
			<Snippet text={`curl -H "Authorization: Bearer KEY" "${base}/security-events?limit=200"`} what="the request" />
			<p>Or let Docent do that, and print one event a line:</p>
			<Snippet text={`export DOCENT_SERVER=${base}\nexport DOCENT_API_KEY=KEY\ndocent events follow --cursor-file events.cursor`} what="the command" />
		</>
	);
}

/** A recipe, of which every block of code can be copied. */
function Recipe({ text }: { text: string }) {
	return <>{text.split(/^```.*\n/m).map((part, i) => (i % 2 ? <Snippet key={i} text={part.trimEnd()} what="the settings" /> : part.trim() && <Markdown key={i} text={part} />))}</>;
}
