// One run, followed by clients of several protocols at the same time: all of them get the same text. The policy for tool calls applies to all of them.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import OpenAI from 'openai';
import { lastUser, startLlm, turns } from './lib/llm.mjs';
import { Server, makeDatabase, sleep, textOf } from './lib/server.mjs';

const settings = `
[[runs.tool_policy]]
match = "shell"
when = {command = "*ask*"}
action = "ask"
[[runs.tool_policy]]
match = "shell"
when = {command = "*reached*"}
action = "deny"
[openai_api]
approval_wait_seconds = 1
[mcp_server]
approval_wait_seconds = 1
`;
let database, llm, server;

before(async () => {
  database = makeDatabase();
  llm = await startLlm(async (request, reply) => {
    const done = turns(request).filter((m) => m.role === 'tool');
    if (done.length) return reply.say(`tool: ${done.at(-1).content}`);
    if (lastUser(request).includes('[ask]')) return reply.tools([{ id: 'c1', name: 'shell', arguments: { command: 'echo ask' } }]);
    const command = /\[shell\] (\w+)/.exec(lastUser(request))?.[1];
    if (command) return reply.tools([{ id: 'c1', name: 'shell', arguments: { command: `echo ${command}` } }]);
    for (let i = 0; i < 40; i++) { reply.text(`word${i} `); await sleep(40); }
    reply.end();
  });
  server = await new Server({ database, llm, settings }).start();
});
after(async () => {
  await server?.close();
  await llm?.close();
  database?.drop();
});

// The data of the events of a stream, parsed as JSON.
async function* events(response) {
  assert.equal(response.status, 200, response.status === 200 ? '' : await response.text());
  let pending = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body) {
    pending += decoder.decode(chunk, { stream: true });
    for (let end; (end = pending.indexOf('\n\n')) >= 0; pending = pending.slice(end + 2)) {
      const data = pending.slice(0, end).split('\n').filter((l) => l.startsWith('data:')).map((l) => l.slice(5).trim()).join('\n');
      if (data && data !== '[DONE]') yield JSON.parse(data);
    }
  }
}
const request = (u, path, { method = 'GET', json, headers = {} } = {}) => fetch(server.url + path, {
  method, body: json && JSON.stringify(json), headers: { authorization: `Bearer ${u.token}`, 'content-type': 'application/json', ...headers } });

async function openai(u, run) {
  const client = new OpenAI({ apiKey: u.token, baseURL: `${server.url}/v1` });
  let text = '';
  for await (const e of await client.responses.retrieve(`resp_${run.replaceAll('-', '')}`, { stream: true })) if (e.type === 'response.output_text.delta') text += e.delta;
  return text;
}
async function agui(u, run) {
  let text = '';
  for await (const e of events(await request(u, `/agui/agents/default/runs/${run}`, { headers: { accept: 'text/event-stream' } }))) if (e.type === 'TEXT_MESSAGE_CONTENT') text += e.delta;
  return text;
}
async function aisdk(u, run, thread) {
  let text = '';
  for await (const e of events(await request(u, `/aisdk/chat/${thread}/stream`))) if (e.type === 'text-delta') text += e.delta;
  return text;
}
async function a2a(u, run) {
  let text = '';
  const r = await request(u, '/a2a', { method: 'POST', headers: { 'a2a-version': '1.0', accept: 'text/event-stream' }, json: { jsonrpc: '2.0', id: 1, method: 'SubscribeToTask', params: { id: run } } });
  for await (const e of events(r)) {
    const artifacts = e.result?.artifactUpdate ? [[e.result.artifactUpdate.append, e.result.artifactUpdate.artifact]] : (e.result?.task?.artifacts ?? []).map((a) => [false, a]);
    for (const [append, artifact] of artifacts) text = (append ? text : '') + artifact.parts.map((p) => p.text ?? '').join('');
  }
  return text;
}
async function mcp(u, run) {
  const r = await request(u, '/mcp', { method: 'POST', headers: { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-11-25' },
    json: { jsonrpc: '2.0', id: 1, method: 'tasks/result', params: { taskId: run } } });
  if (r.headers.get('content-type').startsWith('application/json')) return (await r.json()).result.content[0].text;
  for await (const e of events(r)) if (e.result) return e.result.content[0].text;
}

test('a run that is followed by clients of six protocols yields the same text', async () => {
  const u = await server.user();
  const started = await u.start({ prompt: 'count' });
  assert.equal(started.status, 200, started.text);
  const { agent_run_id: run, thread_id: thread } = started.json;
  const followers = { rest: async () => textOf((await u.stream(run)).events), openai, agui, aisdk, a2a, mcp };
  const texts = await Promise.all(Object.entries(followers).map(async ([name, follow]) => [name, await follow(u, run, thread)]));
  const expected = Array.from({ length: 40 }, (_, i) => `word${i} `).join('');
  for (const [name, text] of texts) assert.equal(text.trimEnd(), expected.trimEnd(), name);
});

test('a rule of the operator that denies a tool applies to runs of every protocol', async () => {
  await callShell(await server.user({ tier: 'enterprise' }), '[shell] reached');
});

test('a rule of the agent that denies a tool applies to runs of every protocol', async () => {
  const u = await server.user({ tier: 'enterprise' });
  const agent = (await u.get('/agents')).json.agents[0].agent_id;
  assert.equal((await u.request('PUT', `/agents/${agent}`, { json: { tool_policy: [{ match: 'shell', action: 'deny' }] } })).status, 200);
  await callShell(u, '[shell] free');
});

// Starts a run over each protocol, whose model calls the shell, and checks that the call is denied.
async function callShell(u, prompt) {
  llm.seen.length = 0;
  const client = new OpenAI({ apiKey: u.token, baseURL: `${server.url}/v1` });
  await client.responses.create({ model: 'agent', input: prompt });
  await client.chat.completions.create({ model: 'agent', messages: [{ role: 'user', content: prompt }] });
  const drain = async (response) => { for await (const e of events(response)) void e; };
  await drain(await request(u, '/agui/agents/default', { method: 'POST', headers: { accept: 'text/event-stream' },
    json: { threadId: 't', runId: 'r', state: {}, messages: [{ id: '1', role: 'user', content: prompt }], tools: [], context: [], forwardedProps: {} } }));
  await drain(await request(u, '/aisdk/chat', { method: 'POST', json: { id: 'c', trigger: 'submit-message', messages: [{ id: '1', role: 'user', parts: [{ type: 'text', text: prompt }] }] } }));
  await request(u, '/a2a', { method: 'POST', headers: { 'a2a-version': '1.0' }, json: { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message: { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text: prompt }] } } } }).then((r) => r.text());
  const tools = await (await request(u, '/mcp', { method: 'POST', headers: { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-11-25' }, json: { jsonrpc: '2.0', id: 1, method: 'tools/list' } })).text();
  const name = JSON.parse(tools.replace(/^[\s\S]*?(\{"jsonrpc|\{"id|\{"result)/, '$1')).result.tools[0].name;
  await request(u, '/mcp', { method: 'POST', headers: { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-11-25' }, json: { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name, arguments: { prompt } } } }).then((r) => r.text());
  await u.stream((await u.start({ prompt })).json.agent_run_id);
  const seen = llm.seen.map((c) => c.json).filter((r) => turns(r).some((m) => m.role === 'tool'));
  assert.ok(seen.length >= 7, `${seen.length} of 7 starts reached the tool`);
  for (const r of seen) for (const m of turns(r).filter((t) => t.role === 'tool')) assert.match(JSON.stringify(m.content), /policy of this deployment denies/);
}

const mcpCall = (u, params, session = {}) => request(u, '/mcp', { method: 'POST', headers: { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-11-25', ...session },
  json: { jsonrpc: '2.0', id: 3, method: 'tools/call', params } });
const a2aSend = (u, more) => request(u, '/a2a', { method: 'POST', headers: { 'a2a-version': '1.0' },
  json: { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message: { messageId: randomUUID(), role: 'ROLE_USER', ...more } } } });

test('no protocol keeps a foreground request open while its run waits for an approval', async () => {
  const prompt = '[ask]';
  const cases = {
    responses: (u) => new OpenAI({ apiKey: u.token, baseURL: `${server.url}/v1`, maxRetries: 0 }).responses.create({ model: 'agent', input: prompt }),
    unstored: (u) => new OpenAI({ apiKey: u.token, baseURL: `${server.url}/v1`, maxRetries: 0 }).responses.create({ model: 'agent', input: prompt, store: false }),
    chat: (u) => new OpenAI({ apiKey: u.token, baseURL: `${server.url}/v1`, maxRetries: 0 }).chat.completions.create({ model: 'agent', messages: [{ role: 'user', content: prompt }] }).catch((e) => assert.equal(e.code, 'approval_required')),
    agui: async (u) => { for await (const e of events(await request(u, '/agui/agents/default', { method: 'POST', headers: { accept: 'text/event-stream' },
      json: { threadId: 't', runId: 'r', state: {}, messages: [{ id: '1', role: 'user', content: prompt }], tools: [], context: [], forwardedProps: {} } }))) void e; },
    aisdk: async (u) => { for await (const e of events(await request(u, '/aisdk/chat', { method: 'POST', json: { id: 'c', trigger: 'submit-message', messages: [{ id: '1', role: 'user', parts: [{ type: 'text', text: prompt }] }] } }))) void e; },
    a2a: (u) => a2aSend(u, { parts: [{ text: prompt }] }).then((r) => r.text()),
    mcp: (u) => mcpCall(u, { name: 'Assistant', arguments: { prompt } }).then((r) => r.text()),
  };
  await Promise.all(Object.entries(cases).map(async ([name, run]) => {
    const u = await server.user({ tier: 'enterprise' });
    let timer;
    const late = new Promise((_, reject) => { timer = setTimeout(() => reject(new Error(`${name} waits`)), 30000); });
    await Promise.race([run(u), late]).finally(() => clearTimeout(timer));
  }));
});

test('of decisions in two protocols the first applies, and clients of the others see it', async () => {
  const u = await server.user({ tier: 'enterprise' });
  const api = new OpenAI({ apiKey: u.token, baseURL: `${server.url}/v1`, maxRetries: 0 });
  const first = await api.responses.create({ model: 'agent', input: '[ask]' });
  const [asked] = first.output.filter((item) => item.type === 'mcp_approval_request');
  const approve = (yes) => api.responses.create({ model: 'agent', previous_response_id: first.id, input: [{ type: 'mcp_approval_response', approval_request_id: asked.id, approve: yes }] });
  const task = first.id.slice(5).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  const [mine, theirs] = await Promise.all([approve(true).then(() => true, (e) => (assert.equal(e.status, 409), false)),
    a2aSend(u, { taskId: task, parts: [{ text: 'deny: by A2A' }] }).then((r) => r.json()).then((r) => r.result !== undefined)]);
  assert.notEqual(mine, theirs);
  const status = (await (await request(u, `/agent-run/${task}/approvals`)).json()).approvals[0].status;
  assert.equal(status, mine ? 'approved' : 'denied');
  const text = (await approve(mine)).output_text;
  assert.match(text, mine ? /tool: ask/ : /by A2A/);
  for (const follow of [agui, mcp]) assert.equal((await follow(u, task)).trimEnd(), text.trimEnd(), follow.name);
  const read = await (await request(u, '/a2a', { method: 'POST', headers: { 'a2a-version': '1.0' }, json: { jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: task } } })).json();
  assert.equal(read.result.artifacts[0].parts[0].text.trimEnd(), text.trimEnd());
});

test('the messages of one run, and the refusal of a reused key', async () => {
  const u = await server.user({ tier: 'enterprise' });
  const start = (fields) => u.post('/agent/start', { headers: { 'idempotency-key': 'k', 'content-type': 'application/x-www-form-urlencoded' }, body: new URLSearchParams(fields).toString() });
  const one = (await u.start({ prompt: '[shell]' })).json;
  await u.stream(one.agent_run_id);
  const two = (await u.start({ prompt: '[shell]', thread_id: one.thread_id })).json;
  await u.stream(two.agent_run_id);
  const only = (await u.get(`/threads/${one.thread_id}/messages?run_id=${two.agent_run_id}`)).json.messages;
  assert.ok(only.length >= 2 && only.every((m) => m.agent_run_id === two.agent_run_id), JSON.stringify(only));
  assert.equal((await start({ prompt: '[shell]' })).status, 200);
  const reused = await start({ prompt: '[shell] other' });
  assert.equal(reused.status, 409);
  assert.equal(reused.json.detail, 'Idempotency-Key was used before with a different body');
});
