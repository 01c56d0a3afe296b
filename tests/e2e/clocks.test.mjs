// Nodes whose clocks differ. What counts is the database's.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { startLlm } from './lib/llm.mjs';
import { Client, Server, build, makeDatabase, sleep, textOf } from './lib/server.mjs';

let database, llm, right, ahead;

before(async () => {
  database = makeDatabase();
  llm = await startLlm(async (request, reply) => { reply.text('a '); await sleep(2000); reply.say('b'); });
  const set = ['jobs.lease_seconds=2', 'auth.jwt.hs256_secret=a secret of at least thirty-two bytes for this test'];
  right = await new Server({ database, llm, set }).start();
  const shift = ['env', `LD_PRELOAD=${path.join(build, 'tests/clock_shift.so')}`, 'CLOCK_SHIFT=3600'];
  ahead = await new Server({ database, llm, set, wrap: shift }).start();
});
after(async () => {
  for (const server of [right, ahead]) await server?.close();
  await llm?.close();
  database?.drop();
});

// A sanitizer's library has to be the first.
test('a run that a node takes over whose clock is an hour ahead goes on', { skip: !!process.env.RY_SANITIZE }, async () => {
  const user = await right.user();
  // By its clock the tokens of the others are over.
  const there = new Client(ahead, right.token({ subject: user.id, ttl: 36000 }), user.id);
  const r = await user.start({ prompt: 'hello' });
  assert.equal(r.status, 200, r.text);
  await user.stream(r.json.agent_run_id, { until: (e) => e.type === 'llm_response_chunk' });
  await right.kill();
  const { events } = await there.stream(r.json.agent_run_id);
  assert.equal(events.at(-1).status, 'completed', JSON.stringify(events.at(-1)));
  assert.equal(textOf(events), 'a b');
  const took = events.at(-1).duration_ms;
  assert.ok(took >= 2000 && took < 120000, `duration_ms ${took}`);
});

// The jump of a virtual machine that was suspended, or of a wrong time server.
test('a wall clock that jumps ends no run', { skip: !!process.env.RY_SANITIZE }, async () => {
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
