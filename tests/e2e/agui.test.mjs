// AG-UI 1.0 with its TypeScript client: every stream passes the client's schemas and verifier, and the messages of the
// client equal those of the stored thread.
import { HttpAgent, buildResumeArray, verifyEvents } from '@ag-ui/client';
import { EventSchema, RunAgentInputSchema } from '@ag-ui/core/schemas';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { from, lastValueFrom, toArray } from 'rxjs';
import { lastUser, startLlm, turns } from './lib/llm.mjs';
import { Server, makeDatabase, sleep, waitFor } from './lib/server.mjs';

let database, llm, server, user;
let release = () => {};  // lets the model finish a response to [hold]
const attempts = new Map();  // prompt -> requests so far

// Calls of shell commands with "ask" need an approval.
const settings = `
[[runs.tool_policy]]
match = "shell"
when = {command = "*ask*"}
action = "ask"
`;

const reasoning = (reply, request, text) => {
  reply.text('');
  reply.res.write(`data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', created: 1, model: request.model, choices: [{ index: 0, delta: { reasoning_content: text }, finish_reason: null }] })}\n\n`);
};

async function answer(request, reply) {
  const prompt = lastUser(request);
  const results = turns(request).filter((m) => m.role === 'tool');
  const n = (attempts.get(prompt) ?? 0) + 1;
  attempts.set(prompt, n);
  if (prompt.includes('[approve]')) {  // one call for each further line
    const commands = prompt.split('\n').slice(1);
    if (results.length >= commands.length) return reply.say(`Results: ${results.map((m) => m.content.trim()).join(' | ')}`);
    reply.text('May I? ');
    if (prompt.includes('[one by one]')) return reply.tools([{ id: 'c', name: 'shell', arguments: { command: commands[results.length] } }]);
    return reply.tools(commands.map((command, i) => (command === 'color' ? { id: 'col', name: 'pick_color', arguments: { choices: ['red'] } } : { id: `c${i}`, name: 'shell', arguments: { command } })));
  }
  if (prompt.includes('[think]')) reasoning(reply, request, 'consider it');
  if (prompt.includes('[both]') && results.length === 0)
    return reply.tools([{ id: 'call_0', name: 'shell', arguments: { command: 'echo server' } }, { id: 'call_1', name: 'pick_color', arguments: { choices: ['red', 'blue'] } }]);
  if (prompt.includes('[color]') && results.length === 0) return reply.tools([{ name: 'pick_color', arguments: { choices: ['red', 'blue'] } }]);
  if (prompt.includes('[shell]') && results.length < 2) {
    if (results.length === 0) reply.text('I run a command. ');
    return reply.tools([{ name: 'shell', arguments: { command: `echo run ${results.length}` } }]);
  }
  if (prompt.includes('[cut]') && n === 1) {
    reply.text('a partial answer');
    await sleep(400);
    return reply.cut();
  }
  if (prompt.includes('[fail]')) return reply.fail(401);
  if (prompt.includes('[hold]')) {
    reply.text('begun ');
    await new Promise((resolve) => { release = resolve; });
    if (reply.res.destroyed) return;
  }
  if (prompt.includes('[slow]')) {
    for (let i = 0; i < 40; i++) { reply.text(`w${i} `); await sleep(50); if (reply.res.destroyed) return; }
    return reply.end();
  }
  if (prompt.includes('[large]')) {
    for (let i = 0; i < 400; i++) reply.text(`${i} `.padEnd(10_000, 'x'));
    return reply.end();
  }
  reply.text('Hello ');
  reply.say(results.length ? `with ${results.map((m) => m.content).join(' and ')}` : 'world');
}

before(async () => {
  database = makeDatabase();
  llm = await startLlm(answer);
  server = await new Server({ database, llm, settings, set: [] }).start();
  user = await server.user({ tier: 'enterprise' });
});
after(async () => {
  release();
  await server?.close();
  await llm?.close();
  database?.drop();
});

const route = (agent = 'default') => `${server.url}/agui/agents/${agent}`;
const headers = (u = user) => ({ authorization: `Bearer ${u.token}` });
const idOf = () => randomUUID().slice(0, 8);
const message = (content) => ({ id: `user-${idOf()}`, role: 'user', content });

// An agent that records its events and reconnects with Last-Event-ID when its connection breaks.
class Agent extends HttpAgent {
  constructor({ as = user, onEvent, ...config } = {}) {
    super({ url: route(), headers: headers(as), threadId: `thread ${idOf()}`, ...config });
    this.events = [];
    this.finished = [];
    this.connections = 0;
    this.subscribe({
      onEvent: ({ event }) => { this.events.push(event); onEvent?.(event, this); },
      onRunFinishedEvent: ({ event, messages, agent, state, input, ...end }) => { this.finished.push(end); },
    });
    this.fetch = (url, init) => this.open(url, init);
  }
  types() { return this.events.map((e) => e.type); }
  stored() { return this.events.find((e) => e.type === 'RUN_STARTED').metadata.runyard; }
  async send(content, options) {
    this.addMessage(message(content));
    return await this.runAgent(options);
  }
  connect(input) {
    const to = new HttpAgent({ url: `${this.url}/connect`, headers: this.headers });
    return to.run(input);
  }
  // Resumes a broken stream; the client sees one response.
  async open(url, init) {
    this.connections++;
    const first = await fetch(url, init);
    if (first.status !== 200 || !this.resumes) return first;
    const agent = this;
    let last = '', run = first.headers.get('runyard-run-id'), done = false;
    async function* bytes() {
      for (let response = first; ;) {
        let pending = '';
        try {
          for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
            pending += chunk;
            for (let end; (end = pending.indexOf('\n\n')) >= 0; pending = pending.slice(end + 2)) {
              const block = pending.slice(0, end + 2);
              last = /^id: (.*)$/m.exec(block)?.[1] ?? last;
              done ||= /"type":"RUN_(FINISHED|ERROR)"/.test(block);
              yield new TextEncoder().encode(block);
            }
          }
        } catch (e) { if (init.signal.aborted) throw e; }
        if (done) return;
        response = await waitFor('a connection', async () => {
          try {
            agent.connections++;
            const query = new URLSearchParams({ threadId: agent.threadId });
            const r = agent.resumes === 'GET'
              ? await fetch(`${route()}/runs/${run}?${query}`, { headers: { ...init.headers, 'last-event-id': last } })
              : await fetch(route(), { ...init, headers: { ...init.headers, 'last-event-id': last } });
            return r.status === 200 ? r : undefined;
          } catch { return undefined; }
        }, 40000);
      }
    }
    return new Response(ReadableStream.from(bytes()), { headers: first.headers });
  }
}

const storedMessages = async (thread, u = user) => (await u.get(`/threads/${thread}/messages`)).json.messages;
// The values that must be equal on both sides.
const textAndCalls = (m) => ({
  role: m.role,
  content: m.content || undefined,
  calls: (m.toolCalls ?? m.tool_calls ?? []).map((c) => [c.function?.name ?? c.name, c.function ? JSON.parse(c.function.arguments) : c.arguments]),
});
async function assertSameThread(agent, u = user) {
  const visible = agent.messages.filter((m) => ['user', 'assistant', 'tool'].includes(m.role));
  assert.deepEqual(visible.map(textAndCalls), (await storedMessages(agent.stored().threadId, u)).map(textAndCalls));
  assert.equal(new Set(visible.map((m) => m.id)).size, visible.length, 'ids are unique');
}

// Reads a stream: [{id, event}]. `until`: closes the connection after this event.
async function read(url, { method = 'GET', body, last, u = user, until } = {}) {
  const stop = new AbortController();
  const h = { ...headers(u), accept: 'text/event-stream', ...(last !== undefined && { 'last-event-id': last }), ...(body && { 'content-type': 'application/json' }) };
  const r = await fetch(url, { method, headers: h, body: body && JSON.stringify(body), signal: stop.signal });
  const out = { status: r.status, headers: r.headers, events: [] };
  if (r.status !== 200) return { ...out, text: await r.text() };
  let pending = '';
  try {
    for await (const chunk of r.body.pipeThrough(new TextDecoderStream())) {
      pending += chunk;
      for (let end; (end = pending.indexOf('\n\n')) >= 0; pending = pending.slice(end + 2)) {
        const data = /^data: (.*)$/m.exec(pending.slice(0, end))?.[1];
        if (data === undefined) continue;
        const event = JSON.parse(data);
        out.events.push({ id: /^id: (.*)$/m.exec(pending.slice(0, end))?.[1], event });
        if (until?.(event)) { stop.abort(); return out; }
      }
    }
  } catch (e) { if (!stop.signal.aborted) throw e; }
  return out;
}
const post = (body, options = {}) => read(route(options.agent), { method: 'POST', body, ...options });
const input = (more = {}) => ({ threadId: `thread ${idOf()}`, runId: `run ${idOf()}`, protocolVersion: '1.0', messages: [message('hi')], tools: [], context: [], ...more });
const verified = (events) => {
  for (const e of events) EventSchema.parse(e);
  return lastValueFrom(from(events).pipe(verifyEvents(), toArray()));
};

test('a run streams text, and several runs continue one thread', async () => {
  const agent = new Agent();
  await agent.send('first', { runId: 'my run' });
  assert.deepEqual(agent.types(), ['RUN_STARTED', 'STEP_STARTED', 'TEXT_MESSAGE_START', ...agent.types().filter((t) => t === 'TEXT_MESSAGE_CONTENT'), 'TEXT_MESSAGE_END', 'STEP_FINISHED', 'RUN_FINISHED']);
  assert.equal(agent.messages.at(-1).content, 'Hello world');
  const started = agent.events[0];
  assert.deepEqual([started.threadId, started.runId, started.protocolVersion], [agent.threadId, 'my run', '1.0']);
  const finished = agent.events.at(-1);
  assert.deepEqual(finished.outcome, { type: 'success' });
  assert.deepEqual(finished.usage, [{ provider: 'runyard', model: 'basic', inputTokens: 10, outputTokens: 5, totalTokens: 15, cachedInputTokens: 0 }]);
  await agent.send('second');
  await agent.send('third');
  assert.deepEqual(llm.seen.at(-1).json.messages.filter((m) => m.role !== 'system').map((m) => m.content),
    ['first', 'Hello world', 'second', 'Hello world', 'third']);
  await assertSameThread(agent);
});

test('a new thread begins with the earlier messages of the client', async () => {
  const agent = new Agent({ initialMessages: [
    message('what is it?'), { id: 'a1', role: 'assistant', toolCalls: [{ id: 'c1', type: 'function', function: { name: 'look', arguments: '{"at":1}' } }] },
    { id: 't1', role: 'tool', toolCallId: 'c1', content: 'a cat' }, { id: 'r1', role: 'reasoning', content: 'hm' }, { id: 'a2', role: 'assistant', content: 'a cat' }] });
  await agent.send('and now?');
  const sent = llm.seen.at(-1).json.messages.filter((m) => m.role !== 'system');
  assert.deepEqual(sent.map((m) => m.role), ['user', 'assistant', 'tool', 'assistant', 'user']);
  assert.equal(sent[1].tool_calls[0].function.name, 'look');
  assert.equal(sent[2].content, 'a cat');
  await assertSameThread(agent);
});

test('a thread of the account is continued by its id', async () => {
  const r = await user.start({ prompt: 'in the console' });
  await user.stream(r.json.agent_run_id);
  const agent = new Agent({ threadId: r.json.thread_id });
  await agent.send('from AG-UI');
  assert.equal(agent.stored().threadId, r.json.thread_id);
  assert.deepEqual((await storedMessages(r.json.thread_id)).map((m) => m.content), ['in the console', 'Hello world', 'from AG-UI', 'Hello world']);
  // The same id of another account names a different thread.
  const other = await server.user();
  const foreign = new Agent({ as: other, threadId: r.json.thread_id });
  await foreign.send('mine');
  assert.notEqual(foreign.stored().threadId, r.json.thread_id);
  assert.equal((await storedMessages(r.json.thread_id)).length, 4);
});

test('context and system messages reach the model, and files become attachments', async () => {
  const agent = new Agent({ initialMessages: [{ id: 's1', role: 'system', content: 'Write like a pirate.' }] });
  agent.addMessage({ id: 'u1', role: 'user', content: [
    { type: 'text', text: 'look' }, { type: 'document', source: { type: 'data', mimeType: 'text/plain', value: Buffer.from('the content').toString('base64') }, metadata: { filename: 'note.txt' } },
    { type: 'image', source: { type: 'url', value: 'https://example.com/a.png' } }, { type: 'image', source: { type: 'file', value: 'file-1' } }] });
  await agent.runAgent({ context: [{ description: 'theme', value: 'dark "mode"' }] });
  const system = llm.seen.at(-1).json.messages.filter((m) => m.role === 'system').map((m) => m.content).join('\n');
  assert.match(system, /Write like a pirate\./);
  assert.ok(system.includes('[{"description":"theme","value":"dark \\"mode\\""}]'), system);
  const prompt = lastUser(llm.seen.at(-1).json);
  assert.match(prompt, /^look\n\[image: https:\/\/example.com\/a.png\]/);
  assert.match(prompt, /note\.txt/);
  assert.match(agent.events.find((e) => e.name === 'runyard.notice').value.message, /messages\[1\]\.content\[3\]/);
});

test('tools of the server, with the same call id twice', async () => {
  const agent = new Agent();
  await agent.send('[shell] go');
  assert.equal(agent.types().filter((t) => t === 'TOOL_CALL_RESULT').length, 2);
  assert.equal(agent.types().filter((t) => t === 'STEP_STARTED').length, 3);
  const calls = agent.messages.flatMap((m) => m.toolCalls ?? []);
  assert.deepEqual(calls.map((c) => JSON.parse(c.function.arguments).command), ['echo run 0', 'echo run 1']);
  assert.notEqual(calls[0].id, calls[1].id);
  assert.ok(agent.events.some((e) => e.name === 'runyard.tool_output' && e.value.content.includes('run 1')));
  await assertSameThread(agent);
  await agent.send('again');
  await assertSameThread(agent);
});

const colorTool = { name: 'pick_color', description: 'Lets the user pick a color', parameters: { type: 'object', properties: { choices: { type: 'array', items: { type: 'string' } } } } };

test('a tool of the client: the run ends, and its result continues the thread', async () => {
  for (const prompt of ['[color] choose', '[both] choose']) {
    const agent = new Agent();
    await agent.send(prompt, { tools: [colorTool] });
    const call = agent.messages.flatMap((m) => m.toolCalls ?? []).find((c) => c.function.name === 'pick_color');
    assert.deepEqual(agent.finished.at(-1).pendingToolCallIds, [call.id]);
    assert.deepEqual(agent.events.at(-1).outcome, { type: 'success', pendingToolCallIds: [call.id] });
    agent.addMessage({ id: `t-${idOf()}`, role: 'tool', toolCallId: call.id, content: 'blue' });
    await agent.runAgent({ tools: [colorTool] });
    assert.match(agent.messages.at(-1).content, /^Hello with .*blue/s);
    assert.deepEqual(agent.finished.at(-1).pendingToolCallIds, []);
    await assertSameThread(agent);
    await agent.send('thanks', { tools: [colorTool] });
    assert.equal(agent.messages.at(-1).content, 'Hello world');
    await assertSameThread(agent);
  }
});

test('a result that an earlier run has stored does not block the thread', async () => {
  const agent = new Agent();
  await agent.send('[color] once', { tools: [colorTool] });
  const call = agent.messages.at(-1).toolCalls[0];
  agent.addMessage({ id: 't1', role: 'tool', toolCallId: call.id, content: 'red' });
  await agent.runAgent({ tools: [colorTool] });
  // As if the client had not received that run's answer.
  agent.setMessages(agent.messages.slice(0, -1));
  await agent.send('next', { tools: [colorTool] });
  assert.equal(agent.messages.at(-1).content, 'Hello world');
  agent.setMessages(agent.messages.slice(0, -2));
  await assert.rejects(agent.runAgent({ tools: [colorTool] }), (e) => e.status === 409 && /TOOL_RESULT_NOT_PENDING/.test(e.message) && /tool_call_id/.test(e.message));
});

test('reasoning is streamed as a message of its own', async () => {
  const agent = new Agent();
  await agent.send('[think] deeply');
  const at = agent.types().filter((t) => t.startsWith('REASONING'));
  assert.deepEqual(at, ['REASONING_START', 'REASONING_MESSAGE_START', 'REASONING_MESSAGE_CONTENT', 'REASONING_MESSAGE_END', 'REASONING_END']);
  assert.deepEqual(agent.messages.map((m) => [m.role, m.content]).slice(1), [['reasoning', 'consider it'], ['assistant', 'Hello world']]);
  await agent.send('next');
  await assertSameThread(agent);
});

test('the text of an aborted attempt is replaced', async () => {
  const agent = new Agent();
  await agent.send('before');
  await agent.send(`[think] [cut] ${idOf()}`);
  assert.ok(agent.events.some((e) => e.delta === 'a partial answer'), 'the partial answer was streamed');
  assert.equal(agent.types().filter((t) => t === 'MESSAGES_SNAPSHOT').length, 1);
  const thoughts = agent.messages.filter((m) => m.role === 'reasoning');
  assert.deepEqual(thoughts.map((m) => m.metadata?.runyard?.aborted), [true, undefined]);
  assert.equal(agent.messages.at(-1).content, 'Hello world');
  assert.equal(agent.messages[0].id.startsWith('user-'), true, 'messages of the client keep their ids');
  await assertSameThread(agent);
});

test('a failed run ends with RUN_ERROR, and the thread can be continued', async () => {
  const agent = new Agent();
  await agent.send('[fail]');
  const end = agent.events.at(-1);
  assert.equal(end.type, 'RUN_ERROR');
  assert.ok(end.code && end.message, JSON.stringify(end));
  await agent.send('again');
  assert.equal(agent.messages.at(-1).content, 'Hello world');
});

test('a stopped run ends with the outcome cancelled', async () => {
  const agent = new Agent();
  const running = agent.send('[hold] stop');
  await waitFor('text', () => agent.types().includes('TEXT_MESSAGE_CONTENT'));
  const { runId } = agent.stored();
  const stranger = await server.user();
  assert.equal((await stranger.post(`/agui/agents/default/runs/${runId}/stop`)).status, 404);
  const stopped = await user.post(`/agui/agents/default/runs/${runId}/stop`);
  assert.deepEqual(stopped.json, { status: 'stopped' });
  await running;
  assert.deepEqual(agent.finished.at(-1), { outcome: 'cancelled' });
  release();
  await assertSameThread(agent);
  // A client of an earlier version of the protocol does not know this outcome.
  const old = await read(`${route()}`, { method: 'POST', body: { ...input({ messages: [message('old')] }), protocolVersion: undefined } });
  assert.equal('outcome' in old.events.at(-1).event, false);
});

test('a repeated request follows the same run', async () => {
  const body = input({ messages: [message('once')], tools: [colorTool] });
  const [a, b] = await Promise.all([post(body), post(body)]);
  const c = await post(body);
  const requests = llm.seen.filter((s) => lastUser(s.json) === 'once').length;
  assert.equal(requests, 1);
  assert.deepEqual(a.events, b.events);
  assert.deepEqual(a.events, c.events);
  assert.equal(a.headers.get('runyard-run-id'), a.events[0].event.metadata.runyard.runId);
  const other = await post({ ...body, messages: [message('something else')] });
  assert.equal(other.status, 409);
  assert.match(other.text, /runId was already used/);
});

test('a stream resumes after each of its events', async () => {
  const thread = `thread ${idOf()}`;
  const run = async (prompt, tools) => post(input({ threadId: thread, messages: [message(prompt)], tools }));
  const prompts = ['[think] [shell] resume', `[think] [cut] ${idOf()}`, '[both] resume', '[fail] resume'];
  for (const prompt of prompts) {
    const complete = await run(prompt, [colorTool]);
    await verified(complete.events.map((e) => e.event));
    assert.ok(complete.events.length > 3, prompt);
    assert.ok(complete.events.every((e) => e.id), 'all events have ids');
    const id = complete.headers.get('runyard-run-id');
    const url = `${route()}/runs/${id}?threadId=${encodeURIComponent(thread)}&runId=${encodeURIComponent(complete.events[0].event.runId)}`;
    // Only the complete stream knows the model and the list of pending calls.
    const comparable = (list) => list.map(({ id: at, event }) => {
      const { usage, outcome, messages, ...rest } = event;
      return { at, ...rest, messages: messages?.map(textAndCalls) };
    });
    const snapshotOfThread = (events) => events.filter((e) => e.at).map((e) => (e.messages ? { ...e, messages: 'any' } : e));
    for (let i = 0; i < complete.events.length; i++) {
      const rest = await read(url, { last: complete.events[i].id });
      if (i === complete.events.length - 1) { assert.equal(rest.status, 204); continue; }
      assert.equal(rest.status, 200, rest.text);
      assert.deepEqual(snapshotOfThread(comparable(rest.events)), snapshotOfThread(comparable(complete.events.slice(i + 1))), `${prompt} after event ${i} (${complete.events[i].id})`);
      await verified([...complete.events.slice(0, i + 1), ...rest.events].map((e) => e.event));
    }
    const replay = await read(url);
    assert.deepEqual(snapshotOfThread(comparable(replay.events)), snapshotOfThread(comparable(complete.events)));
    const query = await read(`${url}&lastEventId=${complete.events[1].id}`);
    assert.equal(query.events.filter((e) => e.id).length, complete.events.length - 2);
  }
});

test('a run continues without its client, which resumes with the same request', async () => {
  const body = input({ messages: [message('[slow] on')] });
  const first = await post(body, { until: (e) => e.delta?.includes('w3') });
  await sleep(300);
  const rest = await post(body, { last: first.events.at(-1).id });
  const events = [...first.events, ...rest.events].map((e) => e.event);
  await verified(events);
  assert.equal(events.map((e) => e.delta ?? '').join(''), Array.from({ length: 40 }, (_, i) => `w${i} `).join(''));
});

test('a slow client receives everything', async () => {
  const body = input({ messages: [message('[large]')] });
  const complete = await post(body);
  assert.equal(complete.events.map((e) => e.event.delta ?? '').join('').length, 4_000_000);
  const stop = new AbortController();
  const r = await fetch(route(), { method: 'POST', headers: { ...headers(), 'content-type': 'application/json' }, body: JSON.stringify(body), signal: stop.signal });
  const reader = r.body.getReader();
  await reader.read();
  await sleep(1500);
  let size = 0;
  let tail = '';
  for (let next; !(next = await reader.read()).done;) {
    size += next.value.length;
    tail = (tail + new TextDecoder().decode(next.value)).slice(-2000);
    if (size < 1_000_000) await sleep(20);
  }
  assert.ok(size > 3_900_000, `${size}`);
  assert.match(tail, /"type":"RUN_FINISHED"/);
});

test('a client that was disconnected sends what it has, and gets the complete answer', async () => {
  const agent = new Agent({ onEvent: (e, self) => { if (!self.cut && e.delta?.includes('w5')) { self.cut = true; self.abortRun(); } } });
  await agent.send('before');
  await agent.send('[slow] interrupted');
  const partial = agent.messages.at(-1);
  assert.equal(partial.role, 'assistant');
  assert.ok(partial.content.length < 60, partial.content);
  agent.events.length = 0;
  await agent.runAgent();
  assert.equal(agent.messages.at(-1).content, Array.from({ length: 40 }, (_, i) => `w${i} `).join(''));
  assert.equal(llm.seen.filter((s) => lastUser(s.json) === '[slow] interrupted').length, 1);
  await assertSameThread(agent);
  // Nothing new after the end either: the run is shown, not repeated.
  await agent.runAgent();
  assert.equal(llm.seen.filter((s) => lastUser(s.json) === '[slow] interrupted').length, 1);
  await assertSameThread(agent);
});

test('kill -9 during runs: the client resumes, and its state equals the thread', async () => {
  const agents = ['[slow] kill', '[shell] [slow] kill', '[think] [slow] kill'].map((prompt) => {
    const agent = new Agent();
    agent.resumes = prompt.includes('shell') ? 'GET' : 'POST';
    agent.prompt = prompt;
    return agent;
  });
  await Promise.all(agents.map((a) => a.send('before the kill')));
  const connected = agents.map((a) => a.connections);
  const running = agents.map((a) => { a.events.length = 0; return a.send(a.prompt); });
  await waitFor('text of all runs', () => agents.every((a) => a.events.some((e) => e.delta?.includes('w4'))), 40000);
  await server.kill();
  await server.start();
  await waitFor('all runs to continue', () => agents.every((a, i) => a.connections > connected[i] + 1), 40000);
  await sleep(700);
  await server.kill();
  await server.start();
  for (const a of agents) a.url = route();
  await Promise.all(running);
  for (const a of agents) {
    assert.ok(a.connections > 2, 'it was disconnected');
    assert.ok(a.types().includes('MESSAGES_SNAPSHOT'), 'an attempt was aborted');
    assert.equal(a.types().at(-1), 'RUN_FINISHED');
    assert.equal(a.messages.at(-1).content, Array.from({ length: 40 }, (_, i) => `w${i} `).join(''), a.prompt);
    await assertSameThread(a);
  }
});

test('a swap or stop of the server ends the stream, and the client resumes', async () => {
  const agent = new Agent();
  agent.resumes = 'POST';
  const running = agent.send('[slow] drain');
  await waitFor('text', () => agent.events.some((e) => e.delta?.includes('w4')));
  await server.stop();
  await server.start();
  agent.url = route();
  await running;
  assert.equal(agent.messages.at(-1).content, Array.from({ length: 40 }, (_, i) => `w${i} `).join(''));
  await assertSameThread(agent);
});

test('connect restores a thread, and follows its run in progress', async () => {
  const first = new Agent();
  await first.send('[shell] restore');
  await first.send('[color] restore', { tools: [colorTool] });
  first.addMessage({ id: 't1', role: 'tool', toolCallId: first.messages.at(-1).toolCalls[0].id, content: 'green' });
  await first.runAgent({ tools: [colorTool] });
  const second = new Agent({ threadId: first.threadId });
  await second.connectAgent();
  assert.deepEqual(second.types(), ['RUN_STARTED', 'MESSAGES_SNAPSHOT', 'RUN_FINISHED']);
  assert.deepEqual(second.messages.map(textAndCalls), first.messages.map(textAndCalls));
  const generated = (m) => m.role !== 'user' && m.id !== 't1' && m.content !== 'green';
  assert.deepEqual(second.messages.filter(generated).map((m) => m.id), first.messages.filter(generated).map((m) => m.id), 'the same ids');
  const running = second.send('[slow] restore');
  await waitFor('text', () => second.events.some((e) => e.delta?.includes('w4')));
  const third = new Agent({ threadId: first.threadId });
  await Promise.all([third.connectAgent(), running]);
  assert.equal(third.messages.at(-1).content, second.messages.at(-1).content);
  await assertSameThread(third);
  await third.send('and on');
  await assertSameThread(third);
  const fresh = new Agent();
  await fresh.connectAgent();
  assert.deepEqual(fresh.types(), ['RUN_STARTED', 'RUN_FINISHED']);
});

test('a thread with a run in progress refuses another run unless on_busy allows it', async () => {
  const agent = new Agent();
  const running = agent.send('[hold] busy');
  await waitFor('text', () => agent.types().includes('TEXT_MESSAGE_CONTENT'));
  const more = (forwardedProps) => post(input({ threadId: agent.threadId, messages: [message('next')], forwardedProps }), { until: (e) => e.name === 'runyard.queued' });
  const refused = await more(undefined);
  assert.equal(refused.status, 409);
  assert.match(refused.text, /THREAD_BUSY/);
  const queued = await more({ runyard: { on_busy: 'enqueue' }, other: [1] });
  assert.equal(queued.events.at(-1).event.value.position, 1);
  release();
  await running;
});

const asking = (...commands) => ['[approve]', ...commands].join('\n');
const yes = { status: 'resolved', payload: { approved: true } };
const no = (reason) => ({ status: 'resolved', payload: { approved: false, reason } });
// Responds to all interrupts of the agent, in order.
const respond = (agent, ...responses) => agent.runAgent({ resume: buildResumeArray(agent.pendingInterrupts, Object.fromEntries(agent.pendingInterrupts.map((p, i) => [p.id, responses[i] ?? responses.at(-1)]))) });
const parked = (agent) => waitFor('the run is parked', async () => (await user.get(`/agent-run/${agent.stored().runId}`)).json.waiting_for);
const elsewhere = async (interrupt, body) => {
  const r = await user.post(`/approvals/${interrupt.id}`, { json: body });
  assert.equal(r.status, 200, r.text);
};
const runsOf = (agent) => Number(database.sql(`select count(*) from runs.runs where thread_id = '${agent.stored().threadId}'`));
const resultTypes = ['RUN_STARTED', 'TOOL_CALL_RESULT', 'STEP_STARTED', 'TEXT_MESSAGE_START', 'TEXT_MESSAGE_CONTENT', 'TEXT_MESSAGE_END', 'STEP_FINISHED', 'RUN_FINISHED'];
const withoutCustom = (agent) => agent.types().filter((t, i, all) => t !== 'CUSTOM' && !(t === 'TEXT_MESSAGE_CONTENT' && all[i - 1] === t));

test('a call that needs an approval interrupts the run, and an approval continues it', async () => {
  const agent = new Agent();
  await agent.send(asking('echo ask yes'));
  const finished = agent.events.at(-1);
  assert.equal(finished.outcome.type, 'interrupt');
  const [interrupt] = agent.pendingInterrupts;
  const call = agent.messages.at(-1).toolCalls[0];
  assert.deepEqual([interrupt.reason, interrupt.toolCallId], ['tool_call', call.id]);
  assert.ok(Date.parse(interrupt.expiresAt) > Date.now() + 3600e3);
  assert.deepEqual(interrupt.metadata.runyard, { name: 'shell', source: 'sandbox', arguments: { command: 'echo ask yes' } });
  assert.deepEqual([interrupt.responseSchema.required, Object.keys(interrupt.responseSchema.properties)], [['approved'], ['approved', 'editedArgs', 'reason', 'remember']]);
  await assert.rejects(agent.runAgent(), /pending interrupt/, 'the client requires a response');
  agent.events.length = 0;
  await respond(agent, yes);
  assert.deepEqual(withoutCustom(agent), resultTypes);
  assert.equal(agent.events[0].metadata.runyard.runId, call.id.split('.')[0], 'the same run');
  assert.match(agent.messages.at(-1).content, /^Results: ask yes/);
  assert.deepEqual(agent.pendingInterrupts, []);
  assert.equal(runsOf(agent), 1);
  await assertSameThread(agent);
  await agent.send('next');
  assert.equal(agent.messages.at(-1).content, 'Hello world');
  await assertSameThread(agent);
});

test('denials, changed arguments and remembered decisions', async () => {
  const denied = new Agent();
  await denied.send(asking('echo ask no'));
  await respond(denied, no('too risky'));
  assert.match(denied.messages.at(-1).content, /the user denied it with the reason: too risky/);
  await assertSameThread(denied);
  const cancelled = new Agent();
  await cancelled.send(asking('echo ask no'));
  await respond(cancelled, { status: 'cancelled' });
  assert.match(cancelled.messages.at(-1).content, /the user denied it/);
  const edited = new Agent();
  await edited.send(asking('echo ask original'));
  await respond(edited, { status: 'resolved', payload: { approved: true, editedArgs: { command: 'echo edited' } } });
  assert.match(edited.messages.at(-1).content, /^Results: edited/);
  const remembered = new Agent();
  await remembered.send(asking('echo ask 1', 'echo ask 2').replace('[approve]', '[approve] [one by one]'));
  await respond(remembered, { status: 'resolved', payload: { approved: true, remember: 'run' } });
  assert.match(remembered.messages.at(-1).content, /^Results: ask 1.*\| ask 2/s);
});

test('several interrupts: all need a response, and one run can be interrupted repeatedly', async () => {
  const agent = new Agent();
  await agent.send(asking('echo free', 'echo ask one', 'echo ask two'));
  assert.equal(agent.pendingInterrupts.length, 2);
  assert.equal(agent.types().filter((t) => t === 'TOOL_CALL_RESULT').length, 1, 'the other call is made before');
  const partial = await post(input({ threadId: agent.threadId, messages: agent.messages, resume: [{ interruptId: agent.pendingInterrupts[0].id, ...yes }] }));
  assert.equal(partial.status, 422);
  assert.ok(JSON.parse(partial.text).detail.includes(agent.pendingInterrupts[1].id), partial.text);
  await respond(agent, yes, no('only one'));
  assert.match(agent.messages.at(-1).content, /^Results: free.*\| ask one.*\| .*only one/s);
  await assertSameThread(agent);
  const twice = new Agent();
  await twice.send(asking('echo ask 1', 'echo ask 2').replace('[approve]', '[approve] [one by one]'));
  const first = twice.pendingInterrupts[0].id;
  await respond(twice, yes);
  assert.equal(twice.pendingInterrupts.length, 1);
  assert.notEqual(twice.pendingInterrupts[0].id, first);
  await respond(twice, yes);
  assert.match(twice.messages.at(-1).content, /^Results: ask 1.*\| ask 2/s);
  assert.equal(runsOf(twice), 1);
  await assertSameThread(twice);
});

test('decisions that were made elsewhere', async () => {
  const agent = new Agent();
  await agent.send(asking('echo ask one', 'echo ask two'));
  await parked(agent);
  const [one, two] = agent.pendingInterrupts;
  await elsewhere(one, { decision: 'approve' });
  const conflict = agent.runAgent({ resume: buildResumeArray([one, two], { [one.id]: no(), [two.id]: yes }) });
  await assert.rejects(conflict, (e) => e.status === 409 && /APPROVAL_DECIDED/.test(e.message));
  assert.equal((await user.get('/approvals?status=pending')).json.approvals.filter((a) => a.approval_id === two.id).length, 1, 'no decision is made');
  // `cancelled` leaves a decision that was made before as it is.
  await agent.runAgent({ resume: buildResumeArray([one, two], { [one.id]: { status: 'cancelled' }, [two.id]: yes }) });
  assert.match(agent.messages.at(-1).content, /^Results: ask one.*\| ask two/s);
  await assertSameThread(agent);
  // All decisions elsewhere: the run has ended before the client returns.
  const late = new Agent();
  await late.send(asking('echo ask late'));
  await elsewhere(late.pendingInterrupts[0], { decision: 'approve' });
  await user.stream(late.stored().runId);
  await respond(late, { status: 'cancelled' });
  assert.match(late.messages.at(-1).content, /^Results: ask late/);
  await assertSameThread(late);
  // A client that drops its interrupts follows the run again.
  const again = new Agent();
  await again.send(asking('echo ask again'));
  const open = again.pendingInterrupts;
  again.pendingInterrupts = [];
  await again.runAgent();
  assert.deepEqual(again.pendingInterrupts.map((p) => p.id), open.map((p) => p.id));
  await elsewhere(open[0], { decision: 'deny' });
  again.pendingInterrupts = [];
  await again.runAgent();
  assert.match(again.messages.at(-1).content, /the user denied it/);
  await assertSameThread(again);
});

test('streams of an interrupted run: repeated, resumed after each event, connected, and of earlier clients', async () => {
  const body = input({ messages: [message(asking('echo free', 'echo ask stream'))], threadId: `thread ${idOf()}` });
  const interrupted = await post(body);
  await verified(interrupted.events.map((e) => e.event));
  assert.equal(interrupted.events.at(-1).event.outcome.type, 'interrupt');
  assert.equal((await post(body, { last: interrupted.events.at(-1).id })).status, 204);
  for (let i = 0; i < interrupted.events.length - 1; i++) {
    if (!interrupted.events[i].id) continue;
    const rest = await post(body, { last: interrupted.events[i].id });
    await verified([...interrupted.events.slice(0, i + 1), ...rest.events].map((e) => e.event));
    assert.equal(rest.events.at(-1).event.outcome.type, 'interrupt', `${i}`);
  }
  const old = await post({ ...body, protocolVersion: undefined });
  assert.deepEqual(old.events.at(-1).event.outcome, interrupted.events.at(-1).event.outcome, 'clients from 0.0.54 on know this outcome');
  const custom = old.events.find((e) => e.event.name === 'runyard.approvals_pending');
  assert.deepEqual(custom.event.value, interrupted.events.at(-1).event.outcome.interrupts);
  const connected = new Agent({ threadId: body.threadId });
  await connected.connectAgent();
  assert.deepEqual(connected.pendingInterrupts, interrupted.events.at(-1).event.outcome.interrupts);
  const followed = await read(`${route()}/runs/${interrupted.headers.get('runyard-run-id')}`);
  assert.equal(followed.events.at(-1).event.outcome.type, 'interrupt');
  // A new message needs a decision first.
  const more = await post(input({ threadId: body.threadId, messages: [message('more')] }));
  assert.deepEqual([more.status, JSON.parse(more.text).detail.error_code], [409, 'THREAD_BUSY']);
  await respond(connected, yes);
  assert.match(connected.messages.at(-1).content, /^Results: free.*\| ask stream/s);
  await assertSameThread(connected);
  // The same requests again, with and without the position.
  const resume = { ...input({ threadId: body.threadId, messages: [] }), resume: [{ interruptId: custom.event.value[0].id, ...yes }] };
  const all = await post(resume);
  await verified(all.events.map((e) => e.event));
  assert.deepEqual((await post(resume)).events, all.events);
  for (let i = 0; i < all.events.length; i++) {
    if (!all.events[i].id) continue;
    const rest = await post(resume, { last: all.events[i].id });
    if (i === all.events.length - 1) { assert.equal(rest.status, 204); continue; }
    assert.deepEqual(rest.events.map((e) => e.id), all.events.slice(i + 1).map((e) => e.id), `${i}`);
  }
  const complete = await post(body);
  await verified(complete.events.map((e) => e.event));
  assert.equal(complete.events.at(-1).event.outcome.type, 'success');
  assert.equal(complete.events.filter((e) => e.event.type === 'TOOL_CALL_RESULT').length, 2);
});

test('kill -9 while a run waits, and between a decision and the response', async () => {
  const agent = new Agent();
  await agent.send(asking('echo ask >> count; cat count'));
  await server.kill();
  await server.start();
  agent.url = route();
  await respond(agent, yes);
  assert.match(agent.messages.at(-1).content, /^Results: ask(?!.*ask)/s);
  await assertSameThread(agent);
  const cut = new Agent();
  await cut.send(asking('echo ask; sleep 3; echo done'));
  cut.resumes = 'POST';
  const running = respond(cut, yes);
  await waitFor('the decision', () => database.sql(`select status from runs.approvals where run_id = '${cut.stored().runId}'`) === 'approved');
  await sleep(500);
  await server.kill();
  await server.start();
  cut.url = route();
  await running;
  assert.ok(cut.connections > 2);
  assert.match(cut.messages.at(-1).content, /^Results: /);
  await assertSameThread(cut);
});

test('a tool of the client and an approval in one answer', async () => {
  const agent = new Agent();
  await agent.send(asking('echo ask both', 'color'), { tools: [colorTool] });
  assert.equal(agent.pendingInterrupts.length, 1);
  const call = agent.messages.at(-1).toolCalls.find((c) => c.function.name === 'pick_color');
  agent.addMessage({ id: `t-${idOf()}`, role: 'tool', toolCallId: call.id, content: 'red' });
  await agent.runAgent({ tools: [colorTool], resume: [{ interruptId: agent.pendingInterrupts[0].id, ...yes }] });
  assert.equal(agent.events.at(-1).outcome.type, 'success');
  await agent.runAgent({ tools: [colorTool] });
  assert.match(agent.messages.at(-1).content, /^Results: .*ask both/s);
  assert.match(agent.messages.at(-1).content, /red/);
});

test('a stopped run has no interrupts, and interrupts of others are unknown', async () => {
  const agent = new Agent();
  await agent.send(asking('echo ask'));
  const [interrupt] = agent.pendingInterrupts;
  const other = await server.user();
  const stolen = input({ threadId: agent.threadId, messages: [], resume: [{ interruptId: interrupt.id, ...yes }] });
  const unknown = async (body, u) => {
    const r = await post(body, { u });
    assert.deepEqual([r.status, JSON.parse(r.text).detail], [422, 'resume[0].interruptId is not an interrupt of this thread']);
  };
  await unknown(stolen, other);
  await unknown({ ...stolen, threadId: 'another thread' }, user);
  await unknown({ ...stolen, resume: [{ interruptId: randomUUID(), ...yes }] }, user);
  await user.post(`/agui/agents/default/runs/${agent.stored().runId}/stop`);
  await assert.rejects(respond(agent, yes), (e) => e.status === 409 && /APPROVAL_DECIDED.*cancelled/.test(e.message));
  await respond(agent, { status: 'cancelled' });
  assert.equal(agent.events.at(-1).outcome.type, 'cancelled');
  await agent.send('on');
  assert.equal(agent.messages.at(-1).content, 'Hello world');
});

test('agents are listed, and an agent of the account is chosen by its id', async () => {
  const made = await user.post('/agents', { json: { name: 'Pirate', description: 'of the sea', system_prompt: 'You are a pirate agent.' } });
  const list = await user.get('/agui/agents?limit=1');
  assert.deepEqual(list.json.agents.map((a) => [a.id, a.name, a.description, a.isDefault]), [[made.json.agent_id, 'Pirate', 'of the sea', false]]);
  assert.equal(list.json.capabilities.tools.clientProvided, true);
  const next = await user.get(`/agui/agents?cursor=${list.json.next_cursor}`);
  assert.equal(next.json.agents[0].isDefault, true);
  const agent = new Agent({ url: route(made.json.agent_id) });
  await agent.send('hi');
  assert.match(llm.seen.at(-1).json.messages[0].content, /You are a pirate agent/);
  const other = await server.user();
  assert.equal((await post(input(), { agent: made.json.agent_id, u: other })).status, 404);
  assert.equal((await post(input(), { agent: 'nonsense' })).status, 400);
});

test('invalid input is refused and names the member', async () => {
  const raw = (body, h = {}) => user.request('POST', '/agui/agents/default', { body, headers: { 'content-type': 'application/json', ...h } });
  assert.equal((await raw('{"threadId":')).status, 400);
  assert.equal((await raw('[]')).status, 400);
  assert.equal((await raw('['.repeat(100000))).status, 400);
  assert.equal((await raw(JSON.stringify(input({ messages: [message('x'.repeat(9 << 20))] })))).status, 413);
  assert.equal((await raw(JSON.stringify(input()), { accept: 'application/json' })).status, 406);
  assert.equal((await raw(JSON.stringify(input()), { accept: 'application/vnd.ag-ui.event+proto' })).status, 406);
  const users = (...content) => ({ messages: content.map((c) => ({ id: 'u', role: 'user', content: c })) });
  const cases = [
    [{ threadId: 1 }, 'threadId'], [{ threadId: '' }, 'threadId'], [{ runId: 'x'.repeat(2000) }, 'runId'], [{ messages: undefined }, 'messages'], [{ messages: {} }, 'messages'],
    [{ messages: [] }, 'messages'], [{ messages: [42] }, 'messages[0]'], [{ messages: [{ id: 'a', role: 'robot', content: '' }] }, 'messages[0].role'],
    [{ messages: [{ role: 'user', content: '' }] }, 'messages[0].id'], [users('  '), 'messages[0].content'], [users(42), 'messages[0].content'], [users([42]), 'messages[0].content[0]'],
    [users([{ type: 'text' }]), 'messages[0].content[0].text'], [users([{ type: 'image' }]), 'messages[0].content[0].source'],
    [users([{ type: 'image', source: { type: 'data', value: '%', mimeType: 'image/png' } }]), 'messages[0].content[0].source.value'],
    [{ messages: [{ id: 'a', role: 'assistant', content: 'x' }] }, 'messages'], [{ messages: [message('x'), { id: 'a', role: 'assistant', toolCalls: [{ id: 'c' }] }] }, 'messages[1].toolCalls[0].function'],
    [{ messages: [message('x'), { id: 't', role: 'tool', content: 'x' }] }, 'messages[1].toolCallId'],
    [{ tools: [42] }, 'tools[0]'], [{ tools: [{ name: 'a b', description: '' }] }, 'tools[0].name'], [{ tools: [{ name: 'a', description: '', parameters: 1 }] }, 'tools[0].parameters'],
    [{ context: [42] }, 'context[0]'], [{ context: [{ description: 'd', value: 1 }] }, 'context[0].value'], [{ context: [{ description: 'd', value: 'x'.repeat(70000) }] }, 'context'],
    [{ resume: {} }, 'resume'], [{ resume: [42] }, 'resume[0]'], [{ resume: [{ interruptId: 'i', status: 'resolved' }] }, 'resume[0].interruptId'],
    [{ resume: [{ interruptId: randomUUID(), status: 'done' }] }, 'resume[0].status'], [{ resume: [{ interruptId: randomUUID(), status: 'resolved' }] }, 'resume[0].payload'],
    [{ resume: [{ interruptId: randomUUID(), status: 'resolved', payload: {} }] }, 'resume[0].payload.approved'], [{ resume: [{ interruptId: randomUUID(), status: 'cancelled' }] }, 'resume[0].interruptId'],
    [{ forwardedProps: { runyard: { account_id: 'x' } } }, 'forwardedProps.runyard.account_id'], [{ forwardedProps: { runyard: { mode: {} } } }, 'forwardedProps.runyard.mode'],
  ];
  for (const [change, member] of cases) {
    const r = await post(input(change));
    assert.equal(r.status, 422, `${JSON.stringify(change).slice(0, 100)}: ${r.status}`);
    assert.ok(JSON.parse(r.text).detail.startsWith(`${member} `), `${member}: ${r.text}`);
  }
});

test('every valid optional member is accepted', async () => {
  const full = [{ id: '1', role: 'developer', content: 'be brief' }, { id: '2', role: 'system', content: 'you help' }, message('hello'),
    { id: '4', role: 'assistant', content: 'hi', toolCalls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: 'not JSON' } }] },
    { id: '5', role: 'tool', toolCallId: 'c1', content: [{ type: 'text', text: 'part' }], error: 'it failed' }, { id: '6', role: 'activity', activityType: 'plan', content: {} },
    { id: '7', role: 'reasoning', content: 'hm' }, message('go')];
  for (const change of [{ state: [1, 2] }, { state: 42 }, { state: null }, { state: { a: 1 } }, { forwardedProps: 42 }, { forwardedProps: [1] }, { parentRunId: 'r0' },
    { tools: undefined, context: undefined }, { tools: null }, { resume: [] }, { messages: full }, { unknownMember: true }]) {
    const body = input(change);
    if (!('unknownMember' in change) && change.tools !== null && change.state !== null) RunAgentInputSchema.parse(JSON.parse(JSON.stringify(body)));
    const r = await post(body);
    assert.equal(r.status, 200, `${JSON.stringify(change)}: ${r.text}`);
    assert.equal(r.events.at(-1).event.type, 'RUN_FINISHED');
    await verified(r.events.map((e) => e.event));
    // No member of an event is null where the protocol has none.
    for (const { event } of r.events) for (const [k, v] of Object.entries(event)) assert.notEqual(v, null, `${event.type}.${k}`);
  }
});

test('runs of other accounts and unknown runs are not found', async () => {
  const mine = await post(input());
  const id = mine.headers.get('runyard-run-id');
  const other = await server.user();
  assert.equal((await read(`${route()}/runs/${id}`, { u: other })).status, 404);
  assert.equal((await read(`${route()}/runs/${randomUUID()}`)).status, 404);
  assert.equal((await read(`${route()}/runs/nonsense`)).status, 400);
  const stolen = input({ messages: [message('x'), { id: mine.events.find((e) => e.event.messageId).event.messageId, role: 'assistant', content: 'x' }] });
  assert.equal((await post(stolen, { u: other })).status, 404);
  for (const last of ['x', '1', '1-0-0-0', '1-0-0-0-xyz', '99999999999999999999-0-0-0-', '-1-0-0-0-'])
    assert.equal((await read(`${route()}/runs/${id}`, { last })).status, 400, last);
  const beyond = await read(`${route()}/runs/${id}`, { last: '9007199254740992-5-9-9-aprtRT' });
  assert.ok([200, 204].includes(beyond.status));
  const head = await user.request('HEAD', `/agui/agents/default/runs/${id}`);
  assert.deepEqual([head.status, head.text], [200, '']);
  const anonymous = await fetch(`${route()}`, { method: 'POST', body: JSON.stringify(input()) });
  assert.equal(anonymous.status, 401);
});
