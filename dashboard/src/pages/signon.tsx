import { useState } from "preact/hooks";
import { base, call } from "../api";
import { useAction, useLoad } from "../load";
import { useMe } from "../session";
import { useRoute } from "../route";
import type { SignOn } from "../types";
import { Badge, Choice, Confirm, Field, Loaded, Problem, secretField, Snippet, Time } from "../ui";
import { SignOnProblem } from "./signonproblem";

/** How the team signs in: our values for the provider, a test, and whether it is required. */
export function SignInSettings() {
	const settings = useLoad(() => call<SignOn>("/team/single-sign-on"));
	const [, , outcome, request] = useRoute();
	return (
		<section class="card stack loose" aria-label="Sign-in">
			<h2>Sign-in</h2>
			{outcome === "tested" && (
				<p class="note good" role="status">
					The test sign-in worked.
				</p>
			)}
			{outcome !== undefined && outcome !== "tested" && <SignOnProblem code={outcome} request={request} />}
			<Loaded of={settings} bones={5} tall>
				{(s) => <Settings of={s} onChange={settings.set} />}
			</Loaded>
		</section>
	);
}

const update = (body: unknown) => call<SignOn>("/team/single-sign-on", { method: "PATCH", body });

function Settings({ of: s, onChange }: { of: SignOn; onChange: (s: SignOn) => void }) {
	const action = useAction();
	const change = (body: unknown) => action.run(async () => onChange(await update(body)));
	const [shown, show] = useState(s.method ?? "saml"); // it may be set up before it is used
	const names = { saml: "SAML", oidc: "OpenID Connect" };
	return (
		<>
			<div class="row between">
				<Choice
					label="Sign in by"
					options={[
						["saml", names.saml],
						["oidc", names.oidc],
					]}
					value={shown}
					onChange={show}
				/>
				{s.method === shown ? <Badge tone="good">In use</Badge> : <Badge>Not in use</Badge>}
			</div>
			<div class="stack">
				<h3>Our values, for the provider</h3>
				{shown === "oidc" ? (
					<Value name="Redirect address" text={s.redirectUrl} />
				) : (
					<>
						<Value name="Entity ID (audience)" text={s.entityId} />
						<Value name="ACS address (single sign-on URL)" text={s.acsUrl} />
					</>
				)}
				<Value name="Sign-in address, for people and the provider’s tile" text={s.signInUrl} />
			</div>
			{shown === "oidc" ? <Client of={s} onChange={onChange} /> : <Attribute key={s.attribute} value={s.attribute} onSave={(attribute) => change({ attribute: attribute || null })} busy={action.busy} />}
			{s.method !== undefined && s.method !== shown && (
				<div class="stack">
					<p class="quiet">
						Your team signs in by {names[s.method]}. {shown === "oidc" && !s.oidc && "Save a provider here to change that."}
					</p>
					{(shown === "saml" || s.oidc) && (
						<div class="row">
							<button type="button" disabled={action.busy} onClick={() => change({ method: shown })}>
								Sign in by {names[shown]} instead
							</button>
						</div>
					)}
				</div>
			)}
			<Problem error={action.error} />
			{s.method === shown && <Requirement of={s} busy={action.busy} onRequire={(required) => change({ required })} />}
		</>
	);
}

function Value({ name, text }: { name: string; text: string }) {
	return (
		<div class="stack tight">
			<span class="small quiet">{name}</span>
			<Snippet text={text} what={name} />
		</div>
	);
}

function Attribute({ value, onSave, busy }: { value: string; onSave: (v: string) => void; busy: boolean }) {
	const [text, set] = useState(value);
	return (
		<form
			class="stack"
			onSubmit={(e) => {
				e.preventDefault();
				onSave(text.trim());
			}}
		>
			<Field label="Attribute with the user name" hint="Empty: the NameID of the assertion is the user name, usually the e-mail address.">
				{(a) => <input {...a} value={text} autoComplete="off" spellcheck={false} maxLength={256} onInput={(e) => set(e.currentTarget.value)} />}
			</Field>
			{text.trim() !== value && (
				<div class="row">
					<button disabled={busy}>Save attribute</button>
				</div>
			)}
		</form>
	);
}

function Client({ of: s, onChange }: { of: SignOn; onChange: (s: SignOn) => void }) {
	const [issuer, setIssuer] = useState(s.oidc?.issuer ?? "");
	const [clientId, setClient] = useState(s.oidc?.clientId ?? "");
	const [secret, setSecret] = useState("");
	const [removing, remove] = useState(false);
	const action = useAction();
	return (
		<>
			<form
				class="stack"
				onSubmit={(e) => {
					e.preventDefault();
					action.run(async () => {
						let now = await call<SignOn>("/team/openid-provider", { method: "PUT", body: { issuer: issuer.trim(), clientId: clientId.trim(), ...(secret && { clientSecret: secret }) } });
						if (!now.method) now = await update({ method: "oidc" });
						setSecret("");
						onChange(now);
					});
				}}
			>
				<Field label="Issuer" hint="Its configuration is below it, at /.well-known/openid-configuration.">
					{(a) => <input {...a} type="url" required value={issuer} spellcheck={false} onInput={(e) => setIssuer(e.currentTarget.value)} />}
				</Field>
				<Field label="Client ID">{(a) => <input {...a} required value={clientId} autoComplete="off" spellcheck={false} onInput={(e) => setClient(e.currentTarget.value)} />}</Field>
				<Field label="Client secret" hint={s.oidc?.hasSecret ? "One is stored, encrypted. Leave this empty to keep it." : "Stored encrypted, and never shown again."}>
					{(a) => <input {...a} type="password" value={secret} autoComplete={secretField} onInput={(e) => setSecret(e.currentTarget.value)} />}
				</Field>
				<div class="row">
					<button class={s.oidc ? "" : "primary"} disabled={action.busy}>
						Save provider
					</button>
					{s.oidc && (
						<button type="button" class="danger" onClick={() => remove(true)}>
							Remove OpenID Connect
						</button>
					)}
				</div>
				<Problem error={action.error} />
			</form>
			{removing && (
				<Confirm
					title="Remove OpenID Connect"
					verb="Remove OpenID Connect"
					name="remove"
					onClose={() => remove(false)}
					onDone={async () => {
						await call("/team/openid-provider", { method: "DELETE" });
						setIssuer("");
						setClient("");
						onChange(await call<SignOn>("/team/single-sign-on"));
					}}
				>
					<p>Nobody signs in at {s.oidc?.issuer} any more, and its client secret is deleted. Open sessions, users and their keys stay.</p>
				</Confirm>
			)}
		</>
	);
}

function Requirement({ of: s, busy, onRequire }: { of: SignOn; busy: boolean; onRequire: (v: boolean) => void }) {
	const me = useMe();
	const [asking, ask] = useState(false);
	const tested = s.test?.current === true;
	return (
		<div class="stack">
			<div class="row between">
				<h3>Required for everyone</h3>
				{s.required ? <Badge tone="good">Required</Badge> : <Badge>Optional</Badge>}
			</div>
			<p class="quiet">
				When it is required, nobody signs in with a personal key. A link that the operator makes with <code>docent signin</code> always works, so nobody is locked out. API keys keep working.
			</p>
			<p class="small quiet">
				{s.test ? (
					<>
						Last tested <Time at={s.test.at} /> by {s.test.userName}
						{tested ? "." : ", before the last change: test it again."}
					</>
				) : (
					"Not tested yet: test the sign-in before you require it."
				)}
			</p>
			<div class="row">
				<a class="button" href={`${base}/sso/${me.team.id}?test=1`}>
					Test sign-in
				</a>
				{s.required ? (
					<button type="button" disabled={busy} onClick={() => onRequire(false)}>
						Make optional
					</button>
				) : (
					<button type="button" disabled={busy || !tested} onClick={() => ask(true)}>
						Require for everyone
					</button>
				)}
			</div>
			{asking && (
				<Confirm title="Require single sign-on" verb="Require for everyone" name="require" onClose={() => ask(false)} onDone={async () => onRequire(true)}>
					<p>From now on everybody signs in at the provider. Sessions that are open last at most 12 hours.</p>
				</Confirm>
			)}
		</div>
	);
}
