// Questions to a person: the tool ask_user, and elicitation by MCP servers of both protocol generations.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { lastUser, startLlm, turns } from './lib/llm.mjs';
import { Server, gapless, makeDatabase, sleep, statuses, textOf, waitFor } from './lib/server.mjs';

const settings = `
[runs]
max_questions = 3
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
    if (lastUser(request) === '[tools]') return reply.say((request.body.tools ?? []).map((t) => t.function.name).join(' '));
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
    [{ decision: 'approve' }, 400, /content.name is required/], [{ decision: 'approve', content: { name: 'a' } }, 400, /content.name must have at least 2/],
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
