// Asks by the AI SDK, whose openai() calls the Responses API, and prints one JSON object. DOCENT_SERVER and DOCENT_API_KEY name the server.
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, streamText } from "ai";

const question = "How do I roll back a release?";
const { DOCENT_SERVER: baseURL, DOCENT_API_KEY: apiKey } = process.env;
const model = createOpenAI({ baseURL, apiKey })("docent");

const whole = await generateText({ model, system: "Be brief.", prompt: question });
const messages = [{ role: "user", content: question }, ...whole.response.messages, { role: "user", content: "How long does it take?" }];
const follow = await generateText({ model, messages });
const stream = streamText({ model, prompt: question });
let streamed = "";
for await (const part of stream.textStream) streamed += part;
let refused = "";
try {
  await generateText({ model: createOpenAI({ baseURL, apiKey })("gpt-5"), prompt: question, maxRetries: 0 });
} catch (error) {
  refused = error.message;
}
console.log(JSON.stringify({
  content: whole.text,
  sources: whole.sources.map((s) => [s.sourceType, s.url, s.title]),
  finish: [whole.finishReason, await stream.finishReason],
  followed: follow.finishReason,
  streamed,
  streamedSources: (await stream.sources).map((s) => [s.sourceType, s.url, s.title]),
  tokens: Boolean(whole.usage.totalTokens && (await stream.usage).outputTokens === whole.usage.outputTokens),
  refused,
}));
