// Placement of runs when all slots of a node are in use: a queue shared by all nodes, fair between accounts, with a
// limit. Also the draining of nodes.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { lastUser, startLlm } from './lib/llm.mjs';
import { Client, Server, gapless, makeDatabase, sleep, statuses, waitFor } from './lib/server.mjs';

const secret = 'auth.jwt.hs256_secret=a secret of at least thirty-two bytes for this test';
const settings = `
[jobs]
lease_seconds = 2
[accounts.tiers.free]
concurrent_runs = 1000
threads = 100000
[accounts.tiers.pro]
concurrent_runs = 1000
[runs]
max_live_runs = 4
max_queued_runs = 40
queue_percent = { free = 50 }
`;
let database, llm, a, b, order = [], held = [], hold = false;

before(async () => {
  database = makeDatabase();
  llm = await startLlm(async (request, reply) => {
    order.push(lastUser(request));
    reply.text('begun ');
    if (hold) await new Promise((r) => held.push(r)); else await sleep(20);
    reply.end({ input: 10, output: 5 });
  });
  a = await new Server({ database, llm, set: [secret], settings }).start();
});
after(async () => {
  hold = false;
  for (const r of held) r();
  await a?.close();
  await b?.close();
  await llm?.close();
  database?.drop();
});

const start = async (u, prompt) => {
  const r = await u.start({ prompt });
  assert.equal(r.status, 200, r.text);
  return r.json.agent_run_id;
};
const release = () => { hold = false; for (const r of held.splice(0)) r(); };
const queued = () => Number(database.sql("select count(*) from core.job where kind = 'runs.execute' and state = 0"));

const allRunsEnded = (ms) => waitFor('all runs to end', () => queued() === 0 && database.sql("select count(*) from runs.runs where status = 'running'") === '0', ms);
// Also waits until the nodes have noticed that the queue is empty: they check it once a second.
async function idle() {
  await allRunsEnded();
  await sleep(1500);
}

// Starts four runs that occupy all slots of node a.
async function occupyAllSlots() {
  await idle();
  hold = true;
  const u = await a.user();
  const ids = [];
  for (let i = 0; i < 4; i++) ids.push(await start(u, 'occupies a slot'));
  await waitFor('all slots to be occupied', () => held.length === 4);
  return { u, ids };
}

test('many queued runs of one account delay a single run of another account by one run only', async () => {
  const occupied = await occupyAllSlots();
  const flood = await a.user(), single = await a.user();
  const ids = [];
  for (let i = 0; i < 15; i++) ids.push(await start(flood, 'flood'));
  const one = await start(single, 'single');
  assert.equal(queued(), 16);
  order = [];
  // Releases the slots one at a time.
  held.shift()();
  await waitFor('the first queued run to start', () => order.length === 1);
  held.shift()();
  await waitFor('the second queued run to start', () => order.length === 2);
  assert.deepEqual(order, ['flood', 'single']);
  release();
  const s = await single.stream(one);
  assert.deepEqual(statuses(s.events), ['running', 'completed']);
  assert.ok(gapless(s.events), s.raw);
  for (const id of ids) {
    const f = await flood.stream(id);
    assert.deepEqual(statuses(f.events), ['running', 'completed'], f.raw);
    assert.ok(gapless(f.events), f.raw);
  }
  for (const id of occupied.ids) assert.equal((await occupied.u.stream(id)).events.at(-1).status, 'completed');
  assert.equal(queued(), 0);
});

test('concurrent starts do not exceed the number of slots', async () => {
  await idle();
  hold = true;
  const users = await Promise.all(Array.from({ length: 12 }, async () => { const u = await a.user(); await u.get('/account'); return u; }));
  const ids = await Promise.all(users.map((u) => start(u, 'concurrent')));
  await waitFor('four runs to start', () => held.length === 4);
  assert.equal(queued(), 8);
  release();
  for (const [i, u] of users.entries()) assert.equal((await u.stream(ids[i])).events.at(-1).status, 'completed');
});

test('a queued run can be stopped, and its stream can be read from the start', async () => {
  await occupyAllSlots();
  const u = await a.user();
  const id = await start(u, 'waits');
  const reading = u.stream(id);
  await sleep(100);
  assert.deepEqual((await u.post(`/agent-run/${id}/stop`)).json, { status: 'stopped' });
  const s = await reading;
  assert.deepEqual(statuses(s.events), ['running', 'stopped']);
  release();
  await allRunsEnded();
  assert.ok(!order.includes('waits'));
});

test('above the queue limit a start gets 503 and stores nothing; higher tiers are still accepted', async () => {
  await occupyAllSlots();
  const free = await a.user(), pro = await a.user({ tier: 'pro' });
  const written = () => database.sql(`select ${['runs.runs', 'runs.threads', 'runs.projects', 'runs.messages', 'runs.events',
    'runs.idempotency', "core.job where kind = 'runs.execute'"].map((table) => `(select count(*) from ${table})`)}`);
  // A node's view of the queue length may miss runs that were queued during its last check.
  const startUntilRefused = async (u, expectedQueued, form) => {
    for (;;) {
      const before = written(), key = randomUUID();
      const r = await u.start(form, { 'idempotency-key': key });
      if (r.status === 503) {
        assert.deepEqual(r.json, { detail: { message: 'Too many runs are waiting; try again later', error_code: 'QUEUE_FULL' } });
        assert.ok(Number(r.headers.get('retry-after')) > 0);
        assert.equal(written(), before);
        assert.ok(Math.abs(queued() - expectedQueued) <= 3, `${queued()} runs are queued`);
        return key;
      }
      assert.equal(r.status, 200, r.text);
    }
  };
  const kept = randomUUID(), files = [{ name: 'a.txt', data: 'text' }];
  const first = await free.start({ prompt: 'kept', files }, { 'idempotency-key': kept });
  assert.equal(first.status, 200, first.text);
  const key = await startUntilRefused(free, 20, { prompt: 'fills the queue' });
  await startUntilRefused(free, 20, { prompt: 'fills the queue', files });
  await startUntilRefused(pro, 40, { prompt: 'more important' });
  // Requests that start no run are still served: the repetition of a completed start, and other requests.
  const before = written(), again = await free.start({ prompt: 'kept', files }, { 'idempotency-key': kept });
  assert.equal(again.status, 200, again.text);
  assert.equal(again.headers.get('idempotency-replayed'), 'true');
  assert.equal(again.json.agent_run_id, first.json.agent_run_id);
  assert.equal((await free.start({ prompt: 'another' }, { 'idempotency-key': kept })).status, 409);
  assert.equal(written(), before);
  assert.equal((await free.get('/agent-runs')).status, 200);
  release();
  await allRunsEnded(60000);
  await waitFor('starts to be accepted again', async () => (await free.start({ prompt: 'again' }, { 'idempotency-key': key })).status === 200);
});

test('without a queue, concurrent starts above the number of slots are refused', async () => {
  await idle();
  const other = makeDatabase();
  const server = await new Server({ database: other, llm, settings: '[runs]\nmax_live_runs = 2\nmax_queued_runs = 0' }).start();
  try {
    hold = true;
    const users = await Promise.all(Array.from({ length: 8 }, async () => { const u = await server.user(); await u.get('/account'); return u; }));
    const answers = await Promise.all(users.map((u) => u.start({ prompt: 'concurrent' })));
    const started = answers.filter((r) => r.status === 200).length;
    assert.ok(started === 1 || started === 2, `${started} started`);  // a run that is just becoming live may count twice
    assert.equal(answers.filter((r) => r.status === 503 && r.json.detail.error_code === 'QUEUE_FULL').length, 8 - started);
    await waitFor('the accepted runs to start', () => held.length === started);
    assert.equal(other.sql("select string_agg(state::text, '') from core.job where kind = 'runs.execute'"), '1'.repeat(started));
    assert.equal(other.sql('select count(*) from runs.runs'), String(started));
    release();
    for (const [i, r] of answers.entries())
      if (r.status === 200) assert.equal((await users[i].stream(r.json.agent_run_id)).events.at(-1).status, 'completed');
  } finally {
    release();
    await server.close();
    other.drop();
  }
});

test('a node with free slots claims the queued runs of a full node', async () => {
  await occupyAllSlots();
  const u = await a.user();
  const id = await start(u, 'for the other node');
  assert.equal(queued(), 1);
  hold = false;
  b = await new Server({ database, llm, set: [secret], settings }).start();
  const s = await u.stream(id);
  assert.equal(s.events.at(-1).status, 'completed', s.raw);
  assert.ok(gapless(s.events), s.raw);
  release();
});

test('the registry lists the nodes; a draining node claims no runs and keeps its current ones', async () => {
  const admin = new Client(a, a.token({ role: 'admin' }));
  assert.equal((await (await a.user()).get('/admin/nodes')).status, 403);
  const nodes = (await admin.get('/admin/nodes')).json;
  assert.equal(nodes.length, 2);
  const mine = nodes.find((n) => n.this), other = nodes.find((n) => !n.this);
  assert.deepEqual([mine.state, mine.weight, other.state], ['active', 100, 'active']);
  assert.ok(mine.name.length > 0);

  await idle();
  hold = true;
  const u = await a.user();
  const kept = await start(u, 'stays');
  await waitFor('the run to start', () => held.length === 1);
  const drained = await admin.post(`/admin/nodes/${mine.id}/drain`);
  assert.equal(drained.status, 200, drained.text);
  assert.equal(drained.json.state, 'draining');
  await waitFor('the node to be not ready', async () => (await fetch(`${a.url}/readyz`)).status === 503);
  assert.equal((await admin.get('/admin/nodes')).json.find((n) => n.this).state, 'draining');
  // Starts check the queue once a second; earlier starts stay queued.
  const ids = [kept];
  const runner = (id) => database.sql(`select j.node from core.job j where j.args->>'run_id' = '${id}' and j.state = 1`);
  await waitFor('the other node to execute new runs', async () => {
    ids.push(await start(u, 'moves on'));
    await waitFor('the run to start', () => runner(ids.at(-1)) !== '');
    await sleep(300);
    return runner(ids.at(-1)) === other.id;
  });
  assert.equal(runner(kept), mine.id);
  release();
  for (const id of ids) assert.equal((await u.stream(id)).events.at(-1).status, 'completed');

  assert.equal((await admin.post(`/admin/nodes/${mine.id}/undrain`)).json.state, 'active');
  await waitFor('the node to be ready again', async () => (await fetch(`${a.url}/readyz`)).status === 200);
  assert.equal((await admin.post(`/admin/nodes/${randomUUID()}/drain`)).status, 404);
  assert.equal((await admin.post('/admin/nodes/no-uuid/drain')).status, 404);
});

test('sandboxed commands respect the limits per account (one) and per node (two)', async () => {
  const log = new Map();
  const model = await startLlm(async (request, reply) => {
    const prompt = lastUser(request);
    const results = request.messages.filter((m) => m.role === 'tool').map((m) => m.content);
    if (results.length === 0)
      return reply.tools(['a', 'b'].map((id) => ({ id, name: 'shell', arguments: { command: `date +%s%N; sleep ${prompt.includes('to stop') ? 60 : 1.5}; date +%s%N` } })));
    log.set(prompt, results);
    reply.say('done');
  });
  const other = makeDatabase();
  const server = await new Server({ database: other, llm: model, settings: '[runs]\naccount_sandboxes = 1\nsandboxes = 2' }).start();
  try {
    const users = [await server.user(), await server.user(), await server.user()];
    const ids = await Promise.all(users.map((u, i) => start(u, `commands of ${i} .`)));
    for (const [i, u] of users.entries()) {
      const s = await u.stream(ids[i]);
      assert.equal(s.events.at(-1).status, 'completed', s.raw);
    }
    const spans = [0, 1, 2].map((i) => log.get(`commands of ${i} .`).map((t) => t.match(/\d{15,}/g).map((n) => Number(n) / 1e6)).sort((x, y) => x[0] - y[0]));
    for (const [first, second] of spans) assert.ok(second[0] >= first[1], `${first} and ${second} overlap`);
    const all = spans.flat(), maxConcurrent = Math.max(...all.map(([at]) => all.filter(([from, to]) => from <= at && at < to).length));
    assert.equal(maxConcurrent, 2, 'concurrent commands on the node');
    // A stop does not wait for a sandbox slot.
    const u = await server.user();
    const slow = await start(u, 'commands to stop');
    await u.stream(slow, { until: (e) => e.type === 'tool_call' });
    const began = performance.now();
    assert.deepEqual((await u.post(`/agent-run/${slow}/stop`)).json, { status: 'stopped' });
    assert.ok(performance.now() - began < 30_000);
  } finally {
    await server.close();
    await model.close();
    other.drop();
  }
});

test('many commands of one account do not starve those of another account at the only sandbox slot', async () => {
  const log = new Map();
  const model = await startLlm(async (request, reply) => {
    const prompt = lastUser(request);
    const results = request.messages.filter((m) => m.role === 'tool').map((m) => m.content);
    if (results.length === 0)
      return reply.tools(Array.from({ length: Number(/\d+/.exec(prompt)[0]) }, (_, i) => ({ id: `c${i}`, name: 'shell', arguments: { command: 'date +%s%N; sleep 0.7' } })));
    log.set(prompt, results.map((t) => Number(t.match(/\d{15,}/)[0])));
    reply.say('done');
  });
  const other = makeDatabase();
  const server = await new Server({ database: other, llm: model, settings: '[runs]\nsandboxes = 1' }).start();
  try {
    const [many, few] = [await server.user(), await server.user()];
    const first = await start(many, '8 commands');
    await many.stream(first, { until: (e) => e.type === 'tool_call' });
    const second = await start(few, '1 command');
    for (const [u, run] of [[many, first], [few, second]]) assert.equal((await u.stream(run)).events.at(-1).status, 'completed');
    const [began] = log.get('1 command');
    const after = log.get('8 commands').filter((at) => at > began).length;
    assert.ok(after >= 4, `${after} of the eight commands started after the single one`);
  } finally {
    await server.close();
    await model.close();
    other.drop();
  }
});
