import type { ComponentChildren, FunctionComponent } from "preact";
import { useEffect, useErrorBoundary, useLayoutEffect, useRef, useState } from "preact/hooks";
import { call, callFor, Failure, whenSignedOut } from "./api";
import { useKeptFocus } from "./focus";
import { Icon } from "./icons";
import { useAction, useLoad } from "./load";
import { Ask } from "./pages/ask";
import { Collection } from "./pages/collection";
import { Collections } from "./pages/collections";
import { forgetQuestions } from "./pages/question";
import { remember, SignIn } from "./pages/signin";
import { forgetPuts } from "./puts";
import { forgetCursors, go, to, useRoute } from "./route";
import { rememberPage, resumePage, SessionContext } from "./session";
import type { Me } from "./types";
import { Page, Problem, useModal } from "./ui";

/** Pages that few visits need are loaded when they are opened. */
function later(load: () => Promise<FunctionComponent>): FunctionComponent {
	return () => {
		const page = useLoad(() =>
			load().catch(() => {
				throw new Error("Docent cannot be reached, or was updated since you opened it.");
			}),
		);
		const Loaded = page.value;
		if (Loaded) return <Loaded />;
		if (!page.error) return <div class="content" aria-busy="true" />;
		return (
			<Page title="This page could not be loaded">
				<Problem error={page.error} retry={() => location.reload()} />
			</Page>
		);
	};
}

const Search = later(() => import("./pages/search").then((m) => m.Search));
const Sources = later(() => import("./pages/sources").then((m) => m.Sources));
const Unanswered = later(() => import("./pages/unanswered").then((m) => m.Unanswered));
const Usage = later(() => import("./pages/usage").then((m) => m.UsagePage));
const Events = later(() => import("./pages/events").then((m) => m.Events));
const Tokens = later(() => import("./pages/tokens").then((m) => m.Tokens));
const SingleSignOn = later(() => import("./pages/sso").then((m) => m.SingleSignOn));
const TeamPage = later(() => import("./pages/team").then((m) => m.TeamPage));
const Sessions = later(() => import("./pages/sessions").then((m) => m.Sessions));
const Connect = later(() => import("./pages/connect").then((m) => m.Connect));
const Agents = later(() => import("./pages/agents").then((m) => m.Agents));
const Webhooks = later(() => import("./pages/webhooks").then((m) => m.Webhooks));
const Reference = later(() => import("./pages/reference").then((m) => m.Reference));

const settings: [string, string, FunctionComponent][] = [
	["tokens", "API keys", Tokens],
	["single-sign-on", "Single sign-on", SingleSignOn],
	["team", "Team", TeamPage],
	["sessions", "Your sessions", Sessions],
	["agents", "Connected programs", Agents],
	["webhooks", "Webhooks", Webhooks],
];

const places: [string, string, string][] = [
	["ask", "Ask", "ask"],
	["search", "Search", "search"],
	["collections", "Collections", "collections"],
	["sources", "Data sources", "sources"],
	["unanswered", "Not answered", "unanswered"],
	["usage", "Usage", "usage"],
	["events", "Security events", "events"],
	["reference", "API reference", "reference"],
	["settings", "Settings", "settings"],
];

/** The form of ids. Anything else in an address, such as ../collections/ID, could lead a call to another path of the API. */
const idForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

function pageOf(route: string[]): ComponentChildren {
	const [first = "ask", second] = route;
	switch (first) {
		case "ask":
			if (!second || idForm.test(second)) return <Ask id={second} key={second} />;
			break;
		case "search":
			return <Search />;
		case "collections":
			if (!second) return <Collections />;
			if (idForm.test(second)) return <Collection id={second} key={second} />;
			break;
		case "sources":
			return <Sources />;
		case "unanswered":
			return <Unanswered />;
		case "usage":
			return <Usage />;
		case "events":
			return <Events />;
		case "reference":
			return <Reference />;
		case "connect":
			return <Connect />;
		case "settings": {
			const Found = settings.find(([name]) => name === (second ?? "tokens"))?.[2];
			if (Found) return <Found key={second} />;
		}
	}
	return (
		<Page title="Page not found" about="Nothing is at this address.">
			<p>
				<a href={to("ask")}>Go to Ask</a>
			</p>
		</Page>
	);
}

/** Shows the error of a page that cannot be drawn. The menu and the other pages keep working. */
function Guarded({ children }: { children: ComponentChildren }) {
	const [error, again] = useErrorBoundary((e) => console.error(e));
	if (!error) return <>{children}</>;
	return (
		<Page title="This page failed" about="Something in it could not be shown. The other pages are not affected.">
			<Problem error={error} retry={again} />
		</Page>
	);
}

/** Pages for people who are not signed in. */
const doors = ["sign-in", "sign-in-failed", "sign-in-team"];

export function App() {
	const route = useRoute();
	const atDoor = doors.includes(route[0] ?? "");
	const [signedOut, setSignedOut] = useState(atDoor);
	const [ended, setEnded] = useState(false); // the session, while a page is open
	const me = useLoad(() => (signedOut ? Promise.resolve(undefined) : readMe()), [signedOut]);
	const isIn = useRef(false);
	const cameFromDoor = useRef(false);
	isIn.current = me.value !== undefined;
	useEffect(() => {
		whenSignedOut(() => (isIn.current ? setEnded(true) : setSignedOut(true)));
		addEventListener("unhandledrejection", (e) => console.error(e.reason));
		// A file that is dropped outside the area for it does not replace the dashboard.
		const refuse = (e: DragEvent) => {
			if (!e.dataTransfer?.types.includes("Files")) return;
			e.preventDefault();
			e.dataTransfer.dropEffect = "none";
		};
		addEventListener("dragover", refuse);
		addEventListener("drop", refuse);
	}, []);
	useEffect(() => {
		if (atDoor) setSignedOut(true);
		else if (cameFromDoor.current) setSignedOut(false); // a session may be open: see
		cameFromDoor.current = atDoor;
		if (route[0] === "signed-in") {
			// The address does not say which team: a link could have another one, to whose provider the next sign-in would lead.
			void call<Me>("/me").then((me) => remember(me.team.id)).catch(() => undefined);
			history.replaceState(null, "", location.pathname);
			go("ask");
		}
	}, [route[0]]);
	useEffect(() => {
		if (signedOut && !atDoor) rememberPage(route);
		else if (me.value) resumePage();
	}, [signedOut, me.value, route]);
	if (signedOut) {
		return (
			<SignIn
				code={route[0] === "sign-in" ? route[1] : undefined}
				failed={route[0] === "sign-in-failed" ? route.slice(1) : undefined}
				onSignedIn={() => {
					forgetCursors();
					if (atDoor) location.replace(to("ask")); // the way back leads past the door
					setEnded(false);
					setSignedOut(false);
				}}
			/>
		);
	}
	if (!me.value) {
		return me.error ? (
			<div class="door">
				<div class="stack">
					<h1>Docent</h1>
					<Problem error={me.error} retry={me.again} />
				</div>
			</div>
		) : (
			<div class="frame" aria-busy="true">
				<div class="side" />
			</div>
		);
	}
	return (
		<SessionContext.Provider value={{ me: me.value, again: me.again }}>
			<Frame key={personOf(me.value)} route={route} me={me.value} />
			{ended && (
				<Ended
					onSignedIn={async () => {
						me.set(await readMe());
						setEnded(false);
					}}
				/>
			)}
		</SessionContext.Provider>
	);
}

let last: Me | undefined;

/** Reads who is signed in, and makes further calls for that person alone. Another person who signs in later sees nothing of this one. */
async function readMe(): Promise<Me> {
	const now = await call<Me>("/me");
	const other = last && personOf(now) !== personOf(last);
	last = now;
	callFor(now.user?.id ?? "");
	if (other) {
		forgetPuts();
		forgetQuestions();
		forgetCursors();
		await leavePage();
	}
	return now;
}

/** Goes to Ask, because the address may contain what the previous person has searched for. */
async function leavePage(): Promise<void> {
	if (location.hash === to("ask")) return;
	const left = new Promise((done) => addEventListener("hashchange", done, { once: true }));
	location.replace(to("ask"));
	await left;
}

/** Returns a text that no other person has. */
const personOf = (me: Me | undefined) => `${me?.team.id} ${me?.user?.id}`;

/** The sign-in over a page whose session has ended. The page below keeps typed text, unless another person signs in. */
function Ended({ onSignedIn }: { onSignedIn: () => Promise<void> }) {
	const { ref, shown } = useModal();
	return (
		<dialog ref={ref} class="ended" aria-label="Sign in" {...{ closedby: "none" }} onClose={(e) => shown() && e.currentTarget.showModal()}>
			<SignIn ended onSignedIn={onSignedIn} />
		</dialog>
	);
}

function Frame({ route, me }: { route: string[]; me: Me }) {
	const [open, setOpen] = useState(false);
	const main = useRef<HTMLElement>(null);
	const menu = useRef<HTMLButtonElement>(null);
	useKeptFocus(main);
	const close = () => {
		setOpen(false);
		menu.current?.focus();
	};
	const address = route.join("/");
	const first = useRef(true);
	// With the page itself, not after it is painted: the person may already type.
	useLayoutEffect(() => {
		setOpen(false);
		if (first.current) {
			first.current = false;
			return;
		}
		main.current?.focus(); // as after a page has loaded
		scrollTo(0, 0);
	}, [address]);
	const here = (name: string) => (route[0] ?? "ask") === name;
	const signingOut = useAction();
	const signOut = () =>
		signingOut.run(async () => {
			await call("/sessions/current", { method: "DELETE" }).catch((e: unknown) => {
				if (!(e instanceof Failure && e.status === 401)) throw e; // the session continues
			});
			location.hash = to("ask");
			location.reload(); // nothing of this person stays, not even a running put
		});
	return (
		<>
			<a
				class="button skip"
				href="#main"
				onClick={(e) => {
					e.preventDefault();
					main.current?.focus();
				}}
			>
				Skip to the content
			</a>
			<header class="bar">
				<a class="brand" href={to("ask")}>
					<Icon name="book" size={20} />
					Docent
				</a>
				<button ref={menu} type="button" class="plain" aria-expanded={open} aria-controls="menu" onClick={() => setOpen(!open)} onKeyDown={(e) => e.key === "Escape" && close()}>
					<Icon name={open ? "close" : "menu"} />
					Menu
				</button>
			</header>
			<div class="frame">
				<aside
					class={open ? "side open" : "side"}
					id="menu"
					aria-label="Menu"
					onKeyDown={(e) => e.key === "Escape" && close()}
					onFocusOut={(e) => {
						// It would hide what has the focus. Its button closes it itself.
						const to = e.relatedTarget as Node | null;
						if (to && to !== menu.current && !e.currentTarget.contains(to)) setOpen(false);
					}}
				>
					<a class="brand" href={to("ask")}>
						<Icon name="book" size={20} />
						Docent
					</a>
					<nav aria-label="Pages" onClick={() => setOpen(false)}>
						<ul>
							{places.filter(([name]) => name !== "unanswered" || me.user?.role === "admin").map(([name, label, icon]) => (
								<li key={name}>
									<a href={name === "settings" ? to("settings", "tokens") : to(name)} aria-current={here(name) && name !== "settings" ? "page" : undefined}>
										<Icon name={icon} />
										{label}
									</a>
									{name === "settings" && here("settings") && (
										<ul class="sub">
											{settings.map(([sub, label]) => (
												<li key={sub}>
													<a href={to("settings", sub)} aria-current={(route[1] ?? "tokens") === sub ? "page" : undefined}>
														{label}
													</a>
												</li>
											))}
										</ul>
									)}
								</li>
							))}
						</ul>
					</nav>
					<div class="who">
						<div class="small wrap">
							<div>{me.user?.displayName ?? "Signed in"}</div>
							<div class="quiet">
								{me.team.name}
								{me.user?.role === "admin" ? ", admin" : ""}
							</div>
						</div>
						<Problem error={signingOut.error} />
						<button type="button" disabled={signingOut.busy} onClick={signOut}>
							Sign out
						</button>
					</div>
				</aside>
				<main ref={main} id="main" tabIndex={-1}>
					<Guarded key={address}>{pageOf(route)}</Guarded>
				</main>
			</div>
		</>
	);
}
