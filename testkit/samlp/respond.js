// Writes a SAML response, in base64, to the request on standard input (JSON).
const { createRequire } = require("node:module");
const samlp = createRequire(process.argv[2] + "/")("samlp");

const asked = JSON.parse(require("node:fs").readFileSync(0, "utf8"));

class Profile {
	constructor(user) {
		this.user = user;
	}
	getClaims() {
		return { mail: this.user };
	}
	getNameIdentifier() {
		return { nameIdentifier: this.user, nameIdentifierFormat: "urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress" };
	}
}

samlp.getSamlResponse(
	{
		issuer: asked.issuer,
		cert: asked.cert,
		key: asked.key,
		audience: asked.audience,
		recipient: asked.acs,
		destination: asked.acs,
		inResponseTo: asked.id,
		signResponse: asked.signResponse,
		signatureAlgorithm: asked.algorithm,
		digestAlgorithm: asked.algorithm.replace("rsa-", ""),
		profileMapper: (user) => new Profile(user),
	},
	asked.user,
	(error, response) => {
		if (error) throw error;
		process.stdout.write(Buffer.from(response).toString("base64"));
	},
);
