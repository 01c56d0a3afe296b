// What an operator does, and what happens to one: rolling restarts under load, and a database that is away
// in the middle of 50 runs.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sleep } from '../e2e/lib/server.mjs';
import { Campaign } from './lib/campaign.mjs';
import { nothingWrong } from './lib/checks.mjs';
import { promptOf } from './lib/model.mjs';

test('nodes are restarted one after the other under load: no run fails, no start is lost', async (t) => {
  // No worker may vanish under a run: a hand-over is none.
  const campaign = new Campaign({ seed: 1, cuts: 0, giveUp: 120000, crashes: 0 });
  try {
    await campaign.open();
    const load = campaign.load(90);
    let over = false;
    load.finally(() => (over = true));
    for (let i = 0; !over; i++) {
      const node = campaign.nodes.all[i % 3];
      const began = Date.now();
      const exit = await campaign.nodes.leave(node);
      assert.deepEqual(exit, { code: 0, signal: null }, node.log.slice(-2000));
      t.diagnostic(`${node.name} left within ${Date.now() - began} ms`);
      await campaign.nodes.up(node);
      await sleep(300);
    }
    await load;
    t.diagnostic(await campaign.summary());
    nothingWrong(await campaign.verify());
  } finally {
    await campaign.close();
  }
});

test('PostgreSQL is away for ten seconds in the middle of 50 runs', async (t) => {
  // Three leases long. No worker crashed, so no run may be counted as having crashed its worker.
  const campaign = new Campaign({ seed: 2, accounts: 17, cuts: 0, giveUp: 90000, lease: 3, crashes: 0 });
  try {
    await campaign.open();
    const runs = [];
    for (let i = 0; i < 50; i++) {
      const client = campaign.client(i % 17);
      const prompt = promptOf({ tools: i % 3, chunks: 100, pace: 60 }, `number ${i}`);
      const started = await client.start(prompt);
      assert.equal(started.status, 200, started.text);
      const c = { run: started.json.agent_run_id, prompt, connections: 0 };
      campaign.done.push(c);
      runs.push(client.read(c.run).then((log) => (c.reader = log)));
    }
    await campaign.postgres.stop('immediate');
    await sleep(10000);
    await campaign.postgres.start();
    await Promise.all(runs);
    t.diagnostic(await campaign.summary());
    nothingWrong(await campaign.verify());
  } finally {
    await campaign.close();
  }
});
