// The operator's HTTP API: queues and nodes, live runs of all nodes, dead-lettered jobs, modules. Each action is
// recorded in the audit log, and other users are rejected.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startHeldLlm } from './lib/llm.mjs';
import { Client, Server, makeDatabase, waitFor } from './lib/server.mjs';

const set = ['auth.jwt.hs256_secret=a secret of thirty-two bytes or more'];
let database, llm, a, b, admin, user;

before(async () => {
  database = makeDatabase();
  llm = await startHeldLlm();
  a = await new Server({ database, llm, set }).start();
  b = await new Server({ database, llm, set }).start();
  admin = new Client(a, a.token({ role: 'admin' }));
  user = await a.user({ tier: 'pro' });
});
after(async () => {
  llm?.letGo();
  await b?.close();
  await a?.close();
  await llm?.close();
  database?.drop();
});

const insertDeadLetter = (key = '') => database.sql(`insert into core.job (kind, queue, state, attempt, max_attempts, unique_key, args, last_error)
  values ('test.lost', 'test', 2, 3, 3, nullif('${key}', ''), '{"secret": "s3cret"}', 'it failed') returning id`).split('\n')[0];
const deadLetters = async (query = '') => (await admin.get(`/admin/jobs${query}`)).json;
const waitForAudit = (action) => waitFor(`${action} in the audit log`, async () =>
  (await admin.get('/admin/audit?limit=100')).json.entries.find((e) => e.action === action));

test('live runs of both nodes, and their queues', async () => {
  const ids = [];
  for (const node of [a, b]) {
    const r = await new Client(node, user.token).start({ prompt: 'wait' });
    assert.equal(r.status, 200, r.text);
    ids.push(r.json.agent_run_id);
  }
  const live = await waitFor('both runs on their nodes', async () => {
    const { runs } = (await admin.get('/admin/runs')).json;
    return runs.length === 2 && runs.every((r) => r.node) && runs;
  });
  assert.deepEqual(live.map((r) => r.agent_run_id), ids.reverse());
  assert.ok(live.every((r) => r.account_id === user.id && r.waiting === false && r.crashes === 0), JSON.stringify(live));
  // Scheduled jobs of every minute may be running for a moment.
  const { queues, nodes } = await waitFor('only the runs to be running', async () => {
    const seen = (await admin.get('/admin/queues')).json;
    return seen.nodes.every((n) => n.running === 1) && seen;
  });
  assert.deepEqual(nodes.map((n) => n.this), [true, false]);
  assert.deepEqual(live.map((r) => r.node), [nodes[1].id, nodes[0].id]);
  assert.equal(queues.find((q) => q.queue === 'runs').running, 2);
  const first = (await admin.get('/admin/runs?limit=1')).json;
  assert.deepEqual(first.runs.map((r) => r.agent_run_id), [ids[0]]);
  const second = (await admin.get(`/admin/runs?limit=1&cursor=${encodeURIComponent(first.next_cursor)}`)).json;
  assert.deepEqual(second.runs.map((r) => r.agent_run_id), [ids[1]]);
  for (const id of ids) assert.equal((await user.post(`/agent-run/${id}/stop`)).json.status, 'stopped');
  assert.deepEqual((await admin.get('/admin/runs')).json.runs, []);
});

test('dead letters: pages, retry, discard', async () => {
  const ids = Array.from({ length: 3 }, () => insertDeadLetter());
  const page = await deadLetters('?limit=2');
  assert.deepEqual(page.jobs.map((j) => String(j.id)), [ids[2], ids[1]]);
  assert.equal(page.next_cursor, ids[1]);
  const rest = await deadLetters(`?limit=2&cursor=${page.next_cursor}`);
  assert.deepEqual([rest.jobs.map((j) => String(j.id)), rest.next_cursor], [[ids[0]], null]);
  assert.equal(page.jobs[0].last_error, 'it failed');
  assert.doesNotMatch(JSON.stringify(page), /s3cret/, 'arguments may contain secrets and are not returned');

  assert.equal((await admin.post(`/admin/jobs/${ids[0]}/retry`)).status, 200);
  assert.equal(database.sql(`select state || ' ' || attempt from core.job where id = ${ids[0]}`), '0 0');
  assert.equal((await admin.post(`/admin/jobs/${ids[0]}/retry`)).status, 404);
  assert.deepEqual((await deadLetters('?state=ready')).jobs.map((j) => String(j.id)), [ids[0]]);
  const reported = await waitForAudit('job.retry');
  assert.deepEqual([reported.detail.kind, String(reported.detail.job_id)], ['test.lost', ids[0]]);

  assert.equal((await admin.post(`/admin/jobs/${ids[1]}/discard`)).status, 200);
  assert.equal(database.sql(`select (select count(*) from core.job where id = ${ids[1]}) + (select count(*) from core.dead_job where id = ${ids[1]})`), '0');
  assert.equal((await admin.post(`/admin/jobs/${ids[1]}/discard`)).status, 404);
  await waitForAudit('job.discard');

  const duplicate = insertDeadLetter('only-one');
  database.sql(`insert into core.job (kind, queue, state, max_attempts, unique_key, args) values ('test.lost', 'test', 0, 3, 'only-one', '{}')`);
  const r = await admin.post(`/admin/jobs/${duplicate}/retry`);
  assert.deepEqual([r.status, r.json.detail], [409, 'An identical job is already queued or running']);
});

test('errors name invalid parameters', async () => {
  for (const [query, status, word] of [['state=lost', 422, /state/], ['limit=0', 422, /limit/], ['limit=101', 422, /limit/],
    ['limit=x', 422, /limit/], ['cursor=..', 400, /cursor/], ['cursor=99999999999999999999', 400, /cursor/]]) {
    const r = await admin.get(`/admin/jobs?${query}`);
    assert.equal(r.status, status, query);
    assert.match(r.json.detail, word);
  }
  for (const id of ['0', '-1', 'x', '99999999999999999999', '1%2f2'])
    assert.equal((await admin.post(`/admin/jobs/${id}/retry`)).status, 404, id);
});

test('a module reload is audited', async () => {
  assert.equal((await admin.post('/admin/modules/mcp_prebuilt/reload')).status, 200);
  assert.deepEqual((await waitForAudit('module.reload')).detail, { module: 'mcp_prebuilt' });
});

test('the metrics contain the depth of each queue', async () => {
  const metric = async (name) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec((await fetch(`${a.url}/metrics`).then((r) => r.text())))?.[1] ?? NaN);
  database.sql(`insert into core.job (kind, queue, state, max_attempts, args, run_at) values ('test.lost', 'old', 0, 3, '{}', now() - interval '10 min')`);
  await waitFor('the next measurement', async () => await metric('runyard_jobs_depth{queue="old",state="ready"}') === 1, 30000);
  assert.ok(await metric('runyard_jobs_oldest_ready_seconds{queue="old"}') >= 600);
  // No run is active at this point.
  await waitFor('a measurement without active runs', async () => await metric('runyard_jobs_depth{queue="runs",state="running"}') === 0, 30000);
  assert.equal(await metric('runyard_jobs_depth{queue="test",state="dead"}'), 2);
  assert.equal(await metric('runyard_jobs_kind_depth{kind="test.lost",state="dead"}'), 2);
  assert.equal(await metric('runyard_jobs_kind_depth{kind="runs.execute",state="ready"}'), 0);
});

test('the API is restricted to administrators', async () => {
  const lost = insertDeadLetter();
  const anonymous = new Client(a);
  for (const [method, path] of [['GET', '/admin/queues'], ['GET', '/admin/jobs'], ['GET', '/admin/runs'],
    ['POST', `/admin/jobs/${lost}/retry`], ['POST', `/admin/jobs/${lost}/discard`], ['POST', '/admin/modules/mcp_prebuilt/reload']]) {
    assert.equal((await user.request(method, path)).status, 403, path);
    assert.equal((await anonymous.request(method, path)).status, 401, path);
  }
  assert.equal(database.sql(`select count(*) from core.dead_job where id = ${lost}`), '1');
});
