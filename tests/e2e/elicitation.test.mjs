// Questions to a person: the tool ask_user, and elicitation by MCP servers of both protocol generations.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import http from 'node:http';
import { after, before, test } from 'node:test';
import { Server as SdkServer } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { CallToolRequestSchema, ElicitResultSchema, ListToolsRequestSchema, UrlElicitationRequiredError } from '@modelcontextprotocol/sdk/types.js';
import { lastUser, startLlm, turns } from './lib/llm.mjs';
import { result, startScriptedServer } from './lib/mcp.mjs';
import { Server, gapless, makeDatabase, statuses, textOf, waitFor } from './lib/server.mjs';

const settings = `
[runs]
max_questions = 3
question_hold_seconds = 4
[[runs.tool_policy]]
match = "*"
when = {question = "*forbidden*"}
action = "deny"
[[runs.tool_policy]]
match = "ask_user"
action = "ask"
`;
let database, llm, server;

// A prompt is a list of calls, one per line: the name of the tool and its arguments as JSON.
before(async () => {
  database = makeDatabase();
  llm = await startLlm(async (request, reply) => {
    const done = turns(request).filter((m) => m.role === 'tool');
    if (done.length) return reply.say(`results: ${done.map((m) => m.content).join(' | ')}`);
    if (lastUser(request) === '[tools]') return reply.say((request.tools ?? []).map((t) => t.function.name).join(' '));
    return reply.tools(lastUser(request).split('\n').map((line, i) => {
      const at = line.indexOf(' ');
      return { id: `c${i + 1}`, name: line.slice(0, at), arguments: JSON.parse(line.slice(at)) };
    }));
  });
  server = await new Server({ database, llm, settings }).start();
});
after(async () => {
  await server?.close();
  await llm?.close();
  database?.drop();
});

const isParked = (id) => waitFor('the run is parked', () => database.sql(`select count(*) from runs.parked where run_id = '${id}'`) === '1');
const ask = (args) => `ask_user ${JSON.stringify(args)}`;
const decide = (u, approval, body) => u.post(`/approvals/${approval.approval_id}`, { json: body });

// Starts a run with these calls, and waits until it is parked.
async function startAsking(u, calls, fields = {}) {
  const r = await u.start({ prompt: [calls].flat().join('\n'), questions: 'true', ...fields });
  assert.equal(r.status, 200, r.text);
  const id = r.json.agent_run_id;
  const s = await u.stream(id, { until: (e) => e.type === 'approval_requested' });
  await isParked(id);
  return { id, question: s.events.at(-1), thread: r.json.thread_id };
}

test('ask_user is offered only if it is switched on, and not in chat mode', async () => {
  const u = await server.user();
  const tools = async (fields) => textOf((await u.stream((await u.start({ prompt: '[tools]', ...fields })).json.agent_run_id)).events).split(' ');
  assert.ok(!(await tools({})).includes('ask_user'));
  assert.ok((await tools({ questions: 'true' })).includes('ask_user'));
  assert.ok(!(await tools({ questions: 'true', mode: 'chat' })).includes('ask_user'));
  const bad = await u.start({ prompt: 'x', questions: 'maybe' });
  assert.equal(bad.status, 400, bad.text);
  assert.match(bad.text, /questions must be true or false/);
});

test('a question parks the run, and the answer is the result of the call', async () => {
  const u = await server.user();
  const { id, question } = await startAsking(u, ask({ question: 'Which\u0007 city?', choices: ['Berlin', 'Bonn'] }));
  const schema = { type: 'object', properties: { answer: { type: 'string', enum: ['Berlin', 'Bonn'] } }, required: ['answer'] };
  assert.deepEqual([question.kind, question.name, question.source, question.message], ['question', 'ask_user', 'builtin', 'Which city?']);
  assert.deepEqual(question.schema, schema);
  const waiting = (await u.get(`/agent-run/${id}`)).json.waiting_for;
  assert.deepEqual(waiting.map((w) => [w.type, w.kind, w.approval_id]), [['approval', 'question', question.approval_id]]);
  for (const path of [`/agent-run/${id}/approvals`, '/approvals?status=pending']) {
    const [shown] = (await u.get(path)).json.approvals;
    assert.deepEqual([shown.approval_id, shown.kind, shown.message, shown.schema, shown.url], [question.approval_id, 'question', 'Which city?', schema, null]);
  }
  const made = await decide(u, question, { decision: 'approve', content: { answer: 'Bonn' } });
  assert.equal(made.status, 200, made.text);
  const s = await u.stream(id);
  assert.ok(gapless(s.events), s.raw);
  assert.equal(textOf(s.events), 'results: {"answer":"Bonn"}');
  assert.deepEqual(statuses(s.events), ['running', 'completed']);
  assert.equal(s.events.find((e) => e.type === 'approval_resolved').status, 'approved');
  assert.equal(s.events.find((e) => e.type === 'tool_result').is_error, false);
});

test('answers are validated, and other accounts cannot give them', async () => {
  const u = await server.user(), other = await server.user();
  const form = { type: 'object', properties: { name: { type: 'string', minLength: 2 }, age: { type: 'integer' } }, required: ['name'] };
  const { id, question } = await startAsking(u, ask({ question: 'Who?', form }));
  for (const [body, status, text] of [
    [{ decision: 'approve' }, 422, /content is required/], [{ decision: 'approve', content: {} }, 400, /content.name is required/], [{ decision: 'approve', content: { name: 'a' } }, 400, /content.name must have at least 2/],
    [{ decision: 'approve', content: { name: 'Ada', age: 'x' } }, 400, /content.age must be an integer/],
    [{ decision: 'approve', content: { name: 'Ada', more: 1 } }, 400, /unknown member \\"more\\"/],
    [{ decision: 'approve', content: [] }, 400, /content must be an object/], [{ decision: 'deny', content: {} }, 422, /content requires/],
    [{ decision: 'approve', content: { name: 'Ada' }, remember: 'run' }, 422, /remember is not used/],
    [{ decision: 'approve', arguments: {} }, 422, /arguments is not used/], [{ decision: 'no' }, 422, /approve, deny or cancel/],
  ]) {
    const r = await decide(u, question, body);
    assert.equal(r.status, status, r.text);
    assert.match(r.text, text);
  }
  assert.equal((await decide(other, question, { decision: 'approve', content: { name: 'Eve' } })).status, 404);
  assert.equal((await decide(u, question, { decision: 'approve', content: { name: 'Ada', age: 36 } })).status, 200);
  assert.equal((await decide(u, question, { decision: 'approve', content: { name: 'Ada', age: 36 } })).status, 200);
  const conflict = await decide(u, question, { decision: 'approve', content: { name: 'Eve' } });
  assert.equal(conflict.status, 409);
  assert.equal(conflict.json.detail.error_code, 'APPROVAL_DECIDED');
  assert.equal(textOf((await u.stream(id)).events), 'results: {"name":"Ada","age":36}');
});

test('declined, dismissed and expired questions', async () => {
  const u = await server.user();
  for (const [decision, status, text] of [
    [{ decision: 'deny', reason: 'private' }, 'denied', 'results: The user declined to answer: private'],
    [{ decision: 'cancel' }, 'cancelled', 'results: The user dismissed the question without an answer.'],
  ]) {
    const { id, question } = await startAsking(u, ask({ question: 'Who?' }));
    assert.equal((await decide(u, question, decision)).json.status, status);
    assert.equal((await decide(u, question, { decision: 'approve', content: { answer: 'x' } })).status, 409);
    assert.equal(textOf((await u.stream(id)).events), text);
  }
  const { id, question } = await startAsking(u, ask({ question: 'Who?' }));
  database.sql(`update runs.approvals set expires_at = now() where id = '${question.approval_id}'`);
  database.sql(`update core.job set run_at = now() where kind = 'runs.expire_approvals' and state = 0`);
  assert.equal(textOf((await u.stream(id, { timeout: 90_000 })).events), 'results: Error: The user did not answer in time.');
});

test('questions that cannot be asked: invalid, denied by the policy, beyond the limit', async () => {
  const u = await server.user();
  const r = await u.start({ questions: 'true', prompt: [ask({}), ask({ question: 'q', form: { type: 'object', properties: { x: { type: 'object' } } } }),
    ask({ question: 'q', form: { type: 'object', properties: { password: { type: 'string' } } } }), ask({ question: 'forbidden' })].join('\n') });
  const results = textOf((await u.stream(r.json.agent_run_id)).events).split(' | ');
  assert.match(results[0], /"question\\?" is missing/);
  assert.match(results[1], /form.properties.x.type must be/);
  assert.match(results[2], /form.properties.password asks for a secret/);
  assert.match(results[3], /policy of this deployment denies/);
  const { id } = await startAsking(u, [1, 2, 3, 4].map((n) => ask({ question: `q${n}` })));
  const pending = (await u.get(`/agent-run/${id}/approvals?status=pending`)).json.approvals;
  assert.equal(pending.length, 3);
  for (const q of pending) assert.equal((await decide(u, q, { decision: 'approve', content: { answer: q.tool_call_id } })).status, 200);
  const text = textOf((await u.stream(id)).events);
  assert.match(text, /{"answer":"c1"}/);
  assert.match(text, /a run can ask at most 3 questions/);
});

test('a stop cancels questions; a waiting question survives a kill', async () => {
  const u = await server.user();
  const first = await startAsking(u, ask({ question: 'Who?' }));
  await u.post(`/agent-run/${first.id}/stop`);
  assert.deepEqual(statuses((await u.stream(first.id)).events), ['running', 'stopped']);
  assert.equal((await decide(u, first.question, { decision: 'approve', content: { answer: 'x' } })).status, 409);
  const { id, question } = await startAsking(u, ask({ question: 'Who?' }));
  await server.kill();
  await server.start();
  const all = await Promise.all(['a', 'b', 'c'].map((answer) => decide(u, question, { decision: 'approve', content: { answer } })));
  assert.deepEqual(all.map((r) => r.status).sort(), [200, 409, 409]);
  const s = await u.stream(id, { timeout: 60_000 });
  assert.ok(gapless(s.events), s.raw);
  assert.match(textOf(s.events), /^results: {"answer":"[abc]"}$/);
  assert.equal(s.events.filter((e) => e.type === 'tool_result').length, 1);
});

// ---- elicitation by MCP servers ----

const form = { type: 'object', properties: { name: { type: 'string', minLength: 2 } }, required: ['name'] };
const text = (value) => ({ content: [{ type: 'text', text: typeof value === 'string' ? value : JSON.stringify(value) }] });

// A server of revision 2026-07-28. `ask(round)` returns the input requests of a call that has been answered `round` times; undefined: the
// call returns the answers.
async function startModern(ask) {
  const calls = [];
  const peer = await startScriptedServer((m, res) => {
    const reply = (value) => result(res, m, { resultType: 'complete', ...value });
    if (m.method === 'server/discover') return reply({ supportedVersions: ['2026-07-28'], capabilities: { tools: {} }, serverInfo: { name: 'm', version: '1' } });
    if (m.method === 'tools/list') return reply({ tools: [{ name: 'go', inputSchema: { type: 'object' } }] });
    if (m.method !== 'tools/call') return undefined;
    calls.push(m.params);
    const round = m.params.requestState ? Number(m.params.requestState.split(' ')[1]) : 0;
    const inputRequests = ask(round, m.params);
    if (!inputRequests) return reply(text(m.params.inputResponses ?? 'not asked'));
    return result(res, m, { resultType: 'input_required', inputRequests, requestState: `state ${round + 1}` });
  });
  return Object.assign(peer, { calls });
}
const elicit = (params) => ({ method: 'elicitation/create', params });
const capabilityOf = (params) => params._meta['io.modelcontextprotocol/clientCapabilities'].elicitation;

// A server of the TypeScript SDK 1.x with sessions; `handle(extra)` is the tool.
async function startStateful(handle) {
  const sessions = new Map(), capabilities = [];
  const web = http.createServer((req, res) => {
    let body = '';
    req.on('data', (c) => (body += c));
    req.on('end', async () => {
      const message = body ? JSON.parse(body) : undefined;
      if (message?.method === 'initialize') capabilities.push(message.params.capabilities);
      let transport = sessions.get(req.headers['mcp-session-id']);
      if (!transport) {
        transport = new StreamableHTTPServerTransport({ sessionIdGenerator: () => randomUUID(), onsessioninitialized: (id) => sessions.set(id, transport) });
        const sdk = new SdkServer({ name: 's', version: '1' }, { capabilities: { tools: {} } });
        sdk.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [{ name: 'go', inputSchema: { type: 'object' } }] }));
        sdk.setRequestHandler(CallToolRequestSchema, (request, extra) => handle(extra, request.params));
        await sdk.connect(transport);
      }
      await transport.handleRequest(req, res, message);
    });
  });
  await new Promise((resolve) => web.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${web.address().port}/mcp`, capabilities, close: () => { web.closeAllConnections(); web.close(); } };
}
const sendElicit = (extra, params) => extra.sendRequest(elicit(params), ElicitResultSchema, { timeout: 60_000 });

async function userWith(peer, config = {}) {
  const u = await server.user({ tier: 'pro' });
  const agent = (await u.get('/agents')).json.agents[0].agent_id;
  const r = await u.request('PUT', `/agents/${agent}/custom-mcp-tools`, { json: { custom_mcps: [{ name: 'remote', type: 'http', config: { url: peer.url, ...config }, enabledTools: ['go'] }] } });
  assert.equal(r.status, 200, r.text);
  return u;
}
const withModern = async (ask, body) => {
  const peer = await startModern(ask);
  try {
    return await body(peer, await userWith(peer));
  } finally {
    peer.close();
  }
};
const withStateful = async (handle, body) => {
  const peer = await startStateful(handle);
  try {
    return await body(peer, await userWith(peer));
  } finally {
    peer.close();
  }
};
const go = 'remote__go {"n":1}';
const finish = async (u, id) => {
  const s = await u.stream(id, { timeout: 60_000 });
  assert.ok(gapless(s.events), s.raw);
  assert.deepEqual(statuses(s.events).slice(-1), ['completed'], s.raw);
  return textOf(s.events);
};
// Starts a run with the call and waits for the question, without parking.
async function startOpen(u, fields = {}) {
  const r = await u.start({ prompt: go, questions: 'true', ...fields });
  const s = await u.stream(r.json.agent_run_id, { until: (e) => e.type === 'approval_requested', timeout: 30_000 });
  return { id: r.json.agent_run_id, question: s.events.at(-1) };
}

test('2026-07-28: the capability is declared only if the person can be asked', () => withModern(() => undefined, async (peer, u) => {
  const r = await u.start({ prompt: go });
  assert.equal(await finish(u, r.json.agent_run_id), 'results: not asked');
  assert.equal(capabilityOf(peer.calls[0]), undefined);
  const asked = await u.start({ prompt: go, questions: 'true' });
  await finish(u, asked.json.agent_run_id);
  assert.deepEqual(capabilityOf(peer.calls[1]), { form: {}, url: {} });
}));

test('2026-07-28: a form parks the run; the call is repeated with the answer and the state, also after a kill', () => withModern(
  (round) => (round < 2 ? { who: elicit({ message: `Round ${round}`, requestedSchema: form }), roots: { method: 'roots/list' } } : undefined),
  async (peer, u) => {
    const { id, question } = await startAsking(u, go);
    assert.deepEqual([question.kind, question.source, question.name, question.message], ['elicitation', 'mcp:remote', 'remote__go', 'Round 0']);
    assert.deepEqual(question.schema, form);
    assert.equal((await decide(u, question, { decision: 'approve', content: { name: 'A' } })).status, 400);
    await server.kill();
    await server.start();
    assert.equal((await decide(u, question, { decision: 'approve', content: { name: 'Ada' } })).status, 200);
    const second = await waitFor('the second question', async () => (await u.get(`/agent-run/${id}/approvals?status=pending`)).json.approvals[0], 60_000);
    assert.equal(second.message, 'Round 1');
    assert.equal((await decide(u, second, { decision: 'approve', content: { name: 'Bob' } })).status, 200);
    assert.equal(await finish(u, id), 'results: {"roots":{"roots":[]},"who":{"action":"accept","content":{"name":"Bob"}}}');
    assert.deepEqual(peer.calls.map((c) => [c.requestState, c.inputResponses?.who.content?.name]), [[undefined, undefined], ['state 1', 'Ada'], ['state 2', 'Bob']]);
    assert.ok(peer.calls.every((c) => c.arguments.n === 1));
    assert.equal(database.sql(`select count(*) from runs.approvals where run_id = '${id}' and (content is not null or state is not null)`), '0');
    const again = await decide(u, question, { decision: 'approve', content: { name: 'Eve' } });
    assert.equal(again.status, 409);
    assert.doesNotMatch((await u.get(`/agent-run/${id}/approvals`)).text, /Ada|Bob/);
  }));

test('2026-07-28: declined and dismissed forms, and a URL', () => withModern(
  (round, params) => (round ? undefined : params.arguments.url ? { page: elicit({ mode: 'url', message: 'Sign in', url: 'https://accounts.example/sign?in=1' }) } : { who: elicit({ mode: 'form', message: 'm', requestedSchema: form }) }),
  async (peer, u) => {
    for (const [decision, action] of [['deny', 'decline'], ['cancel', 'cancel']]) {
      const { id, question } = await startAsking(u, go);
      await decide(u, question, { decision });
      assert.equal(await finish(u, id), `results: {"who":{"action":"${action}"}}`);
    }
    const page = await startAsking(u, 'remote__go {"url":true}');
    assert.deepEqual([page.question.kind, page.question.url, page.question.host], ['url', 'https://accounts.example/sign?in=1', 'accounts.example']);
    assert.equal((await decide(u, page.question, { decision: 'approve' })).status, 422);
    assert.equal((await decide(u, page.question, { decision: 'approve', content: { a: 1 } })).status, 422);
    assert.equal((await decide(u, page.question, { decision: 'approve', content: {} })).status, 200);
    assert.equal(await finish(u, page.id), 'results: {"page":{"action":"accept"}}');
  }));

test('hostile requests are cancelled or made harmless, and a server cannot ask forever', async () => {
  const big = 'x'.repeat(1 << 20);
  let nested = { type: 'string' };
  for (let i = 0; i < 60; i++) nested = { type: 'object', properties: { x: nested } };
  const bad = { a: elicit({ message: 'm', requestedSchema: { type: 'object', properties: { x: nested } } }), b: elicit({ message: 'm', requestedSchema: { type: 'object', properties: { Password: { type: 'string' } } } }),
    c: elicit({ mode: 'url', message: 'm', url: 'javascript:alert(1)' }), d: elicit({ mode: 'url', message: 'm', url: 'http://plain.example/' }) };
  await withModern((round) => (round ? undefined : bad), async (peer, u) => {
    const r = await u.start({ prompt: go, questions: 'true' });
    const s = await u.stream(r.json.agent_run_id, { timeout: 60_000 });
    assert.equal(textOf(s.events), 'results: {"a":{"action":"cancel"},"b":{"action":"cancel"},"c":{"action":"cancel"},"d":{"action":"cancel"}}');
    const notices = s.events.filter((e) => e.type === 'notice' && e.code === 'input_request_cancelled').map((e) => e.message);
    assert.equal(notices.length, 4);
    assert.match(notices[1], /asks for a secret/);
    assert.ok(!s.events.some((e) => e.type === 'approval_requested'));
  });
  await withModern((round) => (round ? undefined : { a: elicit({ message: `\u202e\u0007${big}`, requestedSchema: { type: 'object', properties: { ok: { type: 'boolean', description: big } } } }) }), async (peer, u) => {
    const { id, question } = await startAsking(u, go);
    assert.ok(question.message.length < 5000 && JSON.stringify(question.schema).length < 2000);
    assert.doesNotMatch(question.message, /[\u202e\u0007]/);
    await decide(u, question, { decision: 'approve', content: { ok: true } });
    assert.equal(await finish(u, id), 'results: {"a":{"action":"accept","content":{"ok":true}}}');
  });
  await withModern(() => ({ d: bad.d }), async (peer, u) => {
    const r = await u.start({ prompt: go, questions: 'true' });
    assert.match(await finish(u, r.json.agent_run_id), /the tool requested input too often/);
    assert.ok(peer.calls.length <= 9, `${peer.calls.length}`);
  });
});

test('a denied question is not asked, and does not keep the run waiting', async () => {
  const u = await server.user();
  const tool_policy = JSON.stringify([{ match: 'shell', action: 'ask' }]);
  const { id, question } = await startAsking(u, [ask({ question: 'forbidden?' }), 'shell {"command":"echo made"}'], { tool_policy });
  const { approvals } = (await u.get(`/agent-run/${id}/approvals`)).json;
  assert.deepEqual(approvals.map((a) => [a.kind, a.name]), [['approval', 'shell']]);
  await decide(u, question, { decision: 'approve' });
  assert.match(await finish(u, id), /policy of this deployment denies.*made/s);
});

test('a decision without content answers no question', async () => {
  const u = await server.user();
  const { id, question } = await startAsking(u, ask({ question: 'Continue?', form: { type: 'object', properties: { note: { type: 'string' } } } }));
  const refused = await decide(u, question, { decision: 'approve' });
  assert.deepEqual([refused.status, /content is required/.test(refused.text)], [422, true], refused.text);
  await decide(u, question, { decision: 'approve', content: {} });
  assert.match(await finish(u, id), /results: \{\}/);
});

test('a rule that denies the tool applies, and an approval of the call precedes its question', () => withModern((round) => (round ? undefined : { who: elicit({ message: 'm', requestedSchema: form }) }), async (peer, u) => {
  const r = await u.start({ prompt: go, questions: 'true', tool_policy: JSON.stringify([{ match: 'remote__*', action: 'deny' }]) });
  assert.match(await finish(u, r.json.agent_run_id), /policy of this deployment denies/);
  assert.equal(peer.calls.length, 0);
  // An approval of the call precedes the question.
  const asked = await startAsking(u, go, { tool_policy: JSON.stringify([{ match: 'remote__*', action: 'ask' }]) });
  assert.equal(asked.question.kind, undefined);
  await decide(u, asked.question, { decision: 'approve', arguments: { n: 2 } });
  const question = await waitFor('the question', async () => (await u.get(`/agent-run/${asked.id}/approvals?status=pending`)).json.approvals[0], 30_000);
  assert.equal(question.kind, 'elicitation');
  await decide(u, question, { decision: 'approve', content: { name: 'Ada' } });
  assert.equal(await finish(u, asked.id), 'results: {"who":{"action":"accept","content":{"name":"Ada"}}}');
  assert.deepEqual(peer.calls.map((c) => c.arguments.n), [2, 2]);
}));

test('a call is not repeated if the policy denies its tool by then', () => withModern((round) => (round ? undefined : { who: elicit({ message: 'm', requestedSchema: form }) }), async (peer, u) => {
  const { id, question } = await startAsking(u, go);
  await server.kill();
  server.set.push('runs.tool_policy=[{match="remote__*",action="deny"}]');
  await server.start();
  await decide(u, question, { decision: 'approve', content: { name: 'Ada' } });
  assert.match(await finish(u, id), /policy of this deployment denies/);
  assert.equal(peer.calls.length, 1);
  await server.kill();
  server.set.pop();
  await server.start();
}));

test('with a session: the open call waits for the answers', () => withStateful(async (extra) => {
  const first = await sendElicit(extra, { message: 'Who?', requestedSchema: form });
  const second = await sendElicit(extra, { mode: 'url', message: 'Open', url: 'https://a.example/', elicitationId: 'e1' });
  return text([first, second]);
}, async (peer, u) => {
  const { id, question } = await startOpen(u);
  assert.deepEqual(peer.capabilities.at(-1), { elicitation: { form: {}, url: {} } });
  assert.deepEqual([question.kind, question.source, question.message], ['elicitation', 'mcp:remote', 'Who?']);
  assert.equal(database.sql(`select count(*) from runs.parked where run_id = '${id}'`), '0');
  assert.equal((await decide(u, question, { decision: 'approve', content: {} })).status, 400);
  assert.equal((await decide(u, question, { decision: 'approve', content: { name: 'Ada' } })).status, 200);
  const second = await waitFor('the second question', async () => (await u.get(`/agent-run/${id}/approvals?status=pending`)).json.approvals[0]);
  assert.deepEqual([second.kind, second.url], ['url', 'https://a.example/']);
  await decide(u, second, { decision: 'deny' });
  assert.equal(await finish(u, id), 'results: [{"action":"accept","content":{"name":"Ada"}},{"action":"decline"}]');
  assert.doesNotMatch(database.sql(`select coalesce(string_agg(content, ''), '') from runs.approvals where run_id = '${id}'`), /Ada/);
}));

test('with a session: no capability without permission; a question that is not answered in time is cancelled; a stop ends the call', () => withStateful(
  async (extra) => text(await sendElicit(extra, { message: 'Who?', requestedSchema: form })),
  async (peer, u) => {
    const r = await u.start({ prompt: go });
    assert.match(await finish(u, r.json.agent_run_id), /results: /);
    assert.deepEqual(peer.capabilities.at(-1), {});
    const late = await startOpen(u);
    assert.equal(await finish(u, late.id), 'results: {"action":"cancel"}');
    assert.equal((await u.get(`/agent-run/${late.id}/approvals`)).json.approvals[0].status, 'expired');
    const stopped = await startOpen(u);
    await u.post(`/agent-run/${stopped.id}/stop`);
    assert.deepEqual(statuses((await u.stream(stopped.id)).events), ['running', 'stopped']);
    assert.equal((await decide(u, stopped.question, { decision: 'approve', content: { name: 'Ada' } })).status, 409);
  }));

test('with a session: after a kill the outcome of the call is unknown, and its question is cancelled', () => withStateful(
  async (extra) => text(await sendElicit(extra, { message: 'Who?', requestedSchema: form })),
  async (peer, u) => {
    const { id, question } = await startOpen(u);
    await server.kill();
    await server.start();
    assert.match(await finish(u, id), /results: .*outcome of this call is unknown/);
    assert.equal((await u.get(`/agent-run/${id}/approvals`)).json.approvals[0].status, 'cancelled');
    assert.equal((await decide(u, question, { decision: 'approve', content: { name: 'Ada' } })).status, 409);
  }));

test('the error -32042 asks the person to open the URL, and the call is repeated', async () => {
  let signedIn = false;
  await withStateful(async () => {
    if (!signedIn) throw new UrlElicitationRequiredError([{ mode: 'url', message: 'Sign in', url: 'https://a.example/sign', elicitationId: 'e1' }]);
    return text('signed in');
  }, async (peer, u) => {
    const declined = await startAsking(u, go);
    assert.deepEqual([declined.question.kind, declined.question.host], ['url', 'a.example']);
    await decide(u, declined.question, { decision: 'deny' });
    assert.match(await finish(u, declined.id), /did not agree to open the page/);
    const { id, question } = await startAsking(u, go);
    signedIn = true;
    await decide(u, question, { decision: 'approve', content: {} });
    assert.equal(await finish(u, id).then((t) => t.split('\n')[0]), 'results: signed in');
  });
});
