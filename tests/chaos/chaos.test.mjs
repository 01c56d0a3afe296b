// Servers, database connections, PostgreSQL and streams are killed at random while runs go on; then
// everything is counted. RY_CHAOS_SEED repeats a schedule, RY_CHAOS_RUNS makes it longer.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Campaign } from './lib/campaign.mjs';

const seed = Number(process.env.RY_CHAOS_SEED ?? Math.floor(Math.random() * 2 ** 31));
const runs = Number(process.env.RY_CHAOS_RUNS ?? 200);

test(`${runs} runs, seed ${seed}`, async (t) => {
  const campaign = new Campaign({ seed, giveUp: 150000 + runs * 500 });
  try {
    await campaign.open();
    const began = Date.now();
    const load = campaign.load(runs);
    await Promise.all([load, campaign.disasters(load)]);
    t.diagnostic(`seed ${seed}: ${Date.now() - began} ms; ${await campaign.summary()}`);
    const wrong = await campaign.verify();
    assert.deepEqual(wrong.slice(0, 40), [], `${wrong.length} violations with seed ${seed}`);
  } finally {
    await campaign.close();
  }
});
