// The server behind pgbouncer in transaction mode with four sessions.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { lastUser, startLlm, turns } from './lib/llm.mjs';
import { Pooler } from './lib/pgbouncer.mjs';
import { Client, Server, gapless, makeDatabase, sleep, statuses, textOf, waitFor } from './lib/server.mjs';

const secret = 'auth.jwt.hs256_secret=a secret of at least thirty-two bytes for this test';
const sessions = 4;
let database, pooler, llm, a, b;

const throughPooler = (settings = '') => ({
  database: { url: pooler.url }, llm,
  set: [secret, `database.direct_url=${database.url}`, 'database.transactions=2'],
  settings,
});

before(async () => {
  database = makeDatabase();
  pooler = await new Pooler(database, { sessions }).start();
  llm = await startLlm(async (request, reply) => {
    const prompt = lastUser(request);
    if (prompt.includes('[tool]') && !turns(request).some((m) => m.role === 'tool'))
      return reply.tools([{ name: 'shell', arguments: { command: 'echo from the tool' } }]);
    reply.text('begun ');
    if (prompt.includes('[hang]')) return;
    for (let i = 0; i < 10; i++) { reply.text(`w${i} `); await sleep(20); }
    reply.end({ input: 100, output: 10 });
  });
  a = await new Server(throughPooler()).start();
  b = await new Server(throughPooler()).start();
});
after(async () => {
  await a?.close();
  await b?.close();
  await llm?.close();
  await pooler?.close();
  database?.drop();
});

const start = async (u, prompt) => {
  const r = await u.start({ prompt });
  assert.equal(r.status, 200, r.text);
  return r.json.agent_run_id;
};

test('a hundred runs on two nodes end correctly and can be read on the other node', async () => {
  const logBefore = { a: a.log.length, b: b.log.length };
  await Promise.all(Array.from({ length: 100 }, async (_, i) => {
    const [home, other] = i % 2 ? [a, b] : [b, a];
    const u = await home.user();
    const elsewhere = new Client(other, u.token, u.id);
    if (i % 4 === 3) {
      const id = await start(u, `[hang] ${i}`);
      await elsewhere.stream(id, { until: (e) => e.type === 'llm_response_chunk' });
      assert.deepEqual((await elsewhere.post(`/agent-run/${id}/stop`)).json, { status: 'stopped' });
      const s = await u.stream(id);
      assert.deepEqual(statuses(s.events).filter((x) => x !== 'running'), ['stopped']);
      assert.ok(gapless(s.events), s.raw);
      return;
    }
    const id = await start(u, i % 4 === 1 ? `[tool] ${i}` : `${i}`);
    const s = await elsewhere.stream(id);
    assert.deepEqual(statuses(s.events).filter((x) => x !== 'running'), ['completed'], s.raw);
    assert.ok(gapless(s.events), s.raw);
    assert.match(textOf(s.events), /w0 w1 w2 w3 w4 w5 w6 w7 w8 w9/);
  }));
  await waitFor('all jobs to finish', () => database.sql('select count(*) from core.job where state in (0, 1)') === '0');
  assert.equal(database.sql("select count(*) from runs.runs where status = 'completed'"), '75');
  assert.equal(database.sql("select count(*) from runs.runs where status = 'stopped'"), '25');
  for (const [s, from] of [[a, logBefore.a], [b, logBefore.b]])
    assert.doesNotMatch(s.log.slice(from), /prepared statement|does not exist|a statement failed|error/i);
});

test('pooled sessions keep no prepared statements or changed settings', () => {
  const seen = new Set();
  const path = database.sql('show search_path'), limit = database.sql('show statement_timeout'), zone = database.sql('show timezone');
  for (let i = 0; i < 4 * sessions; i++) {
    const [pid, plans, ...settings] = pooler.sql(`select pg_backend_pid(), (select count(*) from pg_prepared_statements),
      current_setting('search_path'), current_setting('statement_timeout'), current_setting('timezone')`).split('|');
    seen.add(pid);
    assert.equal(plans, '0');
    assert.deepEqual(settings, [path, limit, zone]);
  }
  assert.ok(seen.size > 1, 'several sessions were used');
});

test('a stop on another node takes effect immediately, because wake-ups bypass the pooler', async () => {
  const durations = [];
  for (let i = 0; i < 11; i++) {
    const u = await a.user();
    const id = await start(u, `[hang] wake-up ${i}`);
    await u.stream(id, { until: (e) => e.type === 'llm_response_chunk' });
    const began = performance.now();
    const r = await new Client(b, u.token, u.id).post(`/agent-run/${id}/stop`);
    durations.push(performance.now() - began);
    assert.deepEqual(r.json, { status: 'stopped' });
  }
  durations.sort((x, y) => x - y);
  assert.ok(durations[5] < 500, `median ${durations[5]} ms`);
});

test('a restart of the pooler delays requests but fails no run', async () => {
  const u = await a.user();
  const id = await start(u, '[hang] during a restart');
  await u.stream(id, { until: (e) => e.type === 'llm_response_chunk' });
  await pooler.kill();
  await waitFor('the server to notice the loss', async () => (await a.user().then((x) => x.get('/account')).catch(() => ({ status: 503 }))).status === 503);
  await pooler.start();
  await waitFor('the server to answer again', async () => (await u.get('/account')).status === 200);
  await waitFor('the run to stop', async () => (await u.post(`/agent-run/${id}/stop`)).json?.status === 'stopped');
  const s = await u.stream(id);
  assert.deepEqual(statuses(s.events).filter((x) => x !== 'running'), ['stopped']);
  assert.ok(gapless(s.events), s.raw);
  const again = await u.stream(await start(u, 'afterwards'));
  assert.equal(again.events.at(-1).status, 'completed');
});

test('an undeclared connection pooler is rejected with instructions', async () => {
  for (const settings of ['', 'ignore_startup_parameters = options']) {
    const undeclared = await new Pooler(database, { settings }).start();
    try {
      const s = new Server({ database: { url: undeclared.url } });
      await assert.rejects(s.start(), /connection pooler.*database\.direct_url/s);
      await s.close();
    } finally {
      await undeclared.close();
    }
  }
});
