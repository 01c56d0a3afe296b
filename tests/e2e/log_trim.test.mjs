// The event log is trimmed by dropping partitions while runs are started, streamed and read on another node.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { lastUser, startLlm } from './lib/llm.mjs';
import { Client, Server, gapless, makeDatabase, sleep, statuses, textOf, waitFor } from './lib/server.mjs';

let database, llm, a, b, letGo;
const held = new Promise((ok) => { letGo = ok; });
const set = ['auth.jwt.hs256_secret=a secret of at least thirty-two bytes for this test'];

before(async () => {
  database = makeDatabase();
  llm = await startLlm(async (request, reply) => {
    if (lastUser(request).includes('[long]')) {
      let over = false, i = 0;
      held.then(() => { over = true; });
      while (!over && !reply.res.destroyed) { reply.text(`l${i++} `); await sleep(50); }
    } else {
      for (let i = 0; i < 10; i++) reply.text(`w${i} `);
    }
    reply.end();
  });
  a = await new Server({ database, llm, set }).start();
  b = await new Server({ database, llm, set }).start();
});
after(async () => {
  letGo();
  await a?.close();
  await b?.close();
  await llm?.close();
  database?.drop();
});

const partitions = () => Number(database.sql(`select count(*) from core.partitions_of('runs.events')`));
const start = async (u, prompt) => {
  const r = await u.start({ prompt });
  assert.equal(r.status, 200, r.text);
  return r.json.agent_run_id;
};

test('partitions go while runs are started and streamed; nothing is lost, and a live run keeps its log', async () => {
  // Partitions of two seconds each; later rows go into the default partition.
  database.sql(`do $$ declare v timestamptz := date_trunc('second', now()); begin
    for i in 0 .. 59 loop
      execute format('create table runs.events_short%s partition of runs.events for values from (%L) to (%L)', i,
        core.uuid_floor(v + i * interval '2 seconds'), core.uuid_floor(v + (i + 1) * interval '2 seconds'));
    end loop; end $$`);
  const u = await a.user({ tier: 'enterprise' }), far = new Client(b, u.token, u.id);
  const long = await start(u, '[long]');
  const home = database.sql(`select tableoid::regclass from runs.events where run_id = '${long}' limit 1`);
  assert.match(home, /short/);
  const [here, there] = [u.stream(long), far.stream(long)];

  // A log that was not read to its end is never old here, however slow this machine is.
  const reading = new Map(), ended = [];
  let loading = true, dropped = 0;
  const load = Array.from({ length: 4 }, async (_, i) => {
    for (let n = 0; loading; n++) {
      const key = `${i} ${n}`;
      reading.set(key, Date.now());
      const id = await start(u, key);
      const s = await (n % 2 ? far : u).stream(id);
      assert.deepEqual(statuses(s.events).filter((x) => x !== 'running'), ['completed'], s.raw);
      assert.ok(gapless(s.events), s.raw);
      assert.equal(textOf(s.events), 'w0 w1 w2 w3 w4 w5 w6 w7 w8 w9 ');
      reading.delete(key);
      ended.push(id);
    }
  });
  const trimming = (async () => {
    const gone = `select count(*) from runs.runs r where r.completed_at is not null and not exists (select from runs.events e where e.run_id = r.id)`;
    await waitFor('partitions are gone, with logs in them', async () => {
      const before = Math.min(Date.now(), ...reading.values()) / 1000 - 0.1;
      if (database.sql(`select runs.trim_log(to_timestamp(${before}), 1000)`) === 'partition') dropped++;
      return dropped >= 3 && Number(database.sql(gone)) >= 3;
    }, 110000);
  })().finally(() => { loading = false; });
  await Promise.all([...load, trimming]);

  assert.equal(database.sql(`select tableoid::regclass from runs.events where run_id = '${long}' limit 1`), home);
  letGo();
  const streams = [await here, await there, await u.stream(long), await far.stream(long)];
  for (const s of streams) {
    assert.ok(gapless(s.events), s.raw.slice(-1000));
    assert.equal(s.events[0].sequence, 1);
    assert.deepEqual(statuses(s.events).filter((x) => x !== 'running'), ['completed']);
    assert.equal(textOf(s.events), textOf(streams[0].events));
  }
  // Of those whose log is gone there is a gap and the end, of all others everything.
  let gone = 0;
  for (const id of ended) {
    const s = await far.stream(id);
    assert.deepEqual(statuses(s.events).filter((x) => x !== 'running'), ['completed'], s.raw);
    if (s.events[0].type === 'gap') { gone++; assert.equal(s.events.length, 2); assert.equal(s.events[0].from, 1); }
    else assert.ok(gapless(s.events), s.raw);
  }
  assert.ok(gone > 0 && gone <= ended.length, `${gone} of ${ended.length}`);
  // Now that it is over, its partition goes like others.
  const trimmed = `select runs.trim_log(now() + interval '1 hour', 1000)`;
  await waitFor('nothing is left to trim', () => {
    database.sql(`do $$ begin while (${trimmed}) in ('partition', 'rows') loop end loop; end $$`);
    return database.sql(trimmed) === 'none';
  }, 110000);
  assert.equal(database.sql('select count(*) from runs.events'), '0');
  assert.deepEqual(await u.stream(long).then((s) => s.events.map((e) => e.type)), ['gap', 'status']);
});

test('the job makes partitions ahead, and says until when', async () => {
  database.sql(`select core.job_enqueue('runs.trim_log', '{}', 'default')`);
  await waitFor('the partitions', () => partitions() >= 2);
  const figure = async (s) => Number(/^runyard_runs_log_until_timestamp_seconds(?:\{[^}]*\})? ([0-9.e+]+)/m.exec(await (await fetch(`${s.url}/metrics`)).text())?.[1] ?? 0);
  await waitFor('the figure', async () => Math.max(await figure(a), await figure(b)) > Date.now() / 1000 + 600);
});
