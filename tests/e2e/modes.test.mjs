// The form fields mode and memory_enabled change the model request and the files and tools that the agent can use.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { lastUser, startLlm, turns } from './lib/llm.mjs';
import { startScriptedServer } from './lib/mcp.mjs';
import { Server, makeDatabase, statuses, textOf } from './lib/server.mjs';

let database, llm, mcpServer, server, agent, u;
const names = (request) => (request.tools ?? []).map((t) => t.function.name);
const system = (request) => request.messages.filter((m) => m.role === 'system').map((m) => m.content).join('\n');

before(async () => {
  database = makeDatabase();
  // Runs the command between backticks in the prompt if the shell tool is available.
  llm = await startLlm((request, reply) => {
    const command = /`(.*)`/.exec(lastUser(request))?.[1];
    const results = turns(request).filter((m) => m.role === 'tool');
    if (results.length > 0) return reply.say(`said: ${results[0].content}`);
    if (command && names(request).includes('shell')) return reply.tools([{ name: 'shell', arguments: { command } }]);
    reply.say('no tool');
  });
  mcpServer = await startScriptedServer();
  server = await new Server({ database, llm }).start();
  u = await server.user();
  const made = await u.post('/agents', { json: { name: 'Tester', system_prompt: 'Be brief.' } });
  assert.equal(made.status, 201, made.text);
  agent = made.json.agent_id;
  const put = await u.request('PUT', `/agents/${agent}/custom-mcp-tools`, { json: { custom_mcps: [
    { name: 'scripted', type: 'http', config: { url: mcpServer.url }, enabledTools: ['echo'] }] } });
  assert.equal(put.status, 200, put.text);
});
after(async () => {
  await server?.close();
  await llm?.close();
  mcpServer?.close();
  database?.drop();
});

async function run(form) {
  llm.seen.length = 0;
  const started = await u.start({ agent_id: agent, ...form });
  assert.equal(started.status, 200, started.text);
  const s = await u.stream(started.json.agent_run_id);
  assert.deepEqual(statuses(s.events).slice(-1), ['completed'], s.raw);
  return { ...s, ...started.json, answer: textOf(s.events), requests: llm.seen.map((c) => c.json) };
}
const reportedModes = async (x) => {
  const one = (await u.get(`/agent-run/${x.agent_run_id}`)).json;
  const thread = (await u.get(`/threads/${x.thread_id}`)).json;
  return { run: [one.mode, one.memory_enabled], thread: [thread.latest_run.mode, thread.latest_run.memory_enabled] };
};

test('chat mode offers neither built-in nor MCP tools, even on a thread that used some', async () => {
  const first = await run({ prompt: '`echo hello`' });
  assert.match(first.answer, /said: .*hello/s);
  assert.ok(names(first.requests[0]).includes('scripted__echo'), names(first.requests[0]).join());
  assert.deepEqual(await reportedModes(first), { run: ['agent', true], thread: ['agent', true] });
  const chat = await run({ prompt: '`echo again`', mode: 'chat', thread_id: first.thread_id });
  assert.equal(chat.answer, 'no tool');
  assert.deepEqual(chat.requests.map((r) => r.tools ?? []), [[]]);
  assert.equal(system(chat.requests[0]), 'Be brief.');
  assert.deepEqual(await reportedModes(chat), { run: ['chat', true], thread: ['chat', true] });
  // The mode belongs to the run: the next one has tools again.
  const next = await run({ prompt: '`echo more`', mode: '', thread_id: first.thread_id });
  assert.match(next.answer, /more/);
});

test('code mode adds instructions to the system prompt of the agent', async () => {
  const x = await run({ prompt: '`echo code`', mode: 'Code' });
  assert.match(system(x.requests[0]), /^Be brief\.\n\n.*run the code or its tests/s);
  assert.match(x.answer, /code/);
  assert.deepEqual(await reportedModes(x), { run: ['code', true], thread: ['code', true] });
});

test('an unknown mode is rejected and starts no run', async () => {
  const before = (await u.get('/agent-runs')).json.agent_runs.length;
  const refused = await u.start({ prompt: 'x', mode: 'slides' });
  assert.equal(refused.status, 400, refused.text);
  assert.equal(refused.json.detail, 'mode must be agent, chat or code');
  assert.equal((await u.get('/agent-runs')).json.agent_runs.length, before);
});

test('without memory, a run cannot read files of other threads in the workspace', async () => {
  const first = await run({ prompt: '`echo secret > note.txt; cat note.txt`', memory_enabled: 'false' });
  assert.match(first.answer, /secret/, 'the workspace of its own thread is available');
  assert.deepEqual(await reportedModes(first), { run: ['agent', false], thread: ['agent', false] });
  assert.ok(!first.events.some((e) => e.type === 'notice'), first.raw);
  const withMemory = await run({ prompt: '`cat note.txt`', project_id: first.project_id });
  assert.equal(withMemory.project_id, first.project_id);
  assert.match(withMemory.answer, /secret/);
  const withoutMemory = await run({ prompt: '`cat note.txt`', project_id: first.project_id, memory_enabled: 'false' });
  assert.equal(withoutMemory.answer, 'no tool');
  assert.deepEqual(names(withoutMemory.requests[0]), ['scripted__echo']);
  assert.deepEqual(withoutMemory.events.filter((e) => e.type === 'notice').map((e) => e.code), ['workspace_withheld']);
  assert.ok(!JSON.stringify(withoutMemory.requests).includes('secret'));
  // The other threads are deleted, but their files remain.
  for (const id of [first.thread_id, withMemory.thread_id])
    assert.equal((await u.request('DELETE', `/threads/${id}`)).status, 204);
  const later = await run({ prompt: '`cat note.txt`', thread_id: withoutMemory.thread_id, memory_enabled: 'false' });
  assert.equal(later.answer, 'no tool');
});

test('a thread and the thread list contain the agent and model of the last run', async () => {
  const x = await run({ prompt: 'hello' });
  const agentAndModel = async () => {
    const one = (await u.get(`/threads/${x.thread_id}`)).json;
    const listed = (await u.get('/threads')).json.threads.find((t) => t.thread_id === x.thread_id);
    assert.deepEqual(listed, one);
    return [one.agent_id, one.model_name, one.latest_run.agent_id, one.latest_run.model_name];
  };
  assert.deepEqual(await agentAndModel(), [agent, 'runyard/basic', agent, 'runyard/basic']);
  const standard = (await u.get('/agents')).json.agents.find((a) => a.is_default).agent_id;
  await run({ prompt: 'again', thread_id: x.thread_id, agent_id: '' });
  assert.deepEqual(await agentAndModel(), [standard, 'runyard/basic', standard, 'runyard/basic']);
});

test('the terminal event and the run agree on its duration', async () => {
  const x = await run({ prompt: '`sleep 0.1`' });
  const end = x.events.at(-1);
  const one = (await u.get(`/agent-run/${x.agent_run_id}`)).json;
  for (const name of ['duration_ms', 'queue_wait_ms', 'time_to_first_token_ms']) assert.equal(one[name], end[name], name);
  assert.equal(Date.parse(one.completed_at) - Date.parse(one.started_at) - one.duration_ms <= 1, true);
  for (const at of [one.started_at, one.completed_at]) assert.match(at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
});
