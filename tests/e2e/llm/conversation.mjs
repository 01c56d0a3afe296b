// One conversation, in the format of our drivers and in those of the official clients.
const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const system = 'You are brief. "Quotes", \\ and ünïcödé stay what they are.';
const question = 'What is the weather in Oslo and Rome?';

export const fixtures = [
  { match: { userMessage: 'weather', hasToolResult: false }, response: { toolCalls: [
    { id: 'call_oslo', name: 'get_weather', arguments: JSON.stringify({ city: 'Oslo' }) },
    { id: 'call_rome', name: 'get_weather', arguments: JSON.stringify({ city: 'Rome "Roma"' }) }] } },
  { match: { userMessage: 'weather', hasToolResult: true }, response: { content: 'Oslo has 7 °C; Rome is unknown.\n"Done" 🙂' } },
  { match: { userMessage: 'picture' }, response: { content: 'One pixel.' } },
  { match: { userMessage: 'think' }, response: { content: 'So it is.', reasoning: 'Let me see.' } },
  { match: { userMessage: 'refuse' }, response: { error: { message: 'The server is overloaded', type: 'server_error' }, status: 503 } },
  { match: { userMessage: 'too fast' }, response: { error: { message: 'Slow down', type: 'rate_limit_error' }, status: 429 } },
  { match: { userMessage: 'wrong key' }, response: { error: { message: 'Bad key sk-test-secret-value', type: 'authentication_error' }, status: 401 } },
  { match: { userMessage: 'too long' }, response: { error: { message: 'prompt is too long: 300000 tokens > 200000 maximum', type: 'invalid_request_error' }, status: 400 } },
  { match: { userMessage: 'disconnect' }, response: { content: 'This answer never comes to its end because the connection breaks.' }, latency: 10, truncateAfterChunks: 8 },
  { match: { userMessage: 'slow' }, response: { content: 'word '.repeat(200) }, latency: 20 },
];

const tools = [{ name: 'get_weather', description: 'The weather of a city', parameters: schema }];
const results = [
  { role: 'tool', tool_call_id: 'call_oslo', name: 'get_weather', content: '7 degrees', is_error: false },
  { role: 'tool', tool_call_id: 'call_rome', name: 'get_weather', content: 'no such city', is_error: true },
];
const calls = [
  { id: 'call_oslo', name: 'get_weather', arguments: { city: 'Oslo' } },
  { id: 'call_rome', name: 'get_weather', arguments: { city: 'Rome "Roma"' } },
];

export const neutral = (model) => [
  { model, system, tools, max_output_tokens: 500, temperature: 0.5, messages: [{ role: 'user', content: question }] },
  { model, system, tools, max_output_tokens: 500, temperature: 0.5, messages: [{ role: 'user', content: question }, { role: 'assistant', content: '', tool_calls: calls }, ...results] },
  { model, max_output_tokens: 500, stop: ['END'], messages: [{ role: 'user', content: [{ type: 'text', text: 'a picture' }, { type: 'image', media_type: 'image/png', data: pixel }] }] },
];
export const singleMessage = (model, text) => ({ model, max_output_tokens: 100, messages: [{ role: 'user', content: text }] });

const openaiTools = tools.map((t) => ({ type: 'function', function: t }));
const openaiCalls = calls.map((c) => ({ id: c.id, type: 'function', function: { name: c.name, arguments: JSON.stringify(c.arguments) } }));
const stream = { stream: true, stream_options: { include_usage: true } };
export const openai = (model) => [
  { model, ...stream, tools: openaiTools, max_tokens: 500, temperature: 0.5, messages: [{ role: 'system', content: system }, { role: 'user', content: question }] },
  { model, ...stream, tools: openaiTools, max_tokens: 500, temperature: 0.5, messages: [{ role: 'system', content: system }, { role: 'user', content: question },
    { role: 'assistant', content: null, tool_calls: openaiCalls },
    { role: 'tool', tool_call_id: 'call_oslo', content: '7 degrees' },
    { role: 'tool', tool_call_id: 'call_rome', content: 'Error: no such city' }] },
  { model, ...stream, max_tokens: 500, stop: ['END'], messages: [{ role: 'user', content: [{ type: 'text', text: 'a picture' }, { type: 'image_url', image_url: { url: `data:image/png;base64,${pixel}` } }] }] },
];

const responsesTools = tools.map((t) => ({ type: 'function', ...t, strict: false }));
const stateless = { stream: true, store: false };
const userItem = (content) => ({ type: 'message', role: 'user', content });
// This API has no stop sequences.
export const responses = (model) => [
  { model, ...stateless, instructions: system, tools: responsesTools, max_output_tokens: 500, temperature: 0.5, input: [userItem(question)] },
  { model, ...stateless, instructions: system, tools: responsesTools, max_output_tokens: 500, temperature: 0.5, input: [userItem(question),
    ...calls.map((c) => ({ type: 'function_call', call_id: c.id, name: c.name, arguments: JSON.stringify(c.arguments) })),
    { type: 'function_call_output', call_id: 'call_oslo', output: '7 degrees' },
    { type: 'function_call_output', call_id: 'call_rome', output: 'Error: no such city' }] },
  { model, ...stateless, max_output_tokens: 500, input: [userItem([{ type: 'input_text', text: 'a picture' }, { type: 'input_image', image_url: `data:image/png;base64,${pixel}`, detail: 'auto' }])] },
];

const anthropicTools = tools.map((t) => ({ name: t.name, description: t.description, input_schema: t.parameters }));
// This API version rejects `temperature`.
export const anthropic = (model) => [
  { model, stream: true, system, tools: anthropicTools, max_tokens: 500, messages: [{ role: 'user', content: [{ type: 'text', text: question }] }] },
  { model, stream: true, system, tools: anthropicTools, max_tokens: 500, messages: [{ role: 'user', content: [{ type: 'text', text: question }] },
    { role: 'assistant', content: calls.map((c) => ({ type: 'tool_use', id: c.id, name: c.name, input: c.arguments })) },
    { role: 'user', content: [
      { type: 'tool_result', tool_use_id: 'call_oslo', content: '7 degrees' },
      { type: 'tool_result', tool_use_id: 'call_rome', content: 'no such city', is_error: true }] }] },
  { model, stream: true, max_tokens: 500, stop_sequences: ['END'], messages: [{ role: 'user', content: [{ type: 'text', text: 'a picture' }, { type: 'image', source: { type: 'base64', media_type: 'image/png', data: pixel } }] }] },
];
