import { useState } from "preact/hooks";
import { useLoad } from "../load";
import { Loaded } from "../ui";
import { type Group, groups, members } from "../users";

/** The groups of the team, which come by SCIM and whose names rules of reading have. */
export function Groups() {
	const list = useLoad(groups);
	return (
		<Loaded of={list} bones={1}>
			{(all) =>
				all && (
					<section class="stack" aria-label="Groups">
						<h2>Groups</h2>
						{all.length === 0 ? (
							<p class="quiet">Your identity provider has sent no groups.</p>
						) : (
							<div class="card ops">
								{all.map((g) => (
									<OneGroup key={g.id} of={g} />
								))}
							</div>
						)}
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
