// 64 clients, 300 sign-ups, one referrer near the cap; concurrent sign-ups of the same person, refreshes, admins who
// revoke, billing on the same accounts; cut connections and crashes of PostgreSQL in between. Five invariants hold afterwards,
// and the same checks find violations on a server without locks.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nothingWrong } from './lib/checks.mjs';
import { Storm, breakLocks, cap } from './lib/referrals.mjs';

const seed = Number(process.env.RY_SEED ?? 1);

test('no account earns too much, twice or without a referral', async (t) => {
  const storm = new Storm({ seed });
  try {
    await storm.open();
    await storm.run();
    const summary = await storm.summary();
    t.diagnostic(JSON.stringify(summary));
    nothingWrong(await storm.verdict());
    assert.equal(summary.deadlocks, 0, 'referrals and billing wait for each other in a circle');
    assert.equal(summary.hot, cap, 'the hot referrer reaches the cap to the credit');
    assert.ok(summary.successful > 50 && summary.voided > 5, 'too little happened to judge');
  } finally {
    await storm.close();
  }
});

test('without locks the same is found out', async (t) => {
  const storm = new Storm({ seed, disasters: false });
  try {
    await storm.open();
    await breakLocks(storm.postgres);
    await storm.run();
    const wrong = await storm.verdict();
    t.diagnostic(wrong.join('; '));
    assert.match(wrong.join('\n'), /^cap: /m, 'a server without locks kept to the cap');
    assert.match(wrong.join('\n'), /^one referral per referee: /m);
  } finally {
    await storm.close();
  }
});
