import { useState } from "preact/hooks";
import { all, call } from "../api";
import { plural } from "../format";
import { useLoad } from "../load";
import { go, to } from "../route";
import type { Collection } from "../types";
import { Empty, Field, FormDialog, Loaded, Mark, Page } from "../ui";

const most = 25;

export function Collections() {
	const collections = useLoad(() => all<Collection>("/collections"));
	const [creating, create] = useState(false);
	const make = (
		<button type="button" class="primary" onClick={() => create(true)}>
			Create collection
		</button>
	);
	return (
		<Page title="Collections" about="Groups of documents, such as a handbook. Docent answers from all that you may read." actions={collections.value?.length ? make : undefined}>
			<Loaded of={collections} tall>
				{(list) =>
					list.length === 0 ? (
						<Empty title="No collections yet" actions={make}>
							A collection holds the documents of one place. Create one, then drop a folder of Markdown, text, reStructuredText, HTML, PDF or Office files on it.
						</Empty>
					) : (
						<>
							<p class="quiet small">
								{plural(list.length, "collection")} of {most}
							</p>
							<div class="grid">
								{list.map((c) => (
									<a key={c.id} class="card" href={to("collections", c.id)}>
										<div class="row">
											<Mark name={c.name} url={c.iconUrl} />
											<h2 class="wrap">{c.name}</h2>
										</div>
										<p class="quiet wrap">{c.description}</p>
									</a>
								))}
							</div>
						</>
					)
				}
			</Loaded>
			{creating && <CollectionForm onClose={() => create(false)} onDone={(c) => go("collections", c.id)} />}
		</Page>
	);
}

/** Creates a collection, or edits one. */
export function CollectionForm({ of, onClose, onDone }: { of?: Collection; onClose: () => void; onDone: (c: Collection) => void }) {
	const [name, setName] = useState(of?.name ?? "");
	const [description, setDescription] = useState(of?.description ?? "");
	const [icon, setIcon] = useState(of?.iconUrl ?? "");
	return (
		<FormDialog
			title={of ? `Edit ${of.name}` : "Create collection"}
			verb={of ? "Save collection" : "Create collection"}
			onClose={onClose}
			onSubmit={async () => {
				const iconUrl = icon.trim() || (of ? null : undefined);
				onDone(await call<Collection>(of ? `/collections/${of.id}` : "/collections", { method: of ? "PATCH" : "POST", body: { name: name.trim(), description: description.trim(), iconUrl } }));
			}}
		>
			<div class="stack">
				<Field label="Name" hint="1 to 32 characters">
					{(a) => <input {...a} required maxLength={32} value={name} onInput={(e) => setName(e.currentTarget.value)} />}
				</Field>
				<Field label="Description" hint="One sentence: what kind of documents it holds">
					{(a) => <textarea {...a} required maxLength={4096} rows={3} value={description} onInput={(e) => setDescription(e.currentTarget.value)} />}
				</Field>
				<Field label="Icon address (optional)" hint="Of a square image, by https">
					{(a) => <input {...a} type="url" pattern={icon === of?.iconUrl ? undefined : "https://.+"} title="An https address" placeholder="https://" value={icon} onInput={(e) => setIcon(e.currentTarget.value)} />}
				</Field>
			</div>
		</FormDialog>
	);
}
