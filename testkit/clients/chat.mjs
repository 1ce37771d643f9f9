// Asks by OpenAI's JavaScript library, and prints one JSON object. DOCENT_SERVER and DOCENT_API_KEY name the server.
import OpenAI from "openai";

const question = "How do I roll back a release?";
const messages = [{ role: "system", content: "Be brief." }, { role: "user", content: question }];
const { DOCENT_SERVER: baseURL, DOCENT_API_KEY: apiKey } = process.env;
const client = new OpenAI({ baseURL, apiKey });
const stranger = new OpenAI({ baseURL, apiKey: "docent_team_wrong" });

async function refused(call) {
  try {
    await call();
  } catch (error) {
    if (error instanceof OpenAI.APIError) return [error.constructor.name, error.status, error.code];
    throw error;
  }
  return [];
}

const once = { headers: { "Idempotency-Key": "once" } };
const whole = await client.chat.completions.create({ model: "docent", messages }, once);
const again = await client.chat.completions.create({ model: "docent", messages }, once);
let [streamed, citations, finish, usage] = ["", [], null, null];
for await (const chunk of await client.chat.completions.create({ model: "docent", messages, stream: true, stream_options: { include_usage: true } })) {
  usage = chunk.usage ?? usage;
  for (const choice of chunk.choices) {
    streamed += choice.delta.content ?? "";
    citations.push(...(choice.delta.annotations ?? []));
    finish = choice.finish_reason ?? finish;
  }
}
const models = [];
for await (const model of client.models.list()) models.push(model.id);
const { message, finish_reason } = whole.choices[0];
console.log(JSON.stringify({
  models,
  model: (await client.models.retrieve("docent")).id,
  content: message.content,
  citations: message.annotations.map((a) => a.url_citation),
  repeated: whole.id === again.id,
  streamed,
  streamedCitations: citations.map((a) => a.url_citation),
  finish: [finish_reason, finish],
  tokens: Boolean(whole.usage?.total_tokens && usage?.total_tokens),
  refused: [
    await refused(() => stranger.models.list()),
    await refused(() => client.chat.completions.create({ model: "gpt-5", messages })),
    await refused(() => client.chat.completions.create({ model: "docent", messages: [{ role: "system", content: "x" }] })),
  ],
}));
