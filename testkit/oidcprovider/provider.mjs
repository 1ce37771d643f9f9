// Runs an OpenID Connect provider until its standard input ends: "node provider.mjs MODULES".
// The first line of the input has its clients and users, and whether the ID token has the e-mail address (JSON); it prints its issuer. It signs in
// whom the parameter login_hint names without a question, and refuses "nobody".
import { generateKeyPairSync } from "node:crypto";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const { default: Provider } = await import(pathToFileURL(createRequire(process.argv[2] + "/").resolve("oidc-provider")));

const lines = createInterface({ input: process.stdin });
const { clients, users, inToken } = JSON.parse((await lines[Symbol.asyncIterator]().next()).value);
process.stdin.on("end", () => process.exit()).resume();

const server = createServer();
await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
const issuer = `http://127.0.0.1:${server.address().port}`;

const key = (alg, type, options) => ({ ...generateKeyPairSync(type, options).privateKey.export({ format: "jwk" }), alg, use: "sig" });

const provider = new Provider(issuer, {
	clients,
	jwks: { keys: [key("RS256", "rsa", { modulusLength: 2048 }), key("ES256", "ec", { namedCurve: "P-256" })] },
	enabledJWA: { idTokenSigningAlgValues: ["RS256", "ES256", "HS256"] },
	claims: { openid: ["sub"], email: ["email", "email_verified"] },
	conformIdTokenClaims: !inToken, // without it, as the standard has it, the e-mail address is at the UserInfo endpoint only
	pkce: { required: () => true },
	features: { devInteractions: { enabled: false } },
	interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
	cookies: { keys: ["test"] },
	findAccount: (_, sub) => ({ accountId: sub, claims: () => ({ sub, ...users[sub] }) }),
	async loadExistingGrant(ctx) {
		const grant = new ctx.oidc.provider.Grant({ clientId: ctx.oidc.client.clientId, accountId: ctx.oidc.session.accountId });
		grant.addOIDCScope("openid email");
		await grant.save();
		return grant;
	},
});

const callback = provider.callback();
server.on("request", async (request, response) => {
	if (!request.url.startsWith("/interaction/")) return callback(request, response);
	const { params } = await provider.interactionDetails(request, response);
	const name = params.login_hint;
	await provider.interactionFinished(request, response, users[name] ? { login: { accountId: name } } : { error: "access_denied" });
});
console.log(issuer);
