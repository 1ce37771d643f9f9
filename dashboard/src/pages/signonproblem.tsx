import { Copy } from "../ui";

/** What went wrong at a sign-in by a provider, and what to do, by the code in the address. */
const reasons: Record<string, [string, string]> = {
	"not-configured": ["Your team has no identity provider.", "An admin sets one up under Settings, Single sign-on."],
	"provider-unreachable": ["The identity provider does not answer as it should.", "Try again. If that does not help, an admin checks its address under Settings, Single sign-on: it is a public one, spelled as the provider spells its issuer, with the slash at its end if there is one."],
	"provider-refused": ["The identity provider refused the sign-in.", "Ask the person who runs it to give you access to Docent."],
	"request-unknown": ["This sign-in was not begun here, took more than ten minutes, or was used already.", "Begin again."],
	"other-browser": ["This sign-in was begun in another browser.", "Begin and end it in the same browser, with cookies allowed."],
	"ticket-unknown": ["This sign-in was used already, or took too long.", "Begin again."],
	malformed: ["The identity provider sent something that cannot be read or is not allowed.", "An admin checks the provider’s settings: plain SAML responses with one assertion, by HTTP-POST."],
	encrypted: ["The identity provider encrypts its assertions.", "An admin turns assertion encryption off at the provider. TLS protects them."],
	unsigned: ["The identity provider does not sign its assertions.", "An admin turns on signing of the assertion or the response at the provider."],
	"bad-signature": ["The signature does not match the provider’s certificates.", "An admin replaces the provider’s metadata under Settings, Single sign-on. Providers change their certificates."],
	"weak-signature": ["The identity provider signs with SHA-1.", "An admin chooses SHA-256 at the provider."],
	"certificate-expired": ["The provider’s certificate has expired.", "An admin replaces the provider’s metadata under Settings, Single sign-on."],
	"other-issuer": ["The answer is from another provider than the team’s.", "An admin compares the entity ID or the issuer at the provider with the one under Settings, Single sign-on."],
	"other-audience": ["The answer is for another service.", "An admin enters our entity ID or client ID at the provider as it is shown under Settings, Single sign-on."],
	"other-recipient": ["The answer is for another address.", "An admin enters our ACS address at the provider as it is shown under Settings, Single sign-on."],
	"other-request": ["The answer belongs to another sign-in.", "Begin again, at Docent’s own sign-in address. Sign-ins begun by the provider are not accepted."],
	expired: ["The answer is too old, or not valid yet.", "Begin again. If that does not help, the clock of the provider or of the server is wrong by more than two minutes."],
	replayed: ["This answer was used already.", "Begin again."],
	"no-name": ["The provider does not say which user you are.", "An admin lets it send the user name as NameID, or names the attribute under Settings, Single sign-on."],
	"email-not-verified": ["The provider does not say that your e-mail address is verified, which the first sign-in requires.", "Verify it there, then sign in again. At Entra ID, an admin adds the optional claims email and xms_edov to the ID token."],
	"user-unknown": ["Your team has no user with the name that the provider sent.", "Ask an admin to provision you. The user name in Docent must be the one that the provider sends."],
	"user-inactive": ["Your user is deactivated.", "Ask an admin of your team."],
	"user-taken": ["Your user belongs to another account at the provider.", "An admin deletes the user and provisions it again."],
	"test-not-by-admin": ["The test signed in a user who is not an admin.", "Sign in at the provider as an admin of the team."],
	"not-found": ["There is no such team.", "Check the sign-in address. An admin finds it under Settings, Single sign-on."],
	"cross-origin": ["Signing in requires https.", "Open Docent by its https address, or on its own machine."],
	"admin-required": ["Only an admin can test single sign-on.", "Ask an admin of your team."],
	unavailable: ["Docent is temporarily unavailable.", "Try again."],
};

/** The form of request ids. Anybody can write a link with any other text in their place. */
const isId = /^[\w.-]{1,128}$/;

export function SignOnProblem({ code, request }: { code: string; request?: string }) {
	const [what, todo] = (Object.hasOwn(reasons, code) && reasons[code]) || ["The sign-in failed.", "Try again. If that does not help, give the request id to the person who runs Docent."];
	return (
		<div class="note bad" role="alert">
			<p>{what}</p>
			<p>{todo}</p>
			{request && isId.test(request) && (
				<div class="row">
					<span class="small quiet wrap">
						Request <code>{request}</code>
					</span>
					<Copy text={request} what="request id" />
				</div>
			)}
		</div>
	);
}
