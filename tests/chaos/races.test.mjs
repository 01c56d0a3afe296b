// Races with exactly one winner: every participant gets the correct outcome.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sleep } from '../e2e/lib/server.mjs';
import { checkAll, assertNoViolations } from './lib/checks.mjs';
import { ChaosClient } from './lib/client.mjs';
import { promptOf, startModel } from './lib/model.mjs';
import { Nodes } from './lib/nodes.mjs';
import { Postgres } from './lib/postgres.mjs';
import { seeded } from './lib/random.mjs';

let postgres, llm, nodes;
const startedRuns = [];
const random = seeded(1);

before(async () => {
  postgres = await new Postgres().make();
  llm = await startModel();
  nodes = await new Nodes({ postgres, llm, count: 2, settings: '' }).start();
});
after(async () => {
  await nodes?.close();
  await llm?.close();
  await postgres?.drop();
});
const clientOf = (user) => new ChaosClient({ nodes, random, token: user.token, deadline: Date.now() + 60000 });

test('64 concurrent starts with a limit of one: one run starts, 63 get the id of the running thread', async () => {
  for (let round = 0; round < 3; round++) {
    const user = await nodes.all[0].user();
    await user.get('/account');
    const prompt = promptOf({ chunks: 100, pace: 50 });
    const answers = await Promise.all(Array.from({ length: 64 }, (_, i) => {
      const form = new FormData();
      form.append('prompt', prompt);
      return fetch(`${nodes.all[i % 2].url}/agent/start`, { method: 'POST', body: form, headers: { authorization: `Bearer ${user.token}` } })
        .then(async (r) => ({ status: r.status, json: await r.json() }));
    }));
    const started = answers.filter((a) => a.status === 200);
    assert.equal(started.length, 1);
    const { thread_id, agent_run_id } = started[0].json;
    for (const a of answers) {
      if (a === started[0]) continue;
      assert.equal(a.status, 402, JSON.stringify(a));
      const { message, ...rest } = a.json.detail;
      assert.equal(typeof message, 'string');
      assert.deepEqual(rest, { running_thread_ids: [thread_id], running_count: 1, limit: 1, error_code: 'AGENT_RUN_LIMIT_EXCEEDED' });
    }
    assert.equal(await postgres.value(`select count(*) || ' ' || (select count(*) from runs.threads where account_id = '${user.id}')
      || ' ' || (select count(*) from runs.projects where account_id = '${user.id}') from runs.runs where account_id = '${user.id}'`), '1 1 1');
    const client = clientOf(user);
    const reading = client.read(agent_run_id);
    const stop = await client.stop(agent_run_id);
    assert.deepEqual([stop.status, stop.json], [200, { status: 'stopped' }]);
    startedRuns.push({ run: agent_run_id, prompt, stopRequested: true, stopStatus: 'stopped', reader: await reading });
  }
});

test('200 stops race with completion: every request reports the same outcome', async (t) => {
  const users = await Promise.all(Array.from({ length: 4 }, () => nodes.all[0].user({ tier: 'pro' })));
  const outcomes = { completed: 0, stopped: 0 };
  // Milliseconds from the start to the stop; adapts to the speed of this machine, so that either side may win.
  let stopAfterMs = 160;
  const round = async (number) => {
    const client = clientOf(users[number % users.length]);
    const prompt = promptOf({ chunks: 10, pace: 15 });
    const r = await client.start(prompt);
    assert.equal(r.status, 200, r.text);
    const c = { run: r.json.agent_run_id, prompt, stopRequested: true };
    startedRuns.push(c);
    const reading = client.read(c.run);
    // The client picks one of the two nodes at random.
    await sleep(Math.max(0, stopAfterMs + random.between(-40, 40)));
    const [stop, again] = await Promise.all([client.stop(c.run), client.stop(c.run)]);
    const got = await client.get(c.run);
    c.reader = await reading;
    c.stopStatus = stop.json.status;
    assert.equal(stop.status, 200);
    assert.ok(stop.json.status in outcomes, stop.text);
    assert.deepEqual(again.json, stop.json, 'two stops get the same answer');
    assert.equal(got.json.status, stop.json.status, 'GET agrees');
    assert.equal(c.reader.events.at(-1).status, stop.json.status, 'the stream agrees');
    outcomes[stop.json.status]++;
    stopAfterMs += stop.json.status === 'stopped' ? 10 : -10;
  };
  for (let i = 0; i < 200; i += 8) await Promise.all(Array.from({ length: 8 }, (_, k) => round(i + k)));
  t.diagnostic(JSON.stringify(outcomes));
  assert.ok(outcomes.completed > 0 && outcomes.stopped > 0, 'both outcomes must occur, otherwise this test is not a race');
});

test('the database is consistent afterwards', async () => {
  assertNoViolations(await checkAll(postgres, startedRuns));
});
