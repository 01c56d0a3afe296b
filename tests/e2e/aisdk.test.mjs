// The UI message stream of the Vercel AI SDK: chats of DefaultChatTransport, Chat and useChat run as agent runs. The
// transport validates every part of a stream against the SDK's schema.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import http from 'node:http';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { Chat } from '@ai-sdk/react';
import { DefaultChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses, lastAssistantMessageIsCompleteWithToolCalls, readUIMessageStream } from 'ai';
import * as esbuild from 'esbuild';
import { startBrowser } from './lib/console.mjs';
import { lastUser, startLlm, turns } from './lib/llm.mjs';
import { Client, Server, freePort, makeDatabase, sleep, waitFor } from './lib/server.mjs';

let database, llm, server, port, pagePort;
let attempts = 0;  // number of model requests with [cut] or [down]
const words = (n) => Array.from({ length: n }, (_, i) => `w${i} `).join('');

const toolNames = (request) => (request.tools ?? []).map((t) => t.function.name);

// Calls of shell commands with "ask" need an approval.
const settings = `
[[runs.tool_policy]]
match = "shell"
when = {command = "*ask*"}
action = "ask"
`;

async function answer(request, reply) {
  const prompt = lastUser(request);
  const done = turns(request).filter((m) => m.role === 'tool');
  if (prompt.includes('[approve]')) {  // one call for each further line
    if (done.length) return reply.say(`Results: ${done.map((m) => m.content.trim()).join(' | ')}`);
    reply.text('May I? ');
    return reply.tools(prompt.split('\n').slice(1).map((command, i) => (command === 'location'
      ? { id: 'loc', name: 'get_location', arguments: { exact: 0.1 } } : { id: `c${i + 1}`, name: 'shell', arguments: { command } })));
  }
  if (toolNames(request).includes('get_location')) {
    if (prompt.includes('[no tool]')) return reply.say('no call');
    if (done.length === 0) {
      reply.text('One moment. ');
      return reply.tools([{ id: 'loc', name: 'get_location', arguments: { exact: 0.1 } }, ...(prompt.includes('[both]') ? [{ id: 'srv', name: 'shell', arguments: { command: 'echo server side' } }] : [])]);
    }
    const where = done.find((m) => m.tool_call_id === 'loc').content;
    if (prompt.includes('[slow]')) { for (let i = 0; i < 40 && !reply.res.destroyed; i++) { reply.text(`w${i} `); await sleep(50); } return reply.end(); }
    return reply.say(`You are in ${where}.`);
  }
  if (prompt.includes('[shell]')) {
    if (done.length) return reply.say('That is all.');
    reply.text('Let me look. ');
    return reply.tools([{ id: 'a', name: 'shell', arguments: { command: 'echo out' } }, { id: 'b', name: 'read_file', arguments: { path: 'missing' } }]);
  }
  if (prompt.includes('[long tool]')) return reply.tools([{ id: 'a', name: 'shell', arguments: { command: 'sleep 60' } }]);
  if (prompt.includes('[think]')) {
    reply.text('');
    for (const piece of ['First ', 'this.']) reply.res.write(`data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', created: 1, model: request.model, choices: [{ index: 0, delta: { reasoning_content: piece }, finish_reason: null }] })}\n\n`);
    return reply.say('Then that.');
  }
  if (prompt.includes('[cut]') && ++attempts % 2 === 1) { reply.text('void text '); await sleep(300); return reply.cut(); }
  if (prompt.includes('[down]') && ++attempts <= 1) return reply.fail(401);
  if (prompt.includes('[401]')) { reply.fail(401, {}, 'bad key sk-test-secret-value'); return; }
  if (prompt.includes('[slow]')) {
    for (let i = 0; i < 60 && !reply.res.destroyed; i++) { reply.text(`w${i} `); await sleep(50); }
    return reply.end();
  }
  for (const word of ['Hello', ' from', ' the', ' model']) reply.text(word);
  reply.end();
}

before(async () => {
  database = makeDatabase();
  llm = await startLlm(answer);
  [port, pagePort] = [await freePort(), await freePort()];
  server = await new Server({ database, llm, settings, set: [`http.listen=127.0.0.1:${port}`, `http.cors.origins=["http://127.0.0.1:${pagePort}"]`] }).start();
});
after(async () => {
  await server?.close();
  await llm?.close();
  database?.drop();
});

const api = () => `${server.url}/aisdk/chat`;
const of = (id) => `/aisdk/chat/${encodeURIComponent(id)}`;
const transportOf = (user, options = {}) => new DefaultChatTransport({ api: api(), ...options, headers: { authorization: `Bearer ${user.token}`, ...options.headers } });
const userMessage = (text, id = randomUUID()) => ({ id, role: 'user', parts: [{ type: 'text', text }] });
const plain = (value) => JSON.parse(JSON.stringify(value));  // without members that are undefined
const textOf = (message) => message.parts.filter((p) => p.type === 'text').map((p) => p.text).join('');

// Sends a request as useChat does. Returns the parts of the stream and the message that the SDK builds from them.
async function send(user, chatId, messages, { body, headers, trigger = 'submit-message', until } = {}) {
  const stop = new AbortController();
  const stream = await transportOf(user, { headers }).sendMessages({ chatId, messages, trigger, body, abortSignal: stop.signal });
  return read(stream, { until, stop });
}
async function read(stream, { until, stop } = {}) {
  const [forParts, forMessage] = stream.tee();
  const out = { parts: [], errors: [] };
  const building = (async () => {
    try {
      for await (const m of readUIMessageStream({ stream: forMessage, onError: (e) => out.errors.push(e) })) out.message = m;
    } catch (e) { if (e.name !== 'AbortError') throw e; }
  })();
  try {
    for await (const part of forParts) {
      out.parts.push(part);
      if (until?.(part)) { stop.abort(); break; }
    }
  } catch (e) { if (e.name !== 'AbortError') throw e; }
  await building;
  out.types = out.parts.map((p) => p.type);
  return out;
}
const resume = async (user, chatId, options) => {
  const stream = await transportOf(user, options).reconnectToStream({ chatId });
  return stream && read(stream);
};
const runOf = async (user, chatId) => (await user.get(of(chatId))).json.messages.findLast((m) => m.role === 'assistant')?.metadata.runId;
const notActive = (user, chatId) => waitFor('the end of the run', async () => (await user.get(of(chatId))).json.activeStreamId === null);

test('a message starts a run, and the response is a UI message stream', async () => {
  const u = await server.user();
  const raw = await u.post('/aisdk/chat', { json: { id: 'raw', messages: [userMessage('Say hello')], trigger: 'submit-message' } });
  assert.equal(raw.status, 200, raw.text);
  assert.match(raw.headers.get('content-type'), /^text\/event-stream/);
  assert.equal(raw.headers.get('x-vercel-ai-ui-message-stream'), 'v1');
  assert.equal(raw.headers.get('x-accel-buffering'), 'no');
  assert.match(raw.text, /^data: \{"type":"start"/);
  assert.match(raw.text, /\ndata: \[DONE\]\n\n$/);
  const chatId = 'a chat/with ümlaut?';
  const s = await send(u, chatId, [userMessage('Say hello')]);
  assert.equal(textOf(s.message), 'Hello from the model');
  assert.deepEqual(s.message.parts.map((p) => [p.type, p.state]), [['step-start', undefined], ['text', 'done']]);
  assert.deepEqual([s.types[0], s.types[1], s.types[2]], ['start', 'start-step', 'text-start']);
  assert.deepEqual(s.types.slice(-3), ['text-end', 'finish-step', 'finish']);
  assert.equal(s.parts.at(-1).finishReason, 'stop');
  const { runId, threadId, usage } = s.message.metadata;
  assert.equal(s.message.id, runId);
  assert.deepEqual(usage, { inputTokens: 10, outputTokens: 5, totalTokens: 15, cachedInputTokens: 0 });
  assert.equal((await u.get(`/agent-run/${runId}`)).json.thread_id, threadId);
  assert.equal(await resume(u, chatId), null, 'nothing to resume');
  assert.equal(await resume(u, 'unknown'), null);
});

test('reasoning, server-side tools and their errors become parts of the message', async () => {
  const u = await server.user();
  const thinking = await send(u, 'think', [userMessage('[think]')]);
  assert.deepEqual(thinking.message.parts.map((p) => [p.type, p.text]), [['step-start', undefined], ['reasoning', 'First this.'], ['text', 'Then that.']]);
  const s = await send(u, 'tools', [userMessage('[shell]')]);
  const [first, text, shell, file, second, end] = s.message.parts;
  assert.deepEqual([first.type, text.text, second.type, end.text], ['step-start', 'Let me look. ', 'step-start', 'That is all.']);
  assert.deepEqual([shell.type, shell.toolName, shell.state, shell.providerExecuted, shell.input], ['dynamic-tool', 'shell', 'output-available', true, { command: 'echo out' }]);
  assert.match(shell.output, /^out\n/);
  assert.deepEqual([file.type, file.toolName, file.state], ['dynamic-tool', 'read_file', 'output-error']);
  assert.ok(file.errorText);
  assert.ok(s.parts.some((p) => p.type === 'data-tool-output' && p.transient && p.data.content.includes('out')));
  // The stored messages give the same message.
  const stored = (await u.get(of('tools'))).json;
  const simple = (m) => ({ id: m.id, role: m.role, parts: m.parts.map(({ type, text, toolName, toolCallId, state, input, output, errorText, providerExecuted }) => ({ type, text, toolName, toolCallId, state, input, output, errorText, providerExecuted })) });
  assert.deepEqual(simple(stored.messages[1]), simple(s.message));
  assert.deepEqual(stored.messages[0].parts, [{ type: 'text', text: '[shell]', state: 'done' }]);
});

test('the text of an aborted attempt is removed from the message', async () => {
  const u = await server.user();
  attempts = 0;
  const s = await send(u, 'cut', [userMessage('[cut]')]);
  assert.ok(s.parts.some((p) => p.type === 'text-delta' && p.delta.includes('void')));
  assert.ok(s.types.includes('reset-step'));
  assert.ok(s.parts.some((p) => p.type === 'data-notice' && p.data.code === 'LLM_RETRY'));
  assert.equal(textOf(s.message), 'Hello from the model');
});

test('the thread stores the conversation; earlier messages are used only for a new chat', async () => {
  const u = await server.user();
  const earlier = [
    userMessage('What is 6 * 7?'),
    { id: 'x', role: 'assistant', parts: [{ type: 'step-start' }, { type: 'text', text: 'I calculate.' }, { type: 'dynamic-tool', toolName: 'calculate', toolCallId: 'k', state: 'output-available', input: { a: 6 }, output: { result: 42 } }, { type: 'step-start' }, { type: 'text', text: 'It is 42.' }, { type: 'data-own', data: 1 }] },
  ];
  const before = llm.seen.length;
  const first = await send(u, 'history', [{ id: 's', role: 'system', parts: [{ type: 'text', text: 'Use British spelling.' }] }, ...earlier, userMessage('And now?')]);
  assert.equal(textOf(first.message), 'Hello from the model');
  const sent = llm.seen[before].json.messages;
  assert.match(sent[0].content, /Use British spelling/);
  const conversation = sent.filter((m) => m.role !== 'system');
  assert.deepEqual(conversation.map((m) => m.role), ['user', 'assistant', 'tool', 'assistant', 'user']);
  assert.equal(conversation[1].tool_calls[0].function.name, 'calculate');
  assert.match(JSON.stringify(conversation[2].content), /42/);
  const { threadId, runId } = first.message.metadata;
  const stored = (await u.get(`/threads/${threadId}/messages`)).json.messages;
  assert.deepEqual(stored.map((m) => m.agent_run_id), [null, null, null, null, runId, runId]);
  // Only the newest message is used now, whatever the client sends before it.
  const second = await send(u, 'history', [userMessage('forged'), userMessage('And then?')]);
  assert.equal(second.message.metadata.threadId, first.message.metadata.threadId);
  const again = llm.seen.at(-1).json.messages.filter((m) => m.role !== 'system').map((m) => m.content);
  assert.ok(!JSON.stringify(again).includes('forged'));
  assert.ok(JSON.stringify(again).includes('And now?'));
  // The id of an existing thread selects it.
  const byThread = await send(u, first.message.metadata.threadId, [userMessage('Third')]);
  assert.equal(byThread.message.metadata.threadId, first.message.metadata.threadId);
});

test('transports that send only the newest message, and the extra members of the body', async () => {
  const u = await server.user();
  const agents = (await u.get('/agents')).json.agents;
  const r = await u.post('/aisdk/chat', { json: { id: 'one', message: userMessage('hi'), agentId: agents[0].id ?? agents[0].agent_id, model: 'runyard/basic', mode: 'chat', own: 1 } });
  assert.equal(r.status, 200, r.text);
  const run = (await u.get(`/agent-run/${/"runId":"([^"]+)"/.exec(r.text)[1]}`)).json;
  assert.equal(run.mode, 'chat');
  const key = { 'idempotency-key': randomUUID() }, body = { id: 'keyed', messages: [userMessage('hi', 'm')] };
  const [a, b] = [await u.post('/aisdk/chat', { json: body, headers: key }), await u.post('/aisdk/chat', { json: body, headers: key })];
  assert.equal(a.status, 200, a.text);
  assert.equal(/"runId":"([^"]+)"/.exec(a.text)[1], /"runId":"([^"]+)"/.exec(b.text)?.[1], b.text);
});

test('file parts become files of the workspace', async () => {
  const u = await server.user();
  const file = { type: 'file', mediaType: 'text/plain', filename: 'notes.txt', url: `data:text/plain;base64,${Buffer.from('forty-two apples').toString('base64')}` };
  const unnamed = { type: 'file', mediaType: 'text/csv', url: 'data:text/csv,a%2Cb+c' };
  const s = await send(u, 'files', [{ id: 'm', role: 'user', parts: [file, unnamed, { type: 'text', text: 'Read it' }] }]);
  assert.equal(textOf(s.message), 'Hello from the model');
  const { project_id: project } = (await u.get(`/agent-run/${s.message.id}`)).json;
  assert.equal((await u.get(`/projects/${project}/files/content?path=uploads/notes.txt`)).text, 'forty-two apples');
  assert.equal((await u.get(`/projects/${project}/files/content?path=uploads/attachment-2.csv`)).text, 'a,b+c');
  const only = await send(u, 'only a file', [{ id: 'm', role: 'user', parts: [file] }]);
  assert.equal(textOf(only.message), 'Hello from the model');
  const remote = await u.post('/aisdk/chat', { json: { id: 'x', messages: [{ id: 'm', role: 'user', parts: [{ ...file, url: 'https://example.org/a.txt' }] }] } });
  assert.deepEqual([remote.status, remote.json.detail], [422, 'messages[0].parts[0].url must be a valid data URL']);
});

const locationTool = { name: 'get_location', description: 'Where the user is', inputSchema: { type: 'object', properties: { exact: { type: 'number' } } } };
function chatOf(user, id, { output = { city: 'Ulm' }, ...options } = {}) {
  const calls = [];
  const chat = new Chat({
    id, transport: transportOf(user, { body: { mode: 'chat', tools: [locationTool] } }),
    onToolCall: ({ toolCall }) => {
      calls.push(toolCall);
      if (output) void chat.addToolOutput({ tool: toolCall.toolName, toolCallId: toolCall.toolCallId, output });
    },
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls, ...options,
  });
  return Object.assign(chat, { calls });
}
const ready = (chat, text) => waitFor(`"${text}" in the chat (${chat.status})`, () => chat.status !== 'submitted' && chat.status !== 'streaming' && chat.lastMessage && textOf(chat.lastMessage).includes(text));

test('client-side tools: onToolCall, addToolOutput and sendAutomaticallyWhen continue the message', async () => {
  const u = await server.user();
  const chat = chatOf(u, 'client tools');
  await chat.sendMessage({ text: 'Where am I?' });
  await ready(chat, 'You are in');
  assert.deepEqual(chat.calls.map((c) => [c.toolName, c.input, c.providerExecuted, c.dynamic]), [['get_location', { exact: 0.1 }, undefined, undefined]]);
  assert.equal(chat.messages.length, 2);
  assert.deepEqual(chat.lastMessage.parts.map((p) => p.type), ['step-start', 'text', 'tool-get_location', 'step-start', 'text']);
  assert.equal(textOf(chat.lastMessage), 'One moment. You are in {"city":"Ulm"}.');
  const stored = (await u.get(of('client tools'))).json.messages;
  assert.deepEqual(stored.map((m) => m.role), ['user', 'assistant']);
  assert.equal(stored[1].id, chat.lastMessage.id);
  const tool = stored[1].parts[2];
  assert.deepEqual([tool.type, tool.state, tool.output], ['tool-get_location', 'output-available', { city: 'Ulm' }]);
  // An ended continuation, streamed again, has the parts of both runs.
  const replay = await resume(u, 'client tools', { prepareReconnectToStreamRequest: ({ id }) => ({ api: `${server.url}${of(id)}/stream?runId=${chat.lastMessage.metadata.runId}` }) });
  assert.deepEqual(plain(replay.message.parts), plain(chat.lastMessage.parts));
  assert.equal(replay.message.id, chat.lastMessage.id);
});

test('a stream of a continuation that is resumed has the complete message', async () => {
  const u = await server.user();
  const chat = chatOf(u, 'resumed tools');
  void chat.sendMessage({ text: '[slow] Where am I?' });
  await waitFor('text of the second run', () => chat.lastMessage && textOf(chat.lastMessage).includes('w5'));
  await chat.stop();
  const reloaded = chatOf(u, 'resumed tools', { messages: (await u.get(of('resumed tools'))).json.messages });
  await reloaded.resumeStream();
  assert.equal(reloaded.messages.length, 2);
  assert.equal(textOf(reloaded.lastMessage), `One moment. ${words(40)}`);
  assert.deepEqual(reloaded.lastMessage.parts.map((p) => [p.type, p.state]), [['step-start', undefined], ['text', 'done'], ['tool-get_location', 'output-available'], ['step-start', undefined], ['text', 'done']]);
  assert.deepEqual(reloaded.lastMessage.parts[2].output, { city: 'Ulm' });
  assert.equal(reloaded.lastMessage.id, chat.lastMessage.id);
});

test('outputs of client tools are sent with the next message, and results that the thread has are not sent twice', async () => {
  const u = await server.user();
  const chat = chatOf(u, 'late output', { output: null, sendAutomaticallyWhen: undefined });
  await chat.sendMessage({ text: 'Where am I?' });
  assert.equal(chat.lastMessage.parts.at(-1).state, 'input-available');
  await chat.addToolOutput({ tool: 'get_location', toolCallId: 'loc', state: 'output-error', errorText: 'no permission' });
  await chat.sendMessage({ text: '[no tool] Never mind' });
  assert.equal(chat.error, undefined, String(chat.error));
  assert.equal(textOf(chat.lastMessage), 'no call');
  const sent = llm.seen.at(-1).json.messages.filter((m) => m.role !== 'system');
  assert.deepEqual(sent.map((m) => m.role), ['user', 'assistant', 'tool', 'assistant', 'user']);
  assert.match(JSON.stringify(sent[2].content), /no permission/);
  const before = chat.messages.slice(0, 2);
  const s = await send(u, 'late output', [...before, userMessage('[no tool] Again')], { body: { mode: 'chat', tools: [locationTool] } });
  assert.equal(textOf(s.message), 'no call');
});

test('regenerate-message repeats a failed run, and sends the newest message again after a complete one', async () => {
  const u = await server.user();
  attempts = 0;
  const chat = new Chat({ id: 'regenerate', transport: transportOf(u) });
  await chat.sendMessage({ text: '[down]' });
  assert.equal(chat.status, 'error');
  await chat.regenerate();
  assert.equal(chat.status, 'ready', String(chat.error));
  assert.deepEqual(chat.messages.map((m) => [m.role, textOf(m)]), [['user', '[down]'], ['assistant', 'Hello from the model']]);
  assert.deepEqual((await u.get(of('regenerate'))).json.messages.map((m) => m.role), ['user', 'assistant'], 'the message is not stored twice');
  await chat.regenerate();
  assert.equal(chat.status, 'ready', String(chat.error));
  assert.deepEqual(chat.messages.map((m) => m.role), ['user', 'assistant']);
  assert.deepEqual(llm.seen.at(-1).json.messages.filter((m) => m.role !== 'system').map((m) => m.role), ['user', 'assistant', 'user']);
});

test('a failed run ends with an error part that has no secrets', async () => {
  const u = await server.user();
  const s = await send(u, 'fail', [userMessage('[401]')]);
  assert.equal(s.errors.length, 1);
  const error = s.parts.find((p) => p.type === 'error');
  assert.ok(error.errorText);
  assert.doesNotMatch(JSON.stringify(s.parts), /sk-test|127\.0\.0\.1/);
  assert.deepEqual([s.parts.at(-1).type, s.parts.at(-1).finishReason], ['finish', 'error']);
  assert.ok(s.message.metadata.errorCode);
});

test('a disconnect does not stop the run: the stream is resumed from its beginning', async () => {
  const u = await server.user();
  const s = await send(u, 'resume', [userMessage('[slow]')], { until: (p) => p.type === 'text-delta' && p.delta.includes('w5') });
  const chat = new Chat({ id: 'resume', transport: transportOf(u), messages: (await u.get(of('resume'))).json.messages });
  assert.equal((await u.get(of('resume'))).json.activeStreamId, s.parts[0].messageId);
  await chat.resumeStream();
  assert.equal(chat.status, 'ready', String(chat.error));
  assert.equal(chat.lastMessage.id, s.parts[0].messageId);
  assert.deepEqual(chat.messages.map((m) => textOf(m)), ['[slow]', words(60)]);
  assert.equal(await resume(u, 'resume'), null);
  const r = await u.get(`${of('resume')}/stream?runId=${chat.lastMessage.id}`);
  assert.match(r.text, /"finishReason":"stop"/);
});

test('the stop route ends the run, and the stream ends with abort', async () => {
  const u = await server.user();
  const reading = send(u, 'stop', [userMessage('[slow]')]);
  await waitFor('the run', async () => (await u.get(of('stop'))).json.activeStreamId);
  await sleep(300);
  const stale = await u.post(`${of('stop')}/stop`, { json: { activeStreamId: randomUUID() } });
  assert.deepEqual([stale.status, stale.json], [200, { success: true, stopped: 0 }]);
  const r = await u.post(`${of('stop')}/stop`, { json: { assistantMessage: { id: 'x' }, activeStreamId: null } });
  assert.deepEqual([r.status, r.json], [200, { success: true, stopped: 1 }], r.text);
  const s = await reading;
  assert.deepEqual(s.types.slice(-4), ['finish-step', 'message-metadata', 'abort', 'finish']);
  assert.equal(s.parts.find((p) => p.type === 'abort').reason, 'user_stop');
  assert.match(textOf(s.message), /^w0 /);
  assert.deepEqual((await u.post(`${of('stop')}/stop`)).json, { success: true, stopped: 0 });
  assert.deepEqual((await u.post(`${of('unknown')}/stop`)).json, { success: true, stopped: 0 });
  // A call that the stop interrupts does not stay open in the client.
  const tool = send(u, 'stop', [userMessage('[long tool]')]);
  await waitFor('the run', async () => (await u.get(of('stop'))).json.activeStreamId);
  await sleep(700);
  await u.post(`${of('stop')}/stop`);
  assert.equal((await tool).message.parts.find((p) => p.type === 'dynamic-tool').state, 'output-error');
});

test('a chat with an active run refuses a second message unless onBusy allows it', async () => {
  const u = await server.user({ tier: 'pro' });
  const first = send(u, 'busy', [userMessage('[slow]')]);
  await waitFor('the run', async () => (await u.get(of('busy'))).json.activeStreamId);
  const chat = new Chat({ id: 'busy', transport: transportOf(u) });
  await chat.sendMessage({ text: 'second' });
  assert.equal(chat.status, 'error');
  assert.deepEqual([chat.error.statusCode, JSON.parse(chat.error.message).detail.error_code], [409, 'THREAD_BUSY']);
  const next = await send(u, 'busy', [userMessage('third')], { body: { onBusy: 'interrupt' } });
  assert.equal(textOf(next.message), 'Hello from the model');
  assert.ok((await first).types.includes('abort'));
});

// Resumes after an error unless the end of the run was received.
function persistentChat(user, id, errors) {
  const chat = new Chat({
    id, transport: transportOf(user),
    onError: (e) => {
      errors.push(e.message);
      const { runId, ended } = chat.lastMessage?.metadata ?? {};
      if (runId && !ended && errors.length < 100) setTimeout(() => void chat.resumeStream({ headers: { 'X-Run-Id': runId } }), 200);
    },
  });
  return chat;
}

test('kill -9 during a response: a client that resumes has the text exactly once', async () => {
  const u = await server.user();
  const errors = [];
  const chat = persistentChat(u, 'killed', errors);
  void chat.sendMessage({ text: '[slow]' });
  await waitFor('text', () => chat.lastMessage && textOf(chat.lastMessage).includes('w10'));
  await server.kill();
  await server.start();
  await waitFor('the complete text', () => chat.status === 'ready' && chat.lastMessage?.role === 'assistant' && textOf(chat.lastMessage) === words(60), 40000);
  assert.ok(errors.length > 0);
  assert.deepEqual(chat.messages.map((m) => m.role), ['user', 'assistant']);
  assert.equal(chat.messages[1].parts.filter((p) => p.type === 'text').length, 1);
});

test('SIGTERM: the stream ends with an error part, and the client resumes it', async () => {
  const u = await server.user();
  const errors = [];
  const chat = persistentChat(u, 'drained', errors);
  void chat.sendMessage({ text: '[slow]' });
  await waitFor('text', () => chat.lastMessage && textOf(chat.lastMessage).includes('w10'));
  await server.stop();
  await server.start();
  await waitFor('the complete text', () => chat.status === 'ready' && textOf(chat.lastMessage) === words(60), 40000);
  assert.match(errors[0], /^The server is restarting/);
  assert.equal(chat.messages.length, 2);
});

test('a reload of the module ends its streams, and clients resume them', async () => {
  const u = await server.user();
  const admin = new Client(server, server.token({ role: 'super_admin' }));
  const errors = [];
  const chat = persistentChat(u, 'reloaded', errors);
  void chat.sendMessage({ text: '[slow]' });
  await waitFor('text', () => chat.lastMessage && textOf(chat.lastMessage).includes('w10'));
  const r = await admin.post('/admin/modules/aisdk/reload');
  assert.deepEqual([r.status, r.json.left[0].outcome], [200, 'unloaded'], r.text);
  await waitFor('the complete text', () => chat.status === 'ready' && textOf(chat.lastMessage) === words(60), 20000);
  assert.match(errors[0], /^The server is restarting/);
  assert.equal(chat.messages.length, 2);
});

// A chat that sends decisions about tool calls automatically, as useChat does.
const approvingChat = (user, id, options = {}) => new Chat({
  id, transport: transportOf(user, options.transport), onData: (part) => options.data?.push(part),
  sendAutomaticallyWhen: (state) => lastAssistantMessageIsCompleteWithApprovalResponses(state) || (!state.messages.at(-1).metadata?.waiting && lastAssistantMessageIsCompleteWithToolCalls(state)),
  ...options.chat,
});
const ask = (...commands) => ({ text: ['[approve]', ...commands].join('\n') });
const toolParts = (chat) => chat.lastMessage.parts.filter((p) => p.toolCallId);
const decideElsewhere = async (u, part, body) => {
  const r = await u.post(`/approvals/${part.approval.id}`, { json: body });
  assert.equal(r.status, 200, r.text);
};
// The message that a client builds which sees the complete run at once.
async function rebuilt(u, id, chat) {
  const s = await resume(u, id, { headers: { 'x-run-id': chat.lastMessage.metadata.runId } });
  return s.message;
}

test('a call that needs an approval: the stream ends, and an approval continues the message', async () => {
  const u = await server.user();
  const chat = approvingChat(u, 'approve');
  await chat.sendMessage(ask('echo ask yes'));
  assert.equal(chat.status, 'ready', String(chat.error));
  const { metadata } = chat.lastMessage;
  assert.deepEqual([metadata.waiting, metadata.ended], [true, false]);
  const [part] = toolParts(chat);
  assert.deepEqual([part.type, part.toolName, part.state, part.providerExecuted, part.input], ['dynamic-tool', 'shell', 'approval-requested', true, { command: 'echo ask yes' }]);
  assert.ok(Date.parse(part.approval.descriptor.expiresAt) > Date.now());
  // After a reload, the stored messages and the resumed stream have the same part.
  await waitFor('the run is parked', async () => (await u.get(`/agent-run/${metadata.runId}`)).json.waiting_for);
  const stored = (await u.get(of('approve'))).json;
  const simple = ({ type, toolName, toolCallId, state, input, providerExecuted, approval }) => ({ type, toolName, toolCallId, state, input, providerExecuted, approval });
  assert.deepEqual(simple(stored.messages.at(-1).parts.at(-1)), plain(simple(part)));
  const reloaded = approvingChat(u, 'approve', { chat: { messages: stored.messages } });
  await reloaded.resumeStream();
  assert.deepEqual([reloaded.status, reloaded.messages.length], ['ready', 2]);
  assert.deepEqual(plain(reloaded.lastMessage), plain(chat.lastMessage));
  await reloaded.addToolApprovalResponse({ id: part.approval.id, approved: true });
  await ready(reloaded, 'Results');
  assert.match(textOf(reloaded.lastMessage), /^May I\? Results: ask yes/);
  assert.deepEqual(reloaded.lastMessage.parts.map((p) => [p.type, p.state]), [['step-start', undefined], ['text', 'done'], ['dynamic-tool', 'output-available'], ['step-start', undefined], ['text', 'done']]);
  assert.deepEqual([reloaded.lastMessage.id, reloaded.lastMessage.metadata.runId, reloaded.lastMessage.metadata.waiting, reloaded.lastMessage.metadata.ended], [metadata.runId, metadata.runId, false, true]);
  const complete = await rebuilt(u, 'approve', reloaded);
  assert.deepEqual(plain(complete), plain(reloaded.lastMessage));
  assert.equal(database.sql(`select count(*) from runs.runs where account_id = '${u.id}'`), '1');
  await reloaded.sendMessage({ text: 'thanks' });
  assert.equal(textOf(reloaded.lastMessage), 'Hello from the model');
});

test('a denied call has no output, and the model gets the reason', async () => {
  const u = await server.user();
  const chat = approvingChat(u, 'deny');
  await chat.sendMessage(ask('echo ask no', 'echo free'));
  assert.deepEqual(toolParts(chat).map((p) => p.state), ['approval-requested', 'output-available']);
  await chat.addToolApprovalResponse({ id: toolParts(chat)[0].approval.id, approved: false, reason: 'too risky' });
  await ready(chat, 'Results');
  assert.match(textOf(chat.lastMessage), /the user denied it with the reason: too risky/);
  const [part] = toolParts(chat);
  assert.deepEqual([part.state, part.approval.approved, part.approval.reason], ['output-denied', false, 'too risky']);
  const complete = await rebuilt(u, 'deny', chat);
  assert.deepEqual(plain(complete), plain(chat.lastMessage));
});

test('two calls of one answer: the run continues after both decisions, wherever they are made', async () => {
  const u = await server.user();
  const chat = approvingChat(u, 'two');
  await chat.sendMessage(ask('echo ask one', 'echo ask two'));
  const [one, two] = toolParts(chat);
  assert.deepEqual([one.state, two.state], ['approval-requested', 'approval-requested']);
  await chat.addToolApprovalResponse({ id: one.approval.id, approved: true });
  assert.equal(chat.status, 'ready', 'nothing is sent yet');
  await chat.addToolApprovalResponse({ id: two.approval.id, approved: true });
  await ready(chat, 'Results');
  assert.match(textOf(chat.lastMessage), /ask one.*\| ask two/s);
  // One decision elsewhere, then one here; a resumed stream shows the first.
  const other = approvingChat(u, 'two elsewhere');
  await other.sendMessage(ask('echo ask one', 'echo ask two'));
  const [first, second] = toolParts(other);
  await waitFor('the run is parked', async () => (await u.get(`/agent-run/${other.lastMessage.id}`)).json.waiting_for?.length === 2);
  await decideElsewhere(u, first, { decision: 'deny', reason: 'by another' });
  await other.resumeStream();
  assert.deepEqual(toolParts(other).map((p) => [p.state, p.approval.approved]), [['approval-responded', false], ['approval-requested', undefined]]);
  assert.equal(other.lastMessage.metadata.waiting, true);
  await other.addToolApprovalResponse({ id: second.approval.id, approved: true });
  await ready(other, 'Results');
  assert.match(textOf(other.lastMessage), /by another \| ask two/);
  assert.deepEqual(toolParts(other).map((p) => p.state), ['output-denied', 'output-available']);
});

test('a decision that was made elsewhere appears when the stream is resumed, and wins over a later one', async () => {
  const u = await server.user();
  const data = [];
  const chat = approvingChat(u, 'elsewhere', { data });
  await chat.sendMessage(ask('echo ask elsewhere'));
  const { runId } = chat.lastMessage.metadata;
  const late = new Chat({ id: 'elsewhere', transport: transportOf(u), messages: plain(chat.messages) });
  await decideElsewhere(u, toolParts(chat)[0], { decision: 'approve', arguments: { command: 'echo changed' } });
  await chat.resumeStream({ headers: { 'X-Run-Id': runId } });
  assert.match(textOf(chat.lastMessage), /Results: changed/);
  assert.deepEqual(toolParts(chat).map((p) => [p.state, p.approval.approved]), [['output-available', true]]);
  // A client that has not seen it decides otherwise, after the run has ended.
  const own = approvingChat(u, 'elsewhere', { data, chat: { messages: late.messages } });
  await own.addToolApprovalResponse({ id: toolParts(own)[0].approval.id, approved: false });
  await ready(own, 'Results');
  assert.ok(data.some((p) => p.type === 'data-notice' && p.data.code === 'APPROVAL_DECIDED'), JSON.stringify(data));
  assert.deepEqual(plain(own.lastMessage.parts.map((p) => [p.type, p.text ?? p.output, p.state])), plain(chat.lastMessage.parts.map((p) => [p.type, p.text ?? p.output, p.state])));
  assert.deepEqual(toolParts(own).map((p) => p.approval.approved), [true]);
});

test('kill -9 while a run waits: the decision continues it, and the call is made once', async () => {
  const u = await server.user();
  const chat = approvingChat(u, 'killed approval');
  await chat.sendMessage(ask('echo ask >> count; cat count'));
  const id = toolParts(chat)[0].approval.id;
  await server.kill();
  await server.start();
  await chat.resumeStream();
  assert.equal(chat.status, 'ready', String(chat.error));
  assert.deepEqual(toolParts(chat).map((p) => [p.state, p.approval.id]), [['approval-requested', id]]);
  await chat.addToolApprovalResponse({ id, approved: true });
  await ready(chat, 'Results');
  assert.match(textOf(chat.lastMessage), /Results: ask(?!.*ask)/s);
  // The server fails between the decision and the response.
  const errors = [];
  const failing = approvingChat(u, 'killed response', { chat: { onError: (e) => errors.push(e) } });
  await failing.sendMessage(ask('echo ask; sleep 3; echo done'));
  const { runId } = failing.lastMessage.metadata;
  void failing.addToolApprovalResponse({ id: toolParts(failing)[0].approval.id, approved: true });
  await waitFor('the decision', async () => database.sql(`select status from runs.approvals where run_id = '${runId}'`) === 'approved');
  await sleep(500);
  await server.kill();
  await waitFor('the broken connection', () => errors.length > 0);
  await server.start();
  await failing.resumeStream({ headers: { 'X-Run-Id': runId } });
  assert.equal(failing.status, 'ready', String(failing.error));
  assert.match(textOf(failing.lastMessage), /^May I\? Results: /);
  assert.equal(failing.messages.length, 2);
});

test('a call of a client tool and an approval in one answer', async () => {
  const u = await server.user();
  const options = { body: { tools: [locationTool] } };
  const chat = approvingChat(u, 'mixed', { transport: options });
  await chat.sendMessage(ask('echo ask mixed', 'location'));
  assert.deepEqual(toolParts(chat).map((p) => p.state), ['approval-requested', 'input-available']);
  await chat.addToolOutput({ tool: 'get_location', toolCallId: 'loc', output: { city: 'Ulm' } });
  assert.equal(chat.status, 'ready', String(chat.error));
  await chat.addToolApprovalResponse({ id: toolParts(chat)[0].approval.id, approved: true });
  await ready(chat, 'Results');
  assert.match(textOf(chat.lastMessage), /ask mixed[\s\S]*Ulm|Ulm[\s\S]*ask mixed/);
  assert.deepEqual(toolParts(chat).map((p) => p.state), ['output-available', 'output-available']);
  assert.equal(chat.messages.length, 2);
});

test('a waiting run can be stopped, refuses other messages, and ends when its chat interrupts it', async () => {
  const u = await server.user({ tier: 'pro' });
  const chat = approvingChat(u, 'stop waiting');
  await chat.sendMessage(ask('echo ask'));
  const before = plain(chat.messages);
  await chat.sendMessage({ text: 'something else' });
  assert.deepEqual([chat.error.statusCode, JSON.parse(chat.error.message).detail.error_code], [409, 'THREAD_BUSY']);
  assert.deepEqual((await u.post(`${of('stop waiting')}/stop`)).json, { success: true, stopped: 1 });
  const late = approvingChat(u, 'stop waiting', { chat: { messages: before } });
  await late.addToolApprovalResponse({ id: toolParts(late)[0].approval.id, approved: true });
  await waitFor('the end', () => late.lastMessage.metadata.ended);
  assert.equal(toolParts(late)[0].state, 'output-error');
  const s = await send(u, 'stop waiting', [userMessage('and on')], { body: { onBusy: 'interrupt' } });
  assert.equal(textOf(s.message), 'Hello from the model');
});

test('decisions about unknown approvals and those of others are refused', async () => {
  const [a, b] = [await server.user(), await server.user()];
  const chat = approvingChat(a, 'mine');
  await chat.sendMessage(ask('echo ask'));
  const responded = (change) => ({ id: 'mine', messages: [{ ...plain(chat.lastMessage), parts: plain(chat.lastMessage.parts).map((p) => (p.approval ? { ...p, state: 'approval-responded', approval: { ...p.approval, approved: true, ...change } } : p)) }] });
  const refused = async (user, json, status, text) => {
    const r = await user.post('/aisdk/chat', { json });
    assert.deepEqual([r.status, r.json.detail], [status, text], r.text);
  };
  const unknown = 'messages[0].parts[2].approval.id is not an approval of this chat';
  await refused(b, responded({}), 422, unknown);
  await refused(a, responded({ id: randomUUID() }), 422, unknown);
  await refused(a, { ...responded({}), id: 'another chat' }, 422, unknown);
  await refused(a, responded({ id: 7 }), 422, 'messages[0].parts[2].approval.id must be a string that is not empty');
  await refused(a, responded({ approved: 'yes' }), 422, 'messages[0].parts[2].approval.approved must be a boolean');
  assert.equal((await a.get('/approvals')).json.approvals[0].status, 'pending');
  await a.post(`${of('mine')}/stop`);
});

test('invalid requests name the member and start nothing', async () => {
  const u = await server.user();
  const good = { id: 'c', messages: [userMessage('x')] };
  const cases = [
    [{ ...good, id: undefined }, 422, 'id must be a string'],
    [{ ...good, id: 7 }, 422, 'id must be a string'],
    [{ ...good, id: '' }, 422, /^id must have 1 to 256 bytes/],
    [{ ...good, id: 'x'.repeat(257) }, 422, /^id must have 1 to 256 bytes/],
    [{ ...good, id: 'a\0b' }, 422, /^id must have/],
    [{ ...good, trigger: 'delete' }, 422, /^trigger must be/],
    [{ ...good, messages: 'x' }, 422, 'messages must be an array'],
    [{ ...good, messages: [] }, 422, 'messages must not be empty'],
    [{ ...good, messages: Array(2001).fill(userMessage('x')) }, 422, 'messages must have at most 2000 items'],
    [{ ...good, messages: [null] }, 422, 'messages[0] must be an object'],
    [{ ...good, messages: [{ role: 'tool', parts: [] }] }, 422, /^messages\[0\]\.role must be/],
    [{ ...good, messages: [{ role: 'user', content: 'x' }] }, 422, 'messages[0].parts must be an array'],
    [{ ...good, messages: [{ role: 'user', parts: [1] }] }, 422, 'messages[0].parts[0] must be an object with a type'],
    [{ ...good, messages: [{ role: 'user', parts: [] }] }, 422, 'messages must contain a message with text or files'],
    [{ ...good, messages: [{ role: 'system', parts: [] }] }, 422, 'messages[0].role must be user or assistant'],
    [{ ...good, agentId: 'x' }, 422, 'agentId must be a UUID'],
    [{ ...good, agentId: randomUUID() }, 404, /./],
    [{ ...good, model: 5 }, 422, 'model must be a string'],
    [{ ...good, mode: 'x' }, 400, 'mode must be agent, chat or code'],
    [{ ...good, onBusy: 'x' }, 400, /^on_busy must be/],
    [{ ...good, tools: 'x' }, 422, 'tools must be an array or an object'],
    [{ ...good, tools: { x: 1 } }, 422, 'tools.x must be an object'],
    [{ ...good, system: 1 }, 422, 'system must be a string'],
    [{ ...good, tools: [{ description: 'x' }] }, 422, /^tools\[0\]\.name/],
    [{ ...good, tools: [{ name: 'x', inputSchema: 'y' }] }, 422, /^tools\[0\]\.inputSchema must be/],
    [{ ...good, tools: [{ name: 'not a name' }] }, 422, /name must have/],
    [[1], 422, 'The body must be a JSON object'],
  ];
  for (const [json, status, detail] of cases) {
    const r = await u.post('/aisdk/chat', { json });
    assert.equal(r.status, status, `${JSON.stringify(json).slice(0, 200)}: ${r.text}`);
    const text = r.json.detail.message ?? r.json.detail;
    assert.ok(typeof detail === 'string' ? text === detail : detail.test(text), `${JSON.stringify(json).slice(0, 200)}: ${r.text}`);
  }
  const post = (body, type = 'application/json') => u.post('/aisdk/chat', { body, headers: { 'content-type': type } });
  for (const body of ['', '{', '{"id":"c","messages":' + '['.repeat(1000), `{"id":"c","messages":[${'0,'.repeat(600000)}0]}`])
    assert.equal((await post(body)).status, 400, body.slice(0, 50));
  assert.equal((await post(JSON.stringify({ ...good, filler: 'x'.repeat(17 << 20) })).catch(() => ({ status: 413 }))).status, 413);
  assert.equal(database.sql(`select count(*) from runs.runs where account_id = '${u.id}'`), '0');
  assert.equal((await u.post(`${of('c')}/stop`, { body: '{', headers: { 'content-type': 'application/json' } })).status, 400);
  assert.equal((await u.post(`${of('c')}/stop`, { json: { activeStreamId: 5 } })).status, 422);
  assert.equal((await u.get(of('x'.repeat(257)))).status, 422);
  assert.equal((await u.get(`${of('c')}?limit=0`)).status, 422);
  assert.equal((await fetch(api(), { method: 'POST', body: JSON.stringify(good), headers: { 'content-type': 'application/json' } })).status, 401);
});

test('accounts cannot read the chats, threads and runs of other accounts', async () => {
  const [a, b] = [await server.user(), await server.user()];
  const mine = await send(a, 'same id', [userMessage('mine')]);
  const theirs = await send(b, 'same id', [userMessage('theirs')]);
  assert.notEqual(mine.message.metadata.threadId, theirs.message.metadata.threadId);
  const foreign = mine.message.metadata.threadId;
  const other = await send(b, foreign, [userMessage('hello')]);
  assert.notEqual(other.message.metadata.threadId, foreign, 'a foreign thread id is only a name');
  assert.deepEqual((await b.get(of(foreign))).json.messages.map((m) => textOf(m)), ['hello', 'Hello from the model']);
  for (const run of [mine.message.id, randomUUID()])
    assert.equal((await b.get(`${of('same id')}/stream?runId=${run}`)).status, 404);
  assert.equal((await a.get(`${of('same id')}/stream?runId=nonsense`)).status, 400);
  const second = await send(a, 'second', [userMessage('x')]);
  assert.equal((await a.get(`${of('same id')}/stream?runId=${second.message.id}`)).status, 404, 'a run of another chat');
});

// A page with useChat, bundled and served on its own origin.
async function startPage() {
  const source = `
    import { useEffect, useState } from 'react';
    import { createRoot } from 'react-dom/client';
    import { useChat } from '@ai-sdk/react';
    import { DefaultChatTransport } from 'ai';
    const { api, token, id } = JSON.parse(decodeURIComponent(location.hash.slice(1)));
    const headers = { authorization: 'Bearer ' + token };
    const transport = new DefaultChatTransport({ api, headers });
    function Messages({ initial }) {
      const chat = useChat({ id, messages: initial, transport, resume: true, onError: () => {
        const { runId, ended } = chat.messages.at(-1)?.metadata ?? {};
        if (runId && !ended) setTimeout(() => chat.resumeStream({ headers: { 'X-Run-Id': runId } }), 300);
      } });
      return <main>
        <button onClick={() => chat.sendMessage({ text: '[slow]' })}>Send</button>
        <p id="status">{chat.status}</p>
        {chat.messages.map((m) => <p key={m.id} className={m.role}>{m.parts.filter((p) => p.type === 'text').map((p) => p.text).join('')}</p>)}
      </main>;
    }
    function App() {
      const [initial, setInitial] = useState();
      useEffect(() => { fetch(api + '/' + encodeURIComponent(id), { headers }).then((r) => r.json()).then((c) => setInitial(c.messages)); }, []);
      return initial ? <Messages initial={initial} /> : null;
    }
    createRoot(document.getElementById('root')).render(<App />);`;
  const { outputFiles } = await esbuild.build({
    stdin: { contents: source, resolveDir: import.meta.dirname, loader: 'jsx' }, bundle: true, write: false, format: 'esm', jsx: 'automatic',
    define: { 'process.env.NODE_ENV': '"production"' }, nodePaths: [path.join(import.meta.dirname, 'node_modules')], logLevel: 'error',
  });
  const page = http.createServer((req, res) => {
    const script = req.url === '/app.js';
    res.writeHead(200, { 'content-type': script ? 'text/javascript' : 'text/html; charset=utf-8' });
    res.end(script ? outputFiles[0].text : '<!doctype html><title>Chat</title><link rel="icon" href="data:,"><div id="root"></div><script type="module" src="/app.js"></script>');
  });
  await new Promise((resolve) => page.listen(pagePort, '127.0.0.1', resolve));
  return page;
}

test('useChat in a browser resumes after a reload and after kill -9 of the server', async () => {
  const u = await server.user();
  const served = await startPage();
  const browser = await startBrowser();
  try {
    const page = await browser.person();
    await page.goto(`http://127.0.0.1:${pagePort}/#${encodeURIComponent(JSON.stringify({ api: api(), token: u.token, id: 'browser' }))}`);
    const shown = () => page.$$eval('p.user, p.assistant', (all) => all.map((p) => p.textContent));
    const status = () => page.$eval('#status', (p) => p.textContent);
    await page.press('Send');
    await page.sees('w5 ');
    await page.reload();
    await page.sees('w20 ');
    assert.equal((await shown()).length, 2);
    await server.kill();
    await server.start();
    await waitFor('the complete text', async () => (await shown()).at(-1) === words(60) && (await status()) === 'ready', 40000);
    assert.deepEqual(await shown(), ['[slow]', words(60)]);
    await page.reload();
    await page.sees('w59');
    assert.deepEqual(await shown(), ['[slow]', words(60)], 'the stored messages are the same');
  } finally {
    await browser.close();
    served.close();
  }
});
