// Approvals of tool calls: policy, parking, decisions, time limits, and exactly one execution across kills.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { lastUser, startLlm, turns } from './lib/llm.mjs';
import { Server, gapless, makeDatabase, sleep, statuses, textOf, waitFor } from './lib/server.mjs';

const settings = `
[[runs.tool_policy]]
match = "shell"
when = {command = "*forbidden*"}
action = "deny"
[[runs.tool_policy]]
match = "shell"
when = {command = "*ask*"}
action = "ask"
`;
const call = (command, id = 'c1') => ({ id, name: 'shell', arguments: { command } });
let database, llm, server;

before(async () => {
  database = makeDatabase();
  llm = await startLlm(async (request, reply) => {
    const prompt = lastUser(request);
    const done = turns(request).filter((m) => m.role === 'tool');
    if (prompt.startsWith('[same id]') && done.length < 2) return reply.tools([call(`echo ask ${done.length}`)]);
    if (done.length) return reply.say(`results: ${done.map((m) => m.content).join(' | ')}`);
    if (prompt.includes('[nul]')) return reply.tools([call('echo ask\u0000')]);
    if (prompt.includes('[location]')) return reply.tools([{ id: 'loc', name: 'get_location', arguments: {} }]);
    const commands = prompt.split('\n').map((line, i) => call(line, `c${i + 1}`));
    return reply.tools(commands);
  });
  server = await new Server({ database, llm, settings }).start();
});
after(async () => {
  await server?.close();
  await llm?.close();
  database?.drop();
});

// Starts a run whose model calls one command per line, and waits until it is parked.
async function startAsking(u, ...commands) {
  const r = await u.start({ prompt: commands.join('\n') });
  assert.equal(r.status, 200, r.text);
  const id = r.json.agent_run_id;
  const asked = await u.stream(id, { until: (e) => e.type === 'approval_requested' });
  await waitFor('the run is parked', () => database.sql(`select count(*) from runs.parked where run_id = '${id}'`) === '1');
  return { id, thread: r.json.thread_id, approval: asked.events.at(-1) };
}
const decide = (u, approval, body) => u.post(`/approvals/${approval.approval_id ?? approval}`, { json: body });

test('calls that match no rule are executed at once', async () => {
  const u = await server.user();
  const r = await u.start({ prompt: 'echo free' });
  const s = await u.stream(r.json.agent_run_id);
  assert.match(textOf(s.events), /^results: free/);
  assert.ok(!s.events.some((e) => e.type.startsWith('approval')));
});

test('a denied call is not executed, and the model gets the reason', async () => {
  const u = await server.user();
  const r = await u.start({ prompt: 'echo forbidden > denied.txt' });
  const s = await u.stream(r.json.agent_run_id);
  assert.equal(textOf(s.events), 'results: Error: The call was not made: the policy of this deployment denies it.');
  assert.ok(s.events.find((e) => e.type === 'tool_result').is_error);
  const files = await u.get(`/projects/${r.json.project_id}/files?path=/`);
  assert.doesNotMatch(files.text, /denied/);
});

test('a call that needs an approval parks the run; an approval executes the call once and completes the run', async () => {
  const u = await server.user();
  const { id, approval } = await startAsking(u, 'echo ask >> count; cat count');
  assert.equal(approval.tool_call_id, 'c1');
  assert.equal(approval.name, 'shell');
  assert.equal(approval.source, 'sandbox');
  assert.deepEqual(approval.arguments, { command: 'echo ask >> count; cat count' });
  assert.ok(Date.parse(approval.expires_at) > Date.now() + 23 * 3600e3);

  const run = await u.get(`/agent-run/${id}`);
  assert.equal(run.json.status, 'running');
  assert.deepEqual(run.json.waiting_for.map((w) => [w.type, w.approval_id, w.name]), [['approval', approval.approval_id, 'shell']]);
  assert.equal(database.sql(`select count(*) from core.job where kind = 'runs.execute' and args->>'run_id' = '${id}' and state in (0, 1)`), '0');
  for (const path of [`/agent-run/${id}/approvals`, '/approvals?status=pending']) {
    const list = await u.get(path);
    assert.deepEqual(list.json.approvals.map((a) => [a.approval_id, a.agent_run_id, a.status]), [[approval.approval_id, id, 'pending']], path);
  }

  const made = await decide(u, approval, { decision: 'approve', reason: 'fine' });
  assert.equal(made.status, 200, made.text);
  assert.equal(made.json.status, 'approved');
  const s = await u.stream(id);
  assert.ok(gapless(s.events), s.raw);
  assert.deepEqual(statuses(s.events), ['running', 'completed']);
  assert.match(textOf(s.events), /^results: ask\n/);
  assert.doesNotMatch(textOf(s.events), /ask\nask/);
  assert.equal(s.events.find((e) => e.type === 'approval_resolved').status, 'approved');
  assert.equal((await u.get(`/agent-run/${id}`)).json.waiting_for, undefined);
});

test('a repeated decision succeeds, a different one gets 409, and other accounts get 404', async () => {
  const u = await server.user(), other = await server.user();
  const { id, approval } = await startAsking(u, 'echo ask');
  assert.equal((await decide(other, approval, { decision: 'approve' })).status, 404);
  assert.equal((await other.get(`/agent-run/${id}/approvals`)).status, 404);
  assert.deepEqual((await other.get('/approvals')).json.approvals, []);
  assert.equal((await decide(u, approval, { decision: 'deny', reason: 'not now' })).status, 200);
  assert.equal((await decide(u, approval, { decision: 'deny' })).status, 200);
  const conflict = await decide(u, approval, { decision: 'approve' });
  assert.equal(conflict.status, 409);
  assert.equal(conflict.json.detail.error_code, 'APPROVAL_DECIDED');
  assert.equal(conflict.json.detail.approval.status, 'denied');
  const s = await u.stream(id);
  assert.equal(textOf(s.events), 'results: Error: The call was not made: the user denied it with the reason: not now');
});

test('invalid decisions are refused with the name of the field', async () => {
  const u = await server.user();
  const { id, approval } = await startAsking(u, 'echo ask');
  for (const [body, text] of [
    [{}, /decision must be approve or deny/], [{ decision: 'maybe' }, /decision must be/], [{ decision: 'approve', arguments: [] }, /arguments must be an object/],
    [{ decision: 'deny', arguments: {} }, /arguments require/], [{ decision: 'approve', remember: 'always' }, /remember must be/],
    [{ decision: 'approve', reason: 'x'.repeat(2001) }, /reason must be/], [{ decision: 'approve', more: 1 }, /Unknown member \\"more\\"/],
  ]) {
    const r = await decide(u, approval, body);
    assert.equal(r.status, 422, r.text);
    assert.match(r.text, text);
  }
  assert.equal((await u.post(`/approvals/${approval.approval_id}`, { body: 'no json', headers: { 'content-type': 'application/json' } })).status, 400);
  assert.equal((await decide(u, 'no-uuid', { decision: 'approve' })).status, 400);
  assert.equal((await decide(u, randomUUID(), { decision: 'approve' })).status, 404);
  assert.equal((await u.get('/approvals?status=open')).status, 422);
  await u.post(`/agent-run/${id}/stop`);
});

test('an approver can change the arguments', async () => {
  const u = await server.user();
  const { id, approval } = await startAsking(u, 'echo ask original');
  await decide(u, approval, { decision: 'approve', arguments: { command: 'echo changed' } });
  const { events } = await u.stream(id);
  assert.match(textOf(events), /^results: changed/);
  assert.deepEqual(events.find((e) => e.type === 'approval_resolved').arguments, { command: 'echo changed' });
  const unchanged = await startAsking(u, 'echo ask');
  await decide(u, unchanged.approval, { decision: 'approve' });
  assert.ok(!('arguments' in (await u.stream(unchanged.id)).events.find((e) => e.type === 'approval_resolved')));
});

test('changed arguments cannot bypass a rule that denies them', async () => {
  const u = await server.user();
  const { id, approval } = await startAsking(u, 'echo ask');
  await decide(u, approval, { decision: 'approve', arguments: { command: 'echo forbidden' } });
  assert.match(textOf((await u.stream(id)).events), /policy of this deployment denies/);
});

test('arguments with a NUL character can be shown and decided about', async () => {
  const u = await server.user();
  const { id, approval } = await startAsking(u, '[nul]');
  const list = await u.get(`/agent-run/${id}/approvals`);
  assert.equal(list.status, 200, list.text);
  assert.equal(list.json.approvals[0].arguments.command, 'echo ask\u0000');
  assert.equal((await decide(u, approval, { decision: 'deny' })).status, 200);
  await u.stream(id);
});

test('runs that wake observe the limit of concurrent runs', async () => {
  const slow = await new Server({ database: makeDatabase(), llm, settings: '[runs]\npark_slot_seconds = 0\n[[runs.tool_policy]]\nmatch = "shell"\naction = "ask"\n' }).start();
  try {
    const u = await slow.user();  // the plan allows one concurrent run
    const parked = [];
    for (let i = 0; i < 4; i++) {
      await waitFor('a free slot', async () => (parked[i] = await u.start({ prompt: 'sleep 1; echo ask' })).status === 200);
      const s = await u.stream(parked[i].json.agent_run_id, { until: (e) => e.type === 'approval_requested' });
      parked[i].approval = s.events.at(-1);
    }
    await waitFor('all are parked', () => slow.database.sql('select count(*) from runs.parked') === '4');
    await Promise.all(parked.map((p) => decide(u, p.approval, { decision: 'approve' })));
    let most = 0;
    await waitFor('all have ended', () => {
      const [running, waiting] = slow.database.sql("select count(*) filter (where not waiting), count(*) filter (where waiting) from runs.runs where status = 'running'").split('|').map(Number);
      most = Math.max(most, running);
      return running + waiting === 0;
    }, 60_000);
    assert.equal(most, 1);
  } finally {
    await slow.close();
    slow.database.drop();
  }
});

test('several approvals of one answer: the run continues after the last decision, and other calls are executed before it', async () => {
  const u = await server.user();
  const { id } = await startAsking(u, 'echo one', 'echo ask two', 'echo ask three');
  const list = (await u.get(`/agent-run/${id}/approvals`)).json.approvals;
  assert.equal(list.length, 2);
  await decide(u, list.find((a) => a.tool_call_id === 'c2'), { decision: 'approve' });
  await sleep(300);
  assert.equal((await u.get(`/agent-run/${id}`)).json.status, 'running');
  await decide(u, list.find((a) => a.tool_call_id === 'c3'), { decision: 'deny' });
  const { events } = await u.stream(id);
  const resultOfOne = events.findIndex((e) => e.type === 'tool_result' && e.content.startsWith('one'));
  assert.ok(resultOfOne > 0 && resultOfOne < events.findIndex((e) => e.type === 'approval_resolved'));
  const text = textOf(events);
  assert.match(text, /one/);
  assert.match(text, /ask two/);
  assert.match(text, /the user denied it/);
});

test('a decision can be remembered for the run or for the agent', async () => {
  const u = await server.user();
  const first = await startAsking(u, 'echo ask');
  await decide(u, first.approval, { decision: 'approve', remember: 'agent' });
  await u.stream(first.id);
  const r = await u.start({ prompt: 'echo ask again' });
  const s = await u.stream(r.json.agent_run_id);
  assert.match(textOf(s.events), /^results: ask again/);
  assert.ok(!s.events.some((e) => e.type === 'approval_requested'));
});

test('a decision remembered for the run does not apply to another run', async () => {
  const u = await server.user();
  const first = await startAsking(u, '[same id]');
  await decide(u, first.approval, { decision: 'approve', remember: 'run' });
  const { events } = await u.stream(first.id);
  assert.match(textOf(events), /^results: ask 0.*\| ask 1/s);
  assert.equal(events.filter((e) => e.type === 'approval_requested').length, 1);
  const second = await startAsking(u, 'echo ask');
  await u.post(`/agent-run/${second.id}/stop`);
});

test('numbers of changed arguments are kept exactly, and impossible ones are refused', async () => {
  const u = await server.user();
  const { id, approval } = await startAsking(u, 'echo ask');
  const send = (text) => u.post(`/approvals/${approval.approval_id}`, { body: `{"decision": "approve", "arguments": ${text}}`, headers: { 'content-type': 'application/json' } });
  const refused = await send('{"command": "echo x", "n": [1e400]}');
  assert.equal(refused.status, 422, refused.text);
  assert.match(refused.text, /arguments has a number that is too large/);
  const made = await send('{"command": "echo x", "n": 0.1000000000000000055}');
  assert.equal(made.json.arguments.n, 0.1);
  await u.stream(id);
});

test('remembered approvals can be listed and revoked', async () => {
  const u = await server.user(), other = await server.user();
  const first = await startAsking(u, 'echo ask 1\necho ask 2');
  const [one, two] = (await u.get(`/agent-run/${first.id}/approvals`)).json.approvals;
  await decide(u, one, { decision: 'approve', remember: 'run' });
  const ofRun = (await u.get('/approvals/remembered')).json.remembered_approvals;
  assert.deepEqual(ofRun.map((r) => [r.scope, r.agent_run_id, r.name]), [['run', first.id, 'shell']]);
  await decide(u, two, { decision: 'approve', remember: 'agent' });
  await u.stream(first.id);
  const list = await u.get('/approvals/remembered');
  const [{ remembered_id: id, agent_id: agent, ...rest }] = list.json.remembered_approvals;
  assert.equal(list.json.remembered_approvals.length, 1, 'that of the run ended with the run');
  assert.deepEqual([rest.scope, rest.agent_run_id, rest.name], ['agent', null, 'shell']);
  assert.deepEqual((await u.get(`/approvals/remembered?agent_id=${agent}&limit=1`)).json.remembered_approvals.map((r) => r.remembered_id), [id]);
  assert.deepEqual((await u.get(`/approvals/remembered?agent_id=${randomUUID()}`)).json.remembered_approvals, []);
  assert.equal((await u.get('/approvals/remembered?agent_id=x')).status, 422);
  assert.equal((await u.get('/approvals/remembered?cursor=x')).status, 400);
  assert.deepEqual((await other.get('/approvals/remembered')).json.remembered_approvals, []);
  assert.equal((await other.request('DELETE', `/approvals/remembered/${id}`)).status, 404);
  assert.equal((await u.request('DELETE', '/approvals/remembered/x')).status, 400);
  assert.equal((await u.request('DELETE', `/approvals/remembered/${id}`)).status, 204);
  assert.equal((await u.request('DELETE', `/approvals/remembered/${id}`)).status, 404);
  const again = await startAsking(u, 'echo ask');
  await u.post(`/agent-run/${again.id}/stop`);
});

test('the number of remembered approvals of an account is limited, and the list has pages', async () => {
  const u = await server.user();
  await u.get('/account');
  database.sql(`insert into runs.remembered_approvals (account_id, scope_id, tool) select '${u.id}', gen_random_uuid(), 'tool' || n from generate_series(1, 1000) n`);
  const seen = new Set();
  for (let cursor = ''; cursor !== null;) {
    const page = (await u.get(`/approvals/remembered?limit=100${cursor && `&cursor=${cursor}`}`)).json;
    for (const r of page.remembered_approvals) seen.add(r.remembered_id);
    cursor = page.next_cursor;
  }
  assert.equal(seen.size, 1000);
  const { id, approval } = await startAsking(u, 'echo ask');
  const refused = await decide(u, approval, { decision: 'approve', remember: 'run' });
  assert.equal(refused.status, 409);
  assert.equal(refused.json.detail.error_code, 'REMEMBERED_APPROVALS_LIMIT');
  assert.match(refused.json.detail.message, /^remember: /);
  assert.equal((await u.get(`/agent-run/${id}/approvals`)).json.approvals[0].status, 'pending');
  assert.equal((await decide(u, approval, { decision: 'approve' })).status, 200);
  await u.stream(id);
});

test('a call with the id of an earlier one needs its own approval', async () => {
  const u = await server.user();
  const { id, approval } = await startAsking(u, '[same id]');
  await decide(u, approval, { decision: 'approve' });
  const second = await waitFor('the second approval', async () => (await u.get(`/agent-run/${id}/approvals?status=pending`)).json.approvals[0]);
  assert.notEqual(second.approval_id, approval.approval_id);
  assert.deepEqual([second.tool_call_id, second.arguments], ['c1', { command: 'echo ask 1' }]);
  await decide(u, second, { decision: 'deny' });
  const { events } = await u.stream(id);
  assert.match(textOf(events), /^results: ask 0.*\| .*the user denied it/s);
});

test('a start can only make the policy stricter', async () => {
  const u = await server.user();
  const denied = await u.start({ prompt: 'echo hello', tool_policy: JSON.stringify([{ match: 'sh*', action: 'deny' }]) });
  assert.match(textOf((await u.stream(denied.json.agent_run_id)).events), /policy of this deployment denies/);
  const weaker = await u.start({ prompt: 'echo forbidden', tool_policy: JSON.stringify([{ match: '*', action: 'run' }]) });
  assert.match(textOf((await u.stream(weaker.json.agent_run_id)).events), /policy of this deployment denies/);
  for (const policy of ['[', '{}', '[{"match":"a"}]', '[{"match":"a","action":"maybe"}]', '[{"match":"a","action":"ask","x":1}]', '[{"action":"ask"}]']) {
    const r = await u.start({ prompt: 'echo', tool_policy: policy });
    assert.equal(r.status, 422, policy);
    assert.match(r.text, /tool_policy/);
  }
});

test('the policy of an agent can only make the policy stricter, over REST and other protocols', async () => {
  const u = await server.user();
  const agent = (await u.get('/agents')).json.agents[0];
  assert.deepEqual(agent.tool_policy, []);
  const rules = [{ match: 'shell', when: { command: '*careful*' }, action: 'ask' }, { match: 'shell', when: { command: '*never*' }, action: 'deny' }, { match: '*', action: 'run' }];
  const changed = await u.request('PUT', `/agents/${agent.agent_id}`, { json: { ...agent, tool_policy: rules } });
  assert.equal(changed.status, 200, changed.text);
  assert.deepEqual(changed.json.tool_policy, rules);
  assert.equal(changed.json.version, agent.version + 1);
  const denied = async (form) => {
    const r = await u.start(form);
    assert.match(textOf((await u.stream(r.json.agent_run_id)).events), /policy of this deployment denies/);
  };
  await denied({ prompt: 'echo never' });
  await denied({ prompt: 'echo forbidden' });  // the operator's rule, in spite of the last rule
  await denied({ prompt: 'echo careful', tool_policy: JSON.stringify([{ match: 'shell', action: 'deny' }]) });
  await denied({ prompt: 'echo never', tool_policy: JSON.stringify([{ match: 'shell', action: 'run' }]) });
  const { id, approval } = await startAsking(u, 'echo careful');
  await decide(u, approval, { decision: 'approve' });
  assert.match(textOf((await u.stream(id)).events), /^results: careful/);
  const response = await u.post('/v1/responses', { json: { model: 'agent', input: 'echo never' } });
  assert.equal(response.status, 200, response.text);
  assert.match(response.text, /policy of this deployment denies/);
  for (const [policy, problem] of [['x', 'tool_policy must be an array of rules'], [[{ match: 'a', action: 'allow' }], 'tool_policy[0].action must be run, ask or deny'],
    [[{ match: 'a', action: 'ask', x: 1 }], 'tool_policy[0] has an unknown member'], [Array(201).fill({ match: 'a', action: 'ask' }), 'tool_policy must have at most 200 rules']]) {
    const r = await u.request('PUT', `/agents/${agent.agent_id}`, { json: { tool_policy: policy } });
    assert.equal(r.status, 422, r.text);
    assert.ok(r.text.includes(problem), r.text);
  }
  const other = await server.user();
  assert.equal((await other.request('PUT', `/agents/${agent.agent_id}`, { json: { tool_policy: [] } })).status, 404);
  const versions = (await u.get(`/agents/${agent.agent_id}/versions`)).json.versions;
  assert.deepEqual(versions.map((v) => v.tool_policy), [rules, []]);
});

test('a change of the agent makes the policy of runs in progress stricter, never weaker', async () => {
  const u = await server.user({ tier: 'pro' });
  const set = async (agent, tool_policy) => assert.equal((await u.request('PUT', `/agents/${agent}`, { json: { tool_policy } })).status, 200);
  const deny = [{ match: 'shell', when: { command: '*ask 1' }, action: 'deny' }];
  for (const [atStart, later] of [[[], deny], [deny, []]]) {
    const agent = (await u.post('/agents', { json: { name: 'Stricter', tool_policy: atStart } })).json.agent_id;
    const started = await u.start({ prompt: '[same id]', agent_id: agent });
    const asked = await u.stream(started.json.agent_run_id, { until: (e) => e.type === 'approval_requested' });
    await set(agent, later);
    assert.equal((await decide(u, asked.events.at(-1), { decision: 'approve' })).status, 200);
    assert.match(textOf((await u.stream(started.json.agent_run_id)).events), /^results: ask 0.*\| .*policy of this deployment denies/s);
  }
});

test('a stop ends a parked run at once, and its approval is cancelled', async () => {
  const u = await server.user();
  const { id, approval } = await startAsking(u, 'echo ask');
  const stopped = await u.post(`/agent-run/${id}/stop`);
  assert.deepEqual(stopped.json, { status: 'stopped' });
  const s = await u.stream(id);
  assert.deepEqual(statuses(s.events), ['running', 'stopped']);
  assert.ok(gapless(s.events));
  assert.equal((await decide(u, approval, { decision: 'approve' })).status, 409);
  assert.equal((await u.get('/approvals')).json.approvals[0].status, 'cancelled');
});

test('deleting the thread of a parked run deletes its approvals', async () => {
  const u = await server.user();
  const { thread } = await startAsking(u, 'echo ask');
  assert.equal((await u.request('DELETE', `/threads/${thread}?force=true`)).status, 204);
  assert.deepEqual((await u.get('/approvals')).json.approvals, []);
  assert.equal(database.sql(`select count(*) from runs.approvals where thread_id = '${thread}'`), '0');
});

test('after the time limit the call is denied', async () => {
  const u = await server.user();
  const { id, approval } = await startAsking(u, 'echo ask');
  database.sql(`update runs.approvals set expires_at = now() where id = '${approval.approval_id}'`);
  database.sql(`update core.job set run_at = now() where kind = 'runs.expire_approvals' and state = 0`);
  const s = await u.stream(id, { timeout: 90_000 });
  assert.equal(textOf(s.events), 'results: Error: The call was not made: no decision about it was made in time.');
  assert.equal(s.events.find((e) => e.type === 'approval_resolved').status, 'expired');
});

test('of two concurrent decisions, one applies', async () => {
  const u = await server.user();
  const { id, approval } = await startAsking(u, 'echo ask >> n; cat n');
  const all = await Promise.all(['approve', 'deny', 'approve', 'deny', 'approve', 'deny'].map((decision) => decide(u, approval, { decision })));
  const codes = all.map((r) => r.status).sort();
  assert.deepEqual(codes, [200, 200, 200, 409, 409, 409]);
  const s = await u.stream(id);
  assert.equal(s.events.filter((e) => e.type === 'approval_resolved').length, 1);
  assert.equal(s.events.filter((e) => e.type === 'tool_result').length, 1);
});

test('a parked run survives a kill; the call is executed once after the restart', async () => {
  const u = await server.user();
  const { id, approval } = await startAsking(u, 'echo ask >> n; cat n');
  await server.kill();
  await server.start();
  assert.equal((await u.get(`/agent-run/${id}`)).json.waiting_for[0].approval_id, approval.approval_id);
  await decide(u, approval, { decision: 'approve' });
  const s = await u.stream(id, { timeout: 40_000 });
  assert.ok(gapless(s.events), s.raw);
  assert.match(textOf(s.events), /^results: ask\n/);
});

test('a kill between the decision and the end of the call: one execution, or an unknown outcome', async () => {
  const u = await server.user();
  for (const wait of [0, 30, 120, 400, 900]) {
    const { id, approval } = await startAsking(u, `echo ask >> n${wait}; sleep 1; cat n${wait}`);
    const decided = decide(u, approval, { decision: 'approve' }).catch(() => null);
    await sleep(wait);
    await server.kill();
    await decided;
    await server.start();
    const again = await decide(u, approval, { decision: 'approve' });
    assert.equal(again.status, 200, again.text);
    const s = await u.stream(id, { timeout: 60_000 });
    assert.deepEqual(statuses(s.events).slice(-1), ['completed'], s.raw);
    const results = s.events.filter((e) => e.type === 'tool_result');
    assert.equal(results.length, 1);
    const once = /^ask\n/.test(results[0].content) && !/ask\nask/.test(results[0].content);
    assert.ok(once || /outcome/.test(results[0].content), results[0].content);
  }
});

// Another server with its own database, whose policy the operator changes while it is down.
async function withPolicy(first, body) {
  const own = await new Server({ database: makeDatabase(), llm, settings: first }).start();
  let policy = first;
  const change = (to) => {
    writeFileSync(own.config, readFileSync(own.config, 'utf8').replace(policy, () => to));
    policy = to;
  };
  try {
    await body(own, change);
  } finally {
    await own.close();
    own.database.drop();
  }
}
const rule = (action) => `[[runs.tool_policy]]\nmatch = "shell"\naction = "${action}"\n`;

test('a decision stays valid after the operator has relaxed the policy', () => withPolicy(rule('ask'), async (own, change) => {
  const u = await own.user();
  const parked = [];
  for (const [status, result] of [['denied', /user denied it/], ['approved', /^results: ask\n/]]) {
    const r = await u.start({ prompt: 'echo ask >> n; cat n' });
    const id = r.json.agent_run_id;
    await waitFor('the run is parked', () => own.database.sql(`select count(*) from runs.parked where run_id = '${id}'`) === '1');
    own.database.sql(`update runs.parked set slot_until = now() where run_id = '${id}'`);
    parked.push({ id, status, result });
  }
  await own.kill();
  for (const { id, status } of parked) own.database.sql(`select runs.decide_approval(null, id, '${status}', null, null, 'none') from runs.approvals where run_id = '${id}'`);
  change(rule('run'));
  await own.start();
  for (const { id, result } of parked) {
    const s = await u.stream(id, { timeout: 60_000 });
    assert.match(textOf(s.events), result);
    assert.equal(s.events.filter((e) => e.type === 'approval_resolved').length, 1);
  }
}));

test('a call that began before the operator added a rule is not made again', () => withPolicy(rule('run'), async (own, change) => {
  const u = await own.user();
  const r = await u.start({ prompt: 'echo begun; sleep 20' });
  const id = r.json.agent_run_id;
  await u.stream(id, { until: (e) => e.type === 'tool_output_chunk' });
  await own.kill();
  change(rule('ask'));
  await own.start();
  const s = await u.stream(id, { timeout: 60_000 });
  assert.ok(!s.events.some((e) => e.type === 'approval_requested'), s.raw);
  assert.match(s.events.find((e) => e.type === 'tool_result').content, /outcome/);
}));

test('a kill before the decision, while another call of the answer is executed', async () => {
  const u = await server.user();
  const r = await u.start({ prompt: 'sleep 3; echo free\necho ask' });
  const id = r.json.agent_run_id;
  const s = await u.stream(id, { until: (e) => e.type === 'approval_requested' });
  assert.equal(s.events.find((e) => e.type === 'tool_call' && e.tool_call_id === 'c2').needs_approval, true);
  await decide(u, s.events.at(-1), { decision: 'approve' });
  await server.kill();
  await server.start();
  const whole = await u.stream(id, { timeout: 60_000 });
  assert.ok(gapless(whole.events), whole.raw);
  assert.match(textOf(whole.events), /ask/);
  assert.equal(whole.events.filter((e) => e.type === 'approval_resolved').length, 1);
});

test('the module is replaced while a run is parked', async () => {
  const u = await server.user(), admin = await server.user({ role: 'admin' });
  const { id, approval } = await startAsking(u, 'echo ask >> n; cat n');
  assert.equal((await admin.post('/admin/modules/runs/reload')).status, 200);
  assert.equal((await decide(u, approval, { decision: 'approve' })).status, 200);
  assert.match(textOf((await u.stream(id, { timeout: 40_000 })).events), /^results: ask\n/);
});

const clientTools = JSON.stringify([{ name: 'get_location', description: 'Location of the user', parameters: { type: 'object', properties: {} } }]);

// Starts a run whose model calls the client's tool, and waits until it is parked.
async function startWithClientTool(u) {
  const r = await u.start({ prompt: '[location]', client_tools: clientTools });
  assert.equal(r.status, 200, r.text);
  const id = r.json.agent_run_id;
  const s = await u.stream(id, { until: (e) => e.type === 'tool_results_requested' });
  assert.deepEqual(s.events.at(-1).tool_call_ids, ['loc']);
  assert.equal(s.events.find((e) => e.type === 'tool_call').source, 'client');
  return id;
}
const sendResults = (u, id, ...results) => u.post(`/agent-run/${id}/tool-results`, { json: { tool_results: results } });

test('a tool of the client: the run waits for its result, also across a kill', async () => {
  const u = await server.user(), other = await server.user();
  const id = await startWithClientTool(u);
  await waitFor('the run is parked', () => database.sql(`select count(*) from runs.parked where run_id = '${id}'`) === '1');
  assert.deepEqual((await u.get(`/agent-run/${id}`)).json.waiting_for.map((w) => [w.type, w.tool_call_id]), [['tool_result', 'loc']]);
  assert.deepEqual((await u.get('/approvals')).json.approvals, [], 'no person has to decide');
  await server.kill();
  await server.start();
  assert.equal((await sendResults(other, id, { tool_call_id: 'loc', content: 'x' })).status, 404);
  assert.equal((await sendResults(u, id, { tool_call_id: 'other', content: 'x' })).status, 409);
  const ok = await sendResults(u, id, { tool_call_id: 'loc', content: 'Berlin' });
  assert.deepEqual(ok.json, { status: 'accepted' });
  assert.equal((await sendResults(u, id, { tool_call_id: 'loc', content: 'Berlin' })).status, 200);
  const s = await u.stream(id, { timeout: 40_000 });
  assert.ok(gapless(s.events), s.raw);
  assert.equal(textOf(s.events), 'results: Berlin');
  assert.equal((await sendResults(u, id, { tool_call_id: 'loc', content: 'Paris' })).status, 409);
});

test('invalid results and tools of the client are refused', async () => {
  const u = await server.user();
  const id = await startWithClientTool(u);
  for (const [body, text] of [[{}, /must be an array/], [{ tool_results: [] }, /must not be empty/], [{ tool_results: [{ content: 'x' }] }, /tool_call_id/],
    [{ tool_results: [{ tool_call_id: 'loc', content: 1 }] }, /content must be a string/], [{ tool_results: [{ tool_call_id: 'a', content: '' }, { tool_call_id: 'a', content: '' }] }, /more than once/],
    [{ tool_results: 'x' }, /must be an array/], [{ results: [] }, /Unknown member/]]) {
    const r = await u.post(`/agent-run/${id}/tool-results`, { json: body });
    assert.equal(r.status, 422, r.text);
    assert.match(r.text, text);
  }
  await u.post(`/agent-run/${id}/stop`);
  for (const tools of ['{', '{}', '[1]', '[{"name":"a b"}]', '[{"name":"a"},{"name":"a"}]', '[{"name":"a","parameters":1}]', JSON.stringify(Array.from({ length: 129 }, (_, i) => ({ name: `t${i}` })))]) {
    const r = await u.start({ prompt: 'x', client_tools: tools });
    assert.equal(r.status, 422, tools.slice(0, 40));
    assert.match(r.text, /client_tools/);
  }
});
