// Servers, database connections, PostgreSQL and streams are killed at random while runs continue; afterwards
// the invariants are checked. RY_CHAOS_SEED repeats a schedule, RY_CHAOS_RUNS makes it longer.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ChaosRun } from './lib/chaos_run.mjs';
import { assertNoViolations } from './lib/checks.mjs';

const seed = Number(process.env.RY_CHAOS_SEED ?? Math.floor(Math.random() * 2 ** 31));
const required = ['kill', 'connections', 'postgres', 'shutdown', 'freeze', 'kill', 'connections', 'kill', 'connections'];
const runs = Number(process.env.RY_CHAOS_RUNS ?? 200);

test(`${runs} runs, seed ${seed}`, async (t) => {
  const chaos = new ChaosRun({ seed, protocols: true, timeoutMs: 150000 + runs * 500 });
  try {
    await chaos.open();
    const began = Date.now();
    const load = chaos.load(runs);
    await Promise.all([load, chaos.injectFaults(load, { required })]);
    t.diagnostic(`seed ${seed}: ${Date.now() - began} ms; ${await chaos.summary()}`);
    const violations = await chaos.verify();
    for (const fault of required)
      assert.ok(chaos.injected[fault] >= required.filter((f) => f === fault).length, `not enough faults were injected: ${JSON.stringify(chaos.injected)}`);
    assert.notEqual(await chaos.abortedTurns(), '0', 'no model response was interrupted by the faults');
    assertNoViolations(violations, ` with seed ${seed}`);
  } finally {
    await chaos.close();
  }
});
