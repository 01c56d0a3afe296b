// Clients of the APIs of OpenAI: the Vercel AI SDK, LangChain.js, the OpenAI Agents SDK and the SDK of OpenAI.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createOpenResponses } from '@ai-sdk/open-responses';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { ChatOpenAI } from '@langchain/openai';
import { Agent, OpenAIProvider, Runner, handoff, setTracingDisabled, tool as agentTool } from '@openai/agents';
import { Output, generateText, stepCountIs, streamText, tool } from 'ai';
import OpenAI from 'openai';
import { z } from 'zod';
import { startHarness } from './lib/harness.mjs';

let harness, user, baseURL;
const model = 'runyard/basic';
const hello = 'Hello from the model';
const weatherSays = 'Sunny in Ulm';
const report = z.object({ city: z.string(), degrees: z.number() });

before(async () => {
  harness = await startHarness();
  user = await harness.user();
  baseURL = `${harness.server.url}/v1`;
  setTracingDisabled(true);
});
after(() => harness?.close());

const textOf = async (stream) => {
  const parts = [];
  for await (const part of stream) parts.push(part);
  return parts.join('');
};

const providers = {
  '@ai-sdk/openai, Responses': () => createOpenAI({ baseURL, apiKey: user.token }).responses(model),
  '@ai-sdk/openai, Chat Completions': () => createOpenAI({ baseURL, apiKey: user.token }).chat(model),
  '@ai-sdk/openai-compatible': () => createOpenAICompatible({ name: 'runyard', baseURL, apiKey: user.token, includeUsage: true })(model),
  '@ai-sdk/open-responses': () => createOpenResponses({ name: 'runyard', url: `${baseURL}/responses`, apiKey: user.token })(model),
};
for (const [name, make] of Object.entries(providers)) {
  test(`${name}: text, streams, tools, structured output`, async () => {
    const llm = make();
    const options = { model: llm, maxRetries: 0 };
    const simple = await generateText({ ...options, instructions: 'Be brief', prompt: 'Say hello' });
    assert.equal(simple.text, hello);
    assert.deepEqual([simple.finishReason, simple.usage.inputTokens, simple.usage.outputTokens], ['stop', 10, 5]);

    const streamed = streamText({ ...options, prompt: 'Say hello', onError: ({ error }) => { throw error; } });
    assert.equal(await textOf(streamed.textStream), hello);
    const usage = await streamed.usage;
    assert.deepEqual([usage.inputTokens, usage.outputTokens, await streamed.finishReason], [10, 5, 'stop']);

    const calls = [];
    const tools = { get_weather: tool({ description: 'Weather of a city', inputSchema: z.object({ city: z.string() }), execute: async (args) => { calls.push(args); return weatherSays; } }) };
    const called = await generateText({ ...options, tools, prompt: '[weather]', stopWhen: stepCountIs(3) });
    assert.deepEqual(calls, [{ city: 'Ulm' }]);
    assert.match(called.text, /The tool said: .*Sunny in Ulm/);
    const calledInStream = streamText({ ...options, tools, prompt: '[weather]', stopWhen: stepCountIs(3) });
    assert.match(await textOf(calledInStream.textStream), /^Let me look\. The tool said: .*Sunny in Ulm/);
    assert.equal((await calledInStream.steps).length, 2);

    const structured = await generateText({ ...options, output: Output.object({ schema: report }), prompt: '[json]' });
    assert.deepEqual(structured.output, { city: 'Ulm', degrees: 21 });

    const many = await generateText({ ...options, messages: [
      { role: 'user', content: 'My name is Alice.' }, { role: 'assistant', content: 'Hello Alice.' }, { role: 'user', content: [{ type: 'text', text: '[echo]' }] }] });
    assert.deepEqual(JSON.parse(many.text).filter((m) => m.role !== 'system').map((m) => m.role), ['user', 'assistant', 'user']);
  });
}

test('@ai-sdk/openai: previousResponseId continues a response', async () => {
  const llm = createOpenAI({ baseURL, apiKey: user.token }).responses(model);
  const first = await generateText({ model: llm, prompt: 'first question' });
  const { responseId } = first.providerMetadata.openai;
  const second = await generateText({ model: llm, prompt: 'second [echo]', providerOptions: { openai: { previousResponseId: responseId } } });
  assert.deepEqual(JSON.parse(second.text).filter((m) => m.role === 'user').map((m) => m.content), ['first question', 'second [echo]']);
});

test('@ai-sdk/openai: an agent with server-side tools', async () => {
  const llm = createOpenAI({ baseURL, apiKey: user.token }).responses('agent');
  const streamed = streamText({ model: llm, prompt: '[shell]' });
  const parts = [];
  for await (const part of streamed.fullStream) parts.push(part);
  assert.deepEqual(parts.filter((p) => p.type === 'error'), []);
  assert.match(await streamed.text, /The tool said: .*from the sandbox/s);
  const call = parts.find((p) => p.type === 'tool-call'), result = parts.find((p) => p.type === 'tool-result');
  assert.equal(call?.providerExecuted, true);
  assert.match(JSON.stringify(result?.output), /from the sandbox/);
});

for (const useResponsesApi of [false, true]) {
  test(`@langchain/openai, ${useResponsesApi ? 'Responses' : 'Chat Completions'}`, async () => {
    const chat = new ChatOpenAI({ model, apiKey: user.token, useResponsesApi, maxRetries: 0, configuration: { baseURL } });
    const simple = await chat.invoke([['system', 'Be brief'], ['human', 'Say hello']]);
    assert.equal(simple.text, hello);
    assert.deepEqual([simple.usage_metadata.input_tokens, simple.usage_metadata.output_tokens], [10, 5]);
    let all;
    for await (const chunk of await chat.stream('Say hello')) all = all ? all.concat(chunk) : chunk;
    assert.equal(all.text, hello);
    assert.equal(all.usage_metadata.total_tokens, 15);
    const weather = { name: 'get_weather', description: 'Weather of a city', schema: z.object({ city: z.string() }) };
    const withTools = chat.bindTools([weather]);
    const asked = await withTools.invoke('[weather]');
    assert.deepEqual(asked.tool_calls.map((c) => [c.name, c.args]), [['get_weather', { city: 'Ulm' }]]);
    const done = await withTools.invoke([['human', '[weather]'], asked, { role: 'tool', content: weatherSays, tool_call_id: asked.tool_calls[0].id }]);
    assert.match(done.text, /The tool said: .*Sunny in Ulm/);
    assert.deepEqual(await chat.withStructuredOutput(report, { method: 'jsonSchema', name: 'report' }).invoke('[json]'), { city: 'Ulm', degrees: 21 });
  });
}

test('@openai/agents: tools, handoffs, streams and previousResponseId', async () => {
  const runner = new Runner({ modelProvider: new OpenAIProvider({ apiKey: user.token, baseURL, useResponses: true }), tracingDisabled: true });
  const weather = agentTool({ name: 'get_weather', description: 'Weather of a city', parameters: z.object({ city: z.string() }), execute: async () => weatherSays });
  const agent = new Agent({ name: 'Assistant', instructions: 'Be brief', model, tools: [weather] });
  const simple = await runner.run(agent, 'Say hello');
  assert.equal(simple.finalOutput, hello);
  const called = await runner.run(agent, '[weather]');
  assert.match(called.finalOutput, /The tool said: .*Sunny in Ulm/);
  const streamed = await runner.run(agent, '[weather]', { stream: true });
  assert.match(await textOf(streamed.toTextStream()), /Let me look\. .*The tool said: .*Sunny in Ulm/);
  await streamed.completed;
  assert.match(streamed.finalOutput, /Sunny in Ulm/);
  const next = await runner.run(agent, 'second [echo]', { previousResponseId: simple.lastResponseId });
  assert.deepEqual(JSON.parse(next.finalOutput).filter((m) => m.role === 'user').map((m) => m.content), ['Say hello', 'second [echo]']);
  const typed = new Agent({ name: 'Typed', model, outputType: report });
  assert.deepEqual((await runner.run(typed, '[json]')).finalOutput, { city: 'Ulm', degrees: 21 });
  const desk = new Agent({ name: 'Desk', model, handoffs: [handoff(agent)] });
  assert.equal((await runner.run(desk, 'Say hello')).finalOutput, hello);
});

test('openai: newest version', async () => {
  const client = new OpenAI({ baseURL, apiKey: user.token, maxRetries: 0 });
  const models = [];
  for await (const m of client.models.list()) models.push(m);
  assert.ok(models.some((m) => m.id === model && m.object === 'model' && typeof m.created === 'number' && typeof m.owned_by === 'string'));
  const chat = await client.chat.completions.create({ model, messages: [{ role: 'user', content: 'Say hello' }] });
  assert.equal(chat.choices[0].message.content, hello);
  const runner = client.chat.completions.runTools({ model, messages: [{ role: 'user', content: '[weather]' }], stream: true,
    tools: [{ type: 'function', function: { name: 'get_weather', description: 'Weather of a city', parameters: { type: 'object', properties: { city: { type: 'string' } } }, parse: JSON.parse, function: async () => weatherSays } }] });
  assert.match(await runner.finalContent(), /The tool said: .*Sunny in Ulm/);
  const stream = client.responses.stream({ model: 'agent', input: '[shell]' });
  const final = await stream.finalResponse();
  assert.match(final.output_text, /The tool said: .*from the sandbox/s);
});
