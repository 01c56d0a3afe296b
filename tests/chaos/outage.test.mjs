// Rolling restarts under load, and a database outage in the middle of 50 runs.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sleep } from '../e2e/lib/server.mjs';
import { ChaosRun } from './lib/chaos_run.mjs';
import { assertNoViolations } from './lib/checks.mjs';
import { promptOf } from './lib/model.mjs';

test('nodes are restarted one after the other under load: no run fails, no start is lost', async (t) => {
  // crashes: 0 because releasing a run to another node must not count as a crash of its worker.
  const chaos = new ChaosRun({ seed: 1, cuts: 0, timeoutMs: 120000, crashes: 0 });
  try {
    await chaos.open();
    const load = chaos.load(90);
    let finished = false;
    load.finally(() => (finished = true));
    for (let i = 0; !finished; i++) {
      const node = chaos.nodes.all[i % 3];
      const began = Date.now();
      const exit = await chaos.nodes.stop(node);
      assert.deepEqual(exit, { code: 0, signal: null }, node.log.slice(-2000));
      t.diagnostic(`${node.name} stopped within ${Date.now() - began} ms`);
      await chaos.nodes.up(node);
      await sleep(300);
    }
    await load;
    t.diagnostic(await chaos.summary());
    assertNoViolations(await chaos.verify());
  } finally {
    await chaos.close();
  }
});

test('50 runs survive a PostgreSQL outage of ten seconds', async (t) => {
  // The outage is longer than three leases. No worker crashes, so no crash may be counted for any run.
  const chaos = new ChaosRun({ seed: 2, accounts: 17, cuts: 0, timeoutMs: 90000, lease: 3, crashes: 0 });
  try {
    await chaos.open();
    const runs = [];
    for (let i = 0; i < 50; i++) {
      const client = chaos.client(i % 17);
      const prompt = promptOf({ tools: i % 3, chunks: 100, pace: 60 }, `number ${i}`);
      const started = await client.start(prompt);
      assert.equal(started.status, 200, started.text);
      const c = { run: started.json.agent_run_id, prompt, connections: 0 };
      chaos.done.push(c);
      runs.push(client.read(c.run).then((log) => (c.reader = log)));
    }
    await chaos.postgres.stop('immediate');
    await sleep(10000);
    await chaos.postgres.start();
    await Promise.all(runs);
    t.diagnostic(await chaos.summary());
    assertNoViolations(await chaos.verify());
  } finally {
    await chaos.close();
  }
});
