// Verifies the delivery on standard input (JSON) and prints the type of its event.
const { createRequire } = require("node:module");
const { Webhook } = createRequire(process.argv[2] + "/")("standardwebhooks");

const { secret, headers, body } = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
console.log(new Webhook(secret).verify(body, headers).type);
