import { useState } from "preact/hooks";
import { useLoad, usePart } from "../load";
import { Loaded, More } from "../ui";
import { type Group, groups, members } from "../users";

/** The groups of the team. They come by SCIM, and rules of who may read name them. */
export function Groups() {
	const list = usePart(groups);
	return (
		<Loaded of={list} bones={1}>
			{(all) =>
				all && (
					<section class="stack" aria-label="Groups">
						<h2>Groups</h2>
						{all.items.length === 0 ? (
							<p class="quiet">Your identity provider has sent no groups.</p>
						) : (
							<div class="card ops">
								{all.items.map((g) => (
									<OneGroup key={g.id} of={g} />
								))}
							</div>
						)}
						<More of={list} what="groups" />
					</section>
				)
			}
		</Loaded>
	);
}

function OneGroup({ of }: { of: Group }) {
	const [open, setOpen] = useState(false);
	return (
		<details onToggle={(e) => setOpen(e.currentTarget.open)}>
			<summary>
				<b>{of.displayName}</b>
			</summary>
			{open && <Members of={of} />}
		</details>
	);
}

function Members({ of }: { of: Group }) {
	const list = useLoad(() => members(of.id), [of.id]);
	return (
		<div class="body">
			<Loaded of={list} bones={1}>
				{(all) =>
					all.length === 0 ? (
						<p class="quiet">Nobody belongs to it.</p>
					) : (
						<ul class="chips">
							{all.map((m) => (
								<li key={m.value}>{m.display ?? m.value}</li>
							))}
						</ul>
					)
				}
			</Loaded>
		</div>
	);
}
