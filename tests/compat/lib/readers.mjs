// Parses provider responses with our drivers and the official clients: { failed } or { text, calls, finish, usage }.
// The model of a request selects the response.
import { createRequire } from 'node:module';
import { callDriver } from '../../e2e/llm/driver.mjs';

const { default: Anthropic } = createRequire(import.meta.resolve('../../e2e/package.json'))('@anthropic-ai/sdk');
const { default: OpenAI } = createRequire(import.meta.resolve('../../e2e/package.json'))('openai');

const apiKey = 'test-key';
// RY_LLM_FINISH_* by number.
const finishes = [undefined, 'stop', 'tool_calls', 'length', 'content_filter', 'refusal', 'pause', 'error'];
// Maps the documented finish reasons of each API; undocumented reasons are kept.
const chatFinish = { function_call: 'tool_calls' };
const messagesFinish = { end_turn: 'stop', stop_sequence: 'stop', tool_use: 'tool_calls', max_tokens: 'length',
  model_context_window_exceeded: 'length', pause_turn: 'pause' };

// Parses arguments, so that white space is ignored; invalid JSON is kept as text.
function argumentsOf(text) {
  try {
    return JSON.parse(text || '{}');
  } catch {
    return text;
  }
}
const call = (id, name, args) => ({ id, name, arguments: args });
// An empty response without a reason counts as failed, because the run retries it like a failure.
const reasons = new Set(['length', 'content_filter', 'refusal', 'pause']);
const classified = (a) => (a.text || a.calls.length || reasons.has(a.finish) ? a : { failed: true });
// Only reported usage; our driver estimates missing values.
const usageOf = (input, output, cached) => ({ input, output, cached });

// Parses the response for each model `id`, one after the other.
export async function byDriver(kind, origin, ids) {
  const options = kind === 'anthropic' ? { prompt_cache: false } : {};
  const answers = await callDriver(kind, { base_url: `${origin}/v1`, api_key: apiKey, ...options },
    ids.map((id) => ({ model: id, max_output_tokens: 100, messages: [{ role: 'user', content: 'hi' }] })));
  return answers.map((a) => (a.end.status !== 0 || finishes[a.end.finish] === 'error' ? { failed: true } : classified({ text: a.text,
    calls: a.toolCalls.map((c) => call(c.id, c.name, argumentsOf(c.arguments))), finish: finishes[a.end.finish],
    usage: a.end.estimated ? undefined : usageOf(a.end.input_tokens, a.end.output_tokens, a.end.cached_tokens) })));
}

async function byOpenAI(origin, id) {
  const client = new OpenAI({ baseURL: `${origin}/v1`, apiKey, maxRetries: 0 });
  const { choices: [{ message, finish_reason }], usage } = await client.chat.completions.stream({ model: id,
    messages: [{ role: 'user', content: 'hi' }], stream_options: { include_usage: true } }).finalChatCompletion();
  const calls = (message.tool_calls ?? []).map((c) => call(c.id, c.function.name,
    argumentsOf(c.function.arguments)));
  if (message.function_call)
    calls.push(call(undefined, message.function_call.name, argumentsOf(message.function_call.arguments)));
  return { text: (message.content ?? '') + (message.refusal ?? ''), calls,
    finish: message.refusal ? 'refusal' : chatFinish[finish_reason] ?? finish_reason,
    usage: usage && usageOf(usage.prompt_tokens, usage.completion_tokens,
      usage.prompt_tokens_details?.cached_tokens ?? 0) };
}

async function byAnthropic(origin, id) {
  const client = new Anthropic({ baseURL: origin, apiKey, maxRetries: 0 });
  const { content, stop_reason, usage } = await client.messages.stream({ model: id, max_tokens: 100,
    messages: [{ role: 'user', content: 'hi' }] }).finalMessage();
  const of = (type) => content.filter((b) => b.type === type);
  const { input_tokens, cache_read_input_tokens = 0, cache_creation_input_tokens = 0, output_tokens } = usage;
  return { text: of('text').map((b) => b.text).join(''), calls: of('tool_use').map((b) => call(b.id, b.name, b.input)),
    finish: messagesFinish[stop_reason] ?? stop_reason,
    usage: usageOf(input_tokens + cache_read_input_tokens + cache_creation_input_tokens, output_tokens,
      cache_read_input_tokens) };
}

export async function byOfficialClient(kind, origin, id) {
  try {
    return classified(await (kind === 'anthropic' ? byAnthropic(origin, id) : byOpenAI(origin, id)));
  } catch (e) {
    return { failed: true, error: String(e.message ?? e).slice(0, 200) };
  }
}
