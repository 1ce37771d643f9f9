import { useState } from "preact/hooks";
import { base, call } from "../api";
import { useLoad } from "../load";
import { Confirm, Empty, Loaded, Page, Snippet, Table, Time } from "../ui";

interface Agent {
	id: string;
	name: string;
	host: string;
	createdAt: string;
	refreshedAt: string | null;
}

/** Settings, Connected programs. */
export function Agents() {
	const agents = useLoad(() => call<Agent[]>("/agents"));
	const [ending, end] = useState<Agent>();
	return (
		<Page title="Connected programs" about="Assistants and other programs that search and read in your name. To connect one, give it this address.">
			<Snippet text={`${base}/mcp`} what="the address for programs" />
			{ending && (
				<Confirm
					title={`Disconnect ${ending.name || "the program"}`}
					verb="Disconnect program"
					onClose={() => end(undefined)}
					onDone={async () => {
						await call(`/agents/${ending.id}`, { method: "DELETE" });
						agents.again();
					}}
				>
					<p>It can no longer search and read in your name. To connect it again, it asks for your consent again.</p>
				</Confirm>
			)}
			<Loaded of={agents}>
				{(list) =>
					list.length === 0 ? (
						<Empty title="No program is connected">Add the address above as a custom connector in your assistant. It asks for your consent here.</Empty>
					) : (
						<Table
							rows={list}
							columns={[
								[
									"Program",
									(a) => (
										<div class="wrap">
											<b>{a.name || "Without a name"}</b> <span class="quiet">{a.host}</span>
										</div>
									),
								],
								["Connected", (a) => <Time at={a.createdAt} />, "fit"],
								["Last renewed", (a) => <Time at={a.refreshedAt} />, "fit"],
								[
									"",
									(a) => (
										<button type="button" class="plain" onClick={() => end(a)}>
											Disconnect<span class="hidden"> {a.name}</span>
										</button>
									),
									"fit",
								],
							]}
						/>
					)
				}
			</Loaded>
		</Page>
	);
}
