// Asks for responses by OpenAI's JavaScript library, and prints one JSON object. DOCENT_SERVER and DOCENT_API_KEY name the server.
import OpenAI from "openai";

const question = "How do I roll back a release?";
const { DOCENT_SERVER: baseURL, DOCENT_API_KEY: apiKey } = process.env;
const client = new OpenAI({ baseURL, apiKey });
const model = "docent";

async function refused(call) {
  try {
    await call();
  } catch (error) {
    if (error instanceof OpenAI.APIError) return [error.constructor.name, error.status, error.code, error.param];
    throw error;
  }
  return [];
}

const whole = await client.responses.create({ model, input: question, instructions: "Be brief.", metadata: { chat: "1" } });
const follow = await client.responses.create({ model, input: "How long does it take?", previous_response_id: whole.id });
const items = await client.responses.create({ model, input: [{ role: "user", content: question }, ...whole.output, { role: "user", content: "Who does it?" }] });
const [events, citations] = [[], []];
let streamed = "";
const stream = client.responses.stream({ model, input: question });
for await (const event of stream) {
  if (events.at(-1) !== event.type) events.push(event.type);
  if (event.type === "response.output_text.delta") streamed += event.delta;
  if (event.type === "response.output_text.annotation.added") citations.push(event.annotation);
}
const last = await stream.finalResponse();
const plain = new Set();
for await (const event of await client.responses.create({ model, input: question, stream: true })) plain.add(event.type);
const cut = await client.responses.create({ model, input: question, max_output_tokens: 3 });
console.log(JSON.stringify({
  content: whole.output_text,
  citations: whole.output[0].content[0].annotations,
  status: [whole.status, last.status, cut.status, cut.incomplete_details.reason],
  metadata: whole.metadata,
  followed: [follow.previous_response_id === whole.id, follow.status === "completed", items.status === "completed"],
  events,
  plain: events.every((type) => plain.has(type)) && plain.size === new Set(events).size,
  streamed,
  streamedCitations: citations,
  final: last.output_text,
  cut: cut.output_text,
  tokens: Boolean(whole.usage.total_tokens && last.usage.output_tokens === whole.usage.output_tokens),
  refused: [
    await refused(() => client.responses.create({ model: "gpt-5", input: question })),
    await refused(() => client.responses.create({ model, input: question, previous_response_id: "resp_1" })),
    await refused(() => client.responses.create({ model, input: question, stream: true, text: { format: { type: "json_object" } } })),
    await refused(() => client.responses.retrieve("resp_1")),
  ],
}));
