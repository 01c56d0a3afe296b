// 64 clients make 300 sign-ups with one referrer near the cap, concurrently with repeated sign-ups of the same person,
// code refreshes, revocations by admins and billing on the same accounts, while connections are dropped and PostgreSQL
// crashes. Five invariants hold afterwards, and the same checks find violations on a server without locks.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertNoViolations } from './lib/checks.mjs';
import { ReferralLoad, removeLocks, cap } from './lib/referrals.mjs';

const seed = Number(process.env.RY_CHAOS_SEED ?? 1);

test('no account earns more than the cap, twice for one referee or without a referral', async (t) => {
  const load = new ReferralLoad({ seed });
  try {
    await load.open();
    await load.run();
    const summary = await load.summary();
    t.diagnostic(JSON.stringify(summary));
    assertNoViolations(await load.violations());
    assert.equal(summary.deadlocks, 0, 'referrals and billing deadlock');
    assert.equal(summary.hotReferrerEarned, cap, 'the referrer near the cap earns exactly the cap');
    assert.ok(summary.successful > 50 && summary.voided > 5, 'too few referrals for a meaningful result');
  } finally {
    await load.close();
  }
});

test('without locks, the checks report violations', async (t) => {
  const load = new ReferralLoad({ seed, faults: false });
  try {
    await load.open();
    await removeLocks(load.postgres);
    await load.run();
    const violations = await load.violations();
    t.diagnostic(violations.join('; '));
    assert.match(violations.join('\n'), /^cap: /m, 'the cap check did not detect the missing locks');
    assert.match(violations.join('\n'), /^one referral per referee: /m);
  } finally {
    await load.close();
  }
});
