// Servers, database connections, PostgreSQL and streams are killed at random while runs continue; then
// everything is counted. RY_CHAOS_SEED repeats a schedule, RY_CHAOS_RUNS makes it longer.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Campaign } from './lib/campaign.mjs';
import { nothingWrong } from './lib/checks.mjs';

const seed = Number(process.env.RY_CHAOS_SEED ?? Math.floor(Math.random() * 2 ** 31));
const sure = ['kill', 'connections', 'postgres', 'leave', 'freeze', 'kill', 'connections', 'kill', 'connections'];
const runs = Number(process.env.RY_CHAOS_RUNS ?? 200);

test(`${runs} runs, seed ${seed}`, async (t) => {
  const campaign = new Campaign({ seed, giveUp: 150000 + runs * 500 });
  try {
    await campaign.open();
    const began = Date.now();
    const load = campaign.load(runs);
    await Promise.all([load, campaign.disasters(load, { sure })]);
    t.diagnostic(`seed ${seed}: ${Date.now() - began} ms; ${await campaign.summary()}`);
    const wrong = await campaign.verify();
    for (const act of sure)
      assert.ok(campaign.acts[act] >= sure.filter((a) => a === act).length, `too little happened to judge: ${JSON.stringify(campaign.acts)}`);
    assert.notEqual(await campaign.answersGivenUp(), '0', 'no answer was cut off by any of it');
    nothingWrong(wrong, ` with seed ${seed}`);
  } finally {
    await campaign.close();
  }
});
