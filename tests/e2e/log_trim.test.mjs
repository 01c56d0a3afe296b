// The event log is trimmed by dropping partitions while runs are started and streamed on two nodes.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { lastUser, startLlm } from './lib/llm.mjs';
import { Client, Server, gapless, makeDatabase, sleep, statuses, textOf, waitFor } from './lib/server.mjs';

let database, llm, a, b, endLongRun;
const longRunEnds = new Promise((resolve) => { endLongRun = resolve; });
const set = ['auth.jwt.hs256_secret=a secret of at least thirty-two bytes for this test'];

before(async () => {
  database = makeDatabase();
  llm = await startLlm(async (request, reply) => {
    if (lastUser(request).includes('[long]')) {
      let over = false, i = 0;
      longRunEnds.then(() => { over = true; });
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
  endLongRun();
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

test('partitions are dropped while runs are started and streamed; a live run keeps its log', async () => {
  // Each partition covers two seconds; later rows go into the default partition.
  database.sql(`do $$ declare v timestamptz := date_trunc('second', now()); begin
    for i in 0 .. 59 loop
      execute format('create table runs.events_short%s partition of runs.events for values from (%L) to (%L)', i,
        core.uuid_floor(v + i * interval '2 seconds'), core.uuid_floor(v + (i + 1) * interval '2 seconds'));
    end loop; end $$`);
  const u = await a.user({ tier: 'enterprise' }), onB = new Client(b, u.token, u.id);
  const long = await start(u, '[long]');
  const partitionOfLong = database.sql(`select tableoid::regclass from runs.events where run_id = '${long}' limit 1`);
  assert.match(partitionOfLong, /short/);
  const [streamA, streamB] = [u.stream(long), onB.stream(long)];

  // The age limit never includes logs that are still being read, even on a slow machine.
  const reading = new Map(), ended = [];
  let loading = true, dropped = 0;
  const load = Array.from({ length: 4 }, async (_, i) => {
    for (let n = 0; loading; n++) {
      const key = `${i} ${n}`;
      reading.set(key, Date.now());
      const id = await start(u, key);
      const s = await (n % 2 ? onB : u).stream(id);
      assert.deepEqual(statuses(s.events).filter((x) => x !== 'running'), ['completed'], s.raw);
      assert.ok(gapless(s.events), s.raw);
      assert.equal(textOf(s.events), 'w0 w1 w2 w3 w4 w5 w6 w7 w8 w9 ');
      reading.delete(key);
      ended.push(id);
    }
  });
  const trimming = (async () => {
    const runsWithoutLog = `select count(*) from runs.runs r where r.completed_at is not null and not exists (select from runs.events e where e.run_id = r.id)`;
    await waitFor('partitions with logs to be dropped', async () => {
      const before = Math.min(Date.now(), ...reading.values()) / 1000 - 0.1;
      if (database.sql(`select runs.trim_log(to_timestamp(${before}), 1000)`) === 'partition') dropped++;
      return dropped >= 3 && Number(database.sql(runsWithoutLog)) >= 3;
    }, 110000);
  })().finally(() => { loading = false; });
  await Promise.all([...load, trimming]);

  assert.equal(database.sql(`select tableoid::regclass from runs.events where run_id = '${long}' limit 1`), partitionOfLong);
  endLongRun();
  const streams = [await streamA, await streamB, await u.stream(long), await onB.stream(long)];
  for (const s of streams) {
    assert.ok(gapless(s.events), s.raw.slice(-1000));
    assert.equal(s.events[0].sequence, 1);
    assert.deepEqual(statuses(s.events).filter((x) => x !== 'running'), ['completed']);
    assert.equal(textOf(s.events), textOf(streams[0].events));
  }
  // For a run without a log the stream contains a gap and the final status; for the others it is complete.
  let withoutLog = 0;
  for (const id of ended) {
    const s = await onB.stream(id);
    assert.deepEqual(statuses(s.events).filter((x) => x !== 'running'), ['completed'], s.raw);
    if (s.events[0].type === 'gap') { withoutLog++; assert.equal(s.events.length, 2); assert.equal(s.events[0].from, 1); }
    else assert.ok(gapless(s.events), s.raw);
  }
  assert.ok(withoutLog > 0 && withoutLog <= ended.length, `${withoutLog} of ${ended.length}`);
  // Now that the long run has ended, its partition is dropped like the others.
  const trimmed = `select runs.trim_log(now() + interval '1 hour', 1000)`;
  await waitFor('everything to be trimmed', () => {
    database.sql(`do $$ begin while (${trimmed}) in ('partition', 'rows') loop end loop; end $$`);
    return database.sql(trimmed) === 'none';
  }, 110000);
  assert.equal(database.sql('select count(*) from runs.events'), '0');
  assert.deepEqual(await u.stream(long).then((s) => s.events.map((e) => e.type)), ['gap', 'status']);
});

test('the job creates partitions in advance, and a metric reports until when', async () => {
  database.sql(`select core.job_enqueue('runs.trim_log', '{}', 'default')`);
  await waitFor('the partitions', () => partitions() >= 2);
  const logUntil = async (s) => Number(/^runyard_runs_log_until_timestamp_seconds(?:\{[^}]*\})? ([0-9.e+]+)/m.exec(await (await fetch(`${s.url}/metrics`)).text())?.[1] ?? 0);
  await waitFor('the metric', async () => Math.max(await logUntil(a), await logUntil(b)) > Date.now() / 1000 + 600);
});
