// Connects to the tools by the OAuth client of the official TypeScript SDK of the Model Context Protocol.
//
// agent.mjs URL PERSON prints one JSON object. At PERSON?url=..., someone decides on the authorization request of that
// address; the reply is the address that the browser is sent to.
import { UnauthorizedError } from "@modelcontextprotocol/sdk/client/auth.js";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [url, person] = process.argv.slice(2);
const redirectUrl = "http://127.0.0.1:33418/callback";
const kept = { asked: 0, tokens: [] };
let broken = false; // the access token is one that the server does not know
const provider = {
  redirectUrl,
  clientMetadata: { client_name: "TypeScript agent", redirect_uris: [redirectUrl], token_endpoint_auth_method: "none" },
  state: () => "a state & more",
  clientInformation: () => kept.client,
  saveClientInformation: (client) => void (kept.client = client),
  tokens: () => (broken ? { ...kept.tokens.at(-1), access_token: "docent_agent_unknown" } : kept.tokens.at(-1)),
  saveTokens: (tokens) => {
    broken = false;
    kept.tokens.push(tokens);
  },
  saveCodeVerifier: (verifier) => void (kept.verifier = verifier),
  codeVerifier: () => kept.verifier,
  async redirectToAuthorization(address) {
    kept.asked++;
    const reply = await fetch(`${person}?url=${encodeURIComponent(address)}`);
    const to = await reply.text();
    if (!reply.ok || !to.startsWith(redirectUrl)) throw new Error(`the browser is sent to ${to}`);
    kept.answer = new URL(to).searchParams;
  },
};

async function use() {
  let transport = new StreamableHTTPClientTransport(new URL(url), { authProvider: provider });
  let client = new Client({ name: "agent", version: "1" });
  try {
    await client.connect(transport);
  } catch (error) {
    if (!(error instanceof UnauthorizedError)) throw error;
    if (kept.answer.get("state") !== "a state & more") throw new Error("the state is lost");
    await transport.finishAuth(kept.answer.get("code"));
    transport = new StreamableHTTPClientTransport(new URL(url), { authProvider: provider });
    client = new Client({ name: "agent", version: "1" });
    await client.connect(transport);
  }
  const tools = (await client.listTools()).tools.map((tool) => tool.name);
  const result = await client.callTool({ name: "context_search_documentation", arguments: { query: "roll back a release" } });
  await client.close();
  return { tools, text: result.content.map((part) => part.text ?? "").join("") };
}

const first = await use();
broken = true;
const second = await use();
console.log(JSON.stringify({
  ...first,
  refreshed: second.text,
  asked: kept.asked,
  name: kept.client.client_name,
  access: kept.tokens.map((t) => t.access_token),
  refresh: kept.tokens.map((t) => t.refresh_token),
}));
