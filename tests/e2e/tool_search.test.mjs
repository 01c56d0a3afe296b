// An agent with more tools than its model accepts: requests contain some of them, and find_tools finds the others. The
// thread keeps the found tools in later runs, after a summary, on another provider and with another worker.
import assert from 'node:assert/strict';
import http from 'node:http';
import { after, before, test } from 'node:test';
import { calling, DONE_ANSWER, encode } from '../compat/lib/answers.mjs';
import { startLlm, turns } from './lib/llm.mjs';
import { startScriptedServer } from './lib/mcp.mjs';
import { Server, makeDatabase, statuses, textOf, waitFor } from './lib/server.mjs';

const subjects = ['invoice', 'customer', 'warehouse', 'shipment', 'contract', 'employee', 'vehicle', 'meeting', 'ticket', 'budget'];
const actions = ['create', 'list', 'update', 'delete', 'archive', 'export', 'approve', 'assign', 'search', 'share'];
const regions = ['north', 'south', 'west'];
// 300 tools.
const many = regions.flatMap((region) => subjects.flatMap((subject) => actions.map((action) => ({
  name: `${action}_${subject}_${region}`, description: `${action[0].toUpperCase()}${action.slice(1)}s one ${subject} of the ${region} region`,
  inputSchema: { type: 'object', properties: { [`${subject}_id`]: { type: 'string' } } } }))));
const few = [{ name: 'echo', description: 'Repeats its input', inputSchema: { type: 'object' } }];

let database, llm, claude, largeServer, smallServer, server, agent, u;
const names = (request) => (request.tools ?? []).map((t) => t.function?.name ?? t.name);

// A mock of the Anthropic Messages API: `answer(request)` returns an answer of ../compat/lib/answers.mjs.
async function startClaude() {
  const seen = [];
  const peer = { seen, answer: () => DONE_ANSWER };
  const listener = http.createServer((req, res) => {
    let body = '';
    req.on('data', (c) => (body += c)).on('end', () => {
      const request = JSON.parse(body);
      seen.push(request);
      const a = encode(peer.answer(request), 'messages');
      res.writeHead(a.status ?? 200, a.headers).end(a.body);
    });
  });
  await new Promise((resolve) => listener.listen(0, '127.0.0.1', resolve));
  peer.url = `http://127.0.0.1:${listener.address().port}`;
  peer.close = () => { listener.closeAllConnections(); listener.close(); };
  return peer;
}

const configure = (servers) => u.request('PUT', `/agents/${agent}/custom-mcp-tools`, { json: { custom_mcps: servers } });
const serverConfig = (name, url, tools) => ({ name, type: 'http', config: { url }, enabledTools: tools.map((t) => t.name) });

before(async () => {
  database = makeDatabase();
  llm = await startLlm((request, reply) => reply.say('ok'));
  claude = await startClaude();
  largeServer = await startScriptedServer(undefined, { tools: many });
  smallServer = await startScriptedServer(undefined, { tools: few });
  server = await new Server({ database, llm, settings: `
[runs]
max_attempts = 2
[runs.providers.claude]
kind = "anthropic"
base_url = "${claude.url}"
api_key = "k"
[runs.max_tools]
"claude/m" = 40
[runs.context_tokens]
"mock/tight" = 12000
[accounts.tiers.free]
models = ["runyard/basic", "mock/tight", "claude/m"]
` }).start();
  u = await server.user();
  agent = (await u.get('/agents')).json.agents[0].agent_id;
  const put = await configure([serverConfig('erp', largeServer.url, many)]);
  assert.equal(put.status, 200, put.text);
});
after(async () => {
  await server?.close();
  await llm?.close();
  for (const s of [claude, largeServer, smallServer]) s?.close();
  database?.drop();
});

async function run(prompt, form = {}) {
  llm.seen.length = 0;
  claude.seen.length = 0;
  const started = await u.start({ prompt, agent_id: agent, ...form });
  assert.equal(started.status, 200, started.text);
  const s = await u.stream(started.json.agent_run_id);
  assert.deepEqual(statuses(s.events).slice(-1), ['completed'], s.raw);
  return { ...s, thread: started.json.thread_id, id: started.json.agent_run_id };
}
// Makes the calls one after the other, then answers with the last result.
const callSequence = (...calls) => (request, reply) => {
  const done = turns(request).filter((m) => m.role === 'tool');
  if (done.length < calls.length) return reply.tools([{ id: `call_${done.length}`, ...calls[done.length] }]);
  reply.say(`said: ${done.at(-1)?.content ?? ''}`);
};
const searches = (x) => x.events.filter((e) => e.type === 'notice' && e.code === 'tool_search');

test('a request contains the built-in tools and find_tools, which makes others available', async () => {
  llm.answer = callSequence({ name: 'find_tools', arguments: { query: 'approve an invoice in the south' } },
    { name: 'erp__approve_invoice_south', arguments: { invoice_id: '7' } });
  const x = await run('approve invoice 7');
  assert.match(textOf(x.events), /said: called approve_invoice_south/);
  const [first, second] = llm.seen.map((c) => names(c.json));
  assert.deepEqual([...first].sort(), ['find_tools', 'list_files', 'read_file', 'shell', 'write_file']);
  const search = llm.seen[0].json.tools.find((t) => t.function.name === 'find_tools').function;
  assert.match(search.description, /erp \(300\)/);
  assert.ok(second.includes('erp__approve_invoice_south') && second.length <= 16, second.join());
  const result = x.events.find((e) => e.type === 'tool_result' && e.name === 'find_tools');
  assert.match(result.content, /erp__approve_invoice_south\(invoice_id\): Approves one invoice of the south region/);
  assert.equal(result.content.split('\n\n')[1].split('\n')[0].split('(')[0], 'erp__approve_invoice_south');
  assert.equal(x.events.find((e) => e.type === 'tool_call' && e.name === 'find_tools').source, 'builtin');
  assert.deepEqual(searches(x).map((e) => e.message), ['The agent has 304 tools. The model gets 4 of them, and find_tools to find the others.']);
  assert.match(server.log, /a model request contains only some of the agent's tools/);
  assert.ok(!x.events.some((e) => e.code === 'tool_skipped'), x.raw);
  assert.ok(!JSON.stringify(llm.seen.map((c) => c.json.messages)).includes('loaded_tools'));

  // Later runs on the thread have the found tools from the first step, even with a model of another provider.
  llm.answer = (request, reply) => reply.say('ok');
  await run('again', { thread_id: x.thread });
  assert.ok(names(llm.seen[0].json).includes('erp__approve_invoice_south'));
  await run('and there?', { thread_id: x.thread, model_name: 'claude/m' });
  assert.ok(names(claude.seen[0]).includes('erp__approve_invoice_south'));
  assert.ok(names(claude.seen[0]).length <= 40);
  const stored = (await u.get(`/threads/${x.thread}/messages`)).json.messages;
  assert.equal(stored.find((m) => m.name === 'find_tools').loaded_tools[0], 'erp__approve_invoice_south');
});

test('for a provider without a tool limit, the setting of the model applies', async () => {
  let steps = 0;
  claude.answer = () => [calling('find_tools', { names: ['erp__list_vehicle_west', 'no_such_tool'] }, 'toolu_1'),
    calling('erp__list_vehicle_west', {}, 'toolu_2'), DONE_ANSWER][steps++];
  const x = await run('list the vehicles', { model_name: 'claude/m' });
  assert.equal(names(claude.seen[0]).length, 5);
  assert.ok(names(claude.seen[1]).includes('erp__list_vehicle_west'));
  const results = x.events.filter((e) => e.type === 'tool_result');
  assert.match(results[0].content, /There is no tool with this name: no_such_tool/);
  assert.equal(results[1].content, 'called list_vehicle_west');
});

test('the number of loaded tools of a thread is limited; the latest ones are kept', async () => {
  const groups = Array.from({ length: 8 }, (_, i) => many.slice(i * 20, i * 20 + 20).map((t) => `erp__${t.name}`));
  llm.answer = callSequence(...groups.map((g) => ({ name: 'find_tools', arguments: { names: g } })));
  await run('load them all');
  const last = names(llm.seen.at(-1).json);
  assert.equal(last.length, 128);
  assert.ok(groups[7].every((n) => last.includes(n)) && !last.includes(groups[0][19]));
});

test('the tool named by tool_choice is offered, and the model can call tools that are not offered', async () => {
  llm.answer = callSequence({ name: 'erp__share_budget_north' }, { name: 'erp__export_meeting_west' });
  const x = await run('share', { tool_choice: JSON.stringify({ name: 'erp__share_budget_north' }) });
  assert.ok(names(llm.seen[0].json).includes('erp__share_budget_north'));
  assert.match(textOf(x.events), /called export_meeting_west/);
  assert.ok(names(llm.seen.at(-1).json).includes('erp__export_meeting_west'), 'used tools are kept');
});

test('found tools are kept after a summary', async () => {
  llm.answer = callSequence({ name: 'find_tools', arguments: { names: ['erp__assign_ticket_north'] } });
  const x = await run('find it', { model_name: 'mock/tight' });
  llm.answer = (request, reply) => reply.say(names(request).length === 0 ? 'a summary' : 'ok '.repeat(4000));
  for (let i = 0; i < 3; ++i) await run(`go on ${'word '.repeat(3000)}`, { thread_id: x.thread, model_name: 'mock/tight' });
  assert.equal(database.sql(`select count(*) > 0 from runs.messages where thread_id = '${x.thread}' and role = 'summary'`), 't');
  const last = llm.seen.at(-1).json;
  assert.ok(!JSON.stringify(last.messages).includes('assign_ticket_north'), 'the call is in the summary');
  assert.ok(names(last).includes('erp__assign_ticket_north'));
});

test('another worker continues with the same tools', async () => {
  let release;
  const held = new Promise((resolve) => (release = resolve));
  llm.answer = async (request, reply) => {
    const done = turns(request).filter((m) => m.role === 'tool').length;
    if (done === 0) return reply.tools([{ name: 'find_tools', arguments: { names: ['erp__delete_contract_west'] } }]);
    if (!server.second) await held;
    reply.say('over');
  };
  llm.seen.length = 0;
  const started = await u.start({ prompt: 'delete', agent_id: agent });
  await waitFor('the second request', () => llm.seen.length === 2);
  await server.kill();
  server.second = true;
  await server.start();
  const s = await u.stream(started.json.agent_run_id, { timeout: 90000 });
  release();
  assert.deepEqual(statuses(s.events).slice(-1), ['completed'], s.raw);
  const toolLists = llm.seen.filter((c) => turns(c.json).length > 0).map((c) => names(c.json));
  assert.ok(toolLists.length >= 2);
  for (const list of toolLists) assert.deepEqual(list, toolLists[0]);
  assert.ok(toolLists[0].includes('erp__delete_contract_west'));
});

test('with few tools, all are offered without find_tools, unless tool_search_from requires it', async () => {
  assert.equal((await configure([serverConfig('tiny', smallServer.url, few)])).status, 200);
  llm.answer = (request, reply) => reply.say('ok');
  const x = await run('hello');
  assert.deepEqual(names(llm.seen[0].json).slice(-1), ['tiny__echo']);
  assert.ok(!names(llm.seen[0].json).includes('find_tools'));
  assert.deepEqual(searches(x), []);
  await server.stop();
  server.set.push('runs.tool_search_from=5');
  await server.start();
  const y = await run('hello');
  assert.deepEqual([...names(llm.seen[0].json)].sort(), ['find_tools', 'list_files', 'read_file', 'shell', 'write_file']);
  assert.equal(searches(y).length, 1);
});
