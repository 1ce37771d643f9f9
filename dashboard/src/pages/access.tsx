import { useState } from "preact/hooks";
import { call } from "../api";
import { useAction, useLoad } from "../load";
import { useAdmin } from "../session";
import type { Access, Document } from "../types";
import { Choice, Field, FormDialog, Loaded, Problem } from "../ui";

type Mode = "default" | "chosen";

/** Says in a few words who may read a document. */
export function readersOf(access: Access | undefined): string {
	if (!access) return "";
	const all = [...access.groups, ...access.users];
	if (all.length === 0) return "Read by nobody";
	return `Read by ${all.slice(0, 2).join(", ")}${all.length > 2 ? ` and ${all.length - 2} more` : ""}`;
}

const names = (text: string) =>
	text
		.split("\n")
		.map((n) => n.trim())
		.filter((n) => n !== "");

/** Shows and changes who may read a document, and shows whether a given person may. */
export function AccessDialog({ document, onClose, onSaved }: { document: Document; onClose: () => void; onSaved: () => void }) {
	// The list may not know who reads it, and somebody may have changed that since.
	const now = useLoad(() => call<Document>(`/documents/${document.id}`));
	const before = now.value?.access;
	const [mode = before ? "chosen" : "default", setMode] = useState<Mode>();
	const [groups = before?.groups.join("\n") ?? "", setGroups] = useState<string>();
	const [users = before?.users.join("\n") ?? "", setUsers] = useState<string>();
	const [unknown, setUnknown] = useState<Access>();
	const save = async () => {
		const access = mode === "chosen" ? { groups: names(groups), users: names(users) } : null;
		const saved = await call<{ accessUnknown?: Access }>(`/documents/${document.id}`, { method: "PATCH", body: { access } });
		onSaved();
		if (saved.accessUnknown) setUnknown(saved.accessUnknown);
		else onClose();
	};
	return (
		<FormDialog
			title={`Who may read “${document.title.trim() || document.uri}”`}
			verb="Save readers"
			cancel={unknown ? "Close" : "Cancel"}
			disabled={!now.value}
			below={<Preview id={document.id} />}
			onClose={onClose}
			onSubmit={save}
		>
			<Loaded of={now} bones={1}>
				{() => (
					<>
						<Choice
							label="Readers"
							options={[
								["default", "As its collection says"],
								["chosen", "Only these"],
							]}
							value={mode}
							onChange={setMode}
						/>
						{mode === "chosen" && (
							<>
								<Field label="Groups" hint="One a line, by the name in your identity provider.">
									{(a) => <textarea {...a} rows={3} spellcheck={false} value={groups} onInput={(e) => setGroups(e.currentTarget.value)} />}
								</Field>
								<Field label="People" hint="One user name a line. With neither groups nor people, only team keys read it.">
									{(a) => <textarea {...a} rows={3} spellcheck={false} value={users} onInput={(e) => setUsers(e.currentTarget.value)} />}
								</Field>
							</>
						)}
					</>
				)}
			</Loaded>
			{unknown && (
				<p role="status">
					Saved. Nobody has these names yet: {[...unknown.groups, ...unknown.users].join(", ")}. They open nothing until somebody has them.
				</p>
			)}
		</FormDialog>
	);
}

/** Shows whether a person may read the document as it is stored. */
function Preview({ id }: { id: string }) {
	const [user, setUser] = useState("");
	const [verdict, set] = useState<{ user: string; mayRead: boolean }>();
	const action = useAction();
	if (!useAdmin()) return null;
	return (
		<form
			class="stack"
			onSubmit={(e) => {
				e.preventDefault();
				action.run(async () => set({ user, ...(await call<{ mayRead: boolean }>(`/documents/${id}/access?user=${encodeURIComponent(user)}`)) }));
			}}
		>
			<Field label="May this person read it?" hint="A user name.">
				{(a) => <input {...a} value={user} autoComplete="off" spellcheck={false} onInput={(e) => setUser(e.currentTarget.value)} />}
			</Field>
			<Problem error={action.error} />
			<div class="row">
				<button disabled={action.busy || user.trim() === ""}>Check person</button>
				{verdict && (
					<span role="status">
						{verdict.user} <b>{verdict.mayRead ? "may read it" : "may not read it"}</b>.
					</span>
				)}
			</div>
		</form>
	);
}
