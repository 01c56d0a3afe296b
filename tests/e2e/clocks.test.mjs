// Nodes whose clocks differ: only the clock of the database matters.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { startLlm } from './lib/llm.mjs';
import { Client, Server, build, makeDatabase, sleep, textOf } from './lib/server.mjs';

let database, llm, correct, ahead;

before(async () => {
  database = makeDatabase();
  llm = await startLlm(async (request, reply) => { reply.text('a '); await sleep(2000); reply.say('b'); });
  const set = ['jobs.lease_seconds=2', 'auth.jwt.hs256_secret=a secret of at least thirty-two bytes for this test'];
  correct = await new Server({ database, llm, set }).start();
  const shift = ['env', `LD_PRELOAD=${path.join(build, 'tests/clock_shift.so')}`, 'CLOCK_SHIFT=3600'];
  ahead = await new Server({ database, llm, set, wrap: shift }).start();
});
after(async () => {
  for (const server of [correct, ahead]) await server?.close();
  await llm?.close();
  database?.drop();
});

// Skipped in sanitizer builds, because the sanitizer's library must be preloaded first.
test('a run continues after failover to a node whose clock is an hour ahead', { skip: !!process.env.RY_SANITIZE }, async () => {
  const user = await correct.user();
  // A long-lived token, because tokens of the other node are expired by this node's clock.
  const onAhead = new Client(ahead, correct.token({ subject: user.id, ttl: 36000 }), user.id);
  const r = await user.start({ prompt: 'hello' });
  assert.equal(r.status, 200, r.text);
  await user.stream(r.json.agent_run_id, { until: (e) => e.type === 'llm_response_chunk' });
  await correct.kill();
  const { events } = await onAhead.stream(r.json.agent_run_id);
  assert.equal(events.at(-1).status, 'completed', JSON.stringify(events.at(-1)));
  assert.equal(textOf(events), 'a b');
  const took = events.at(-1).duration_ms;
  assert.ok(took >= 2000 && took < 120000, `duration_ms ${took}`);
});

// Simulates the resume of a suspended virtual machine, or a wrong time server.
test('a jump of the wall clock does not terminate a run', { skip: !!process.env.RY_SANITIZE }, async () => {
  const other = makeDatabase();
  const jump = path.join(mkdtempSync(path.join(tmpdir(), 'ry-jump-')), 'now');
  const shift = ['env', `LD_PRELOAD=${path.join(build, 'tests/clock_shift.so')}`, 'CLOCK_SHIFT=2592000', `CLOCK_SHIFT_FILE=${jump}`];
  const node = await new Server({ database: other, llm, wrap: shift }).start();
  try {
    const user = await node.user();
    const r = await user.start({ prompt: 'hello' });
    assert.equal(r.status, 200, r.text);
    const { events } = await user.stream(r.json.agent_run_id, { onEvent: (e) => e.type === 'llm_response_chunk' && writeFileSync(jump, '') });
    assert.equal(events.at(-1).status, 'completed', JSON.stringify(events.at(-1)));
    assert.ok(events.at(-1).duration_ms < 120000, JSON.stringify(events.at(-1)));
  } finally {
    await node.close();
    other.drop();
    rmSync(path.dirname(jump), { recursive: true });
  }
});
