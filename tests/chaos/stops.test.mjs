// A stop request completes within a second, whichever node executes the run and whatever its worker is doing;
// afterwards no work of the run continues.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sleep, waitFor } from '../e2e/lib/server.mjs';
import { checkAll, checkSlots, assertNoViolations } from './lib/checks.mjs';
import { ChaosClient } from './lib/client.mjs';
import { promptOf, startModel } from './lib/model.mjs';
import { Nodes } from './lib/nodes.mjs';
import { Postgres } from './lib/postgres.mjs';
import { seeded } from './lib/random.mjs';

const stopDeadlineMs = 1000;
const random = seeded(1);
const startedRuns = [];
let postgres, llm, nodes, user;

before(async () => {
  postgres = await new Postgres().make();
  llm = await startModel();
  // The lease is long enough that no node claims a frozen node's runs during a test.
  nodes = await new Nodes({ postgres, llm, count: 2, lease: 20 }).start();
  user = await nodes.all[0].user({ tier: 'pro' });
});
after(async () => {
  await nodes?.close();
  await llm?.close();
  await postgres?.drop();
});

const client = () => new ChaosClient({ nodes, random, token: user.token, deadline: Date.now() + 60000 });

// Starts a run on one node.
async function startAt(node, prompt) {
  const r = await client().ask('POST', '/agent/start', {
    at: node,
    body: () => { const form = new FormData(); form.append('prompt', prompt); return form; },
  });
  assert.equal(r.status, 200, r.text);
  const c = { run: r.json.agent_run_id, prompt, stopRequested: true, events: [] };
  startedRuns.push(c);
  return c;
}
async function stopAt(node, c) {
  const began = performance.now();
  const r = await client().ask('POST', `/agent-run/${c.run}/stop`, { at: node });
  const took = performance.now() - began;
  assert.deepEqual([r.status, r.json], [200, { status: 'stopped' }], r.text);
  assert.ok(took < stopDeadlineMs, `the stop took ${Math.round(took)} ms`);
  c.stopStatus = 'stopped';
  return took;
}
const waitForEvent = (c, matches) => waitFor('an event of the run', () => c.events.some(matches));
const follow = (c) => (c.reading = client().read(c.run, { onEvent: (e) => c.events.push(e) }));
const providerRequestOf = (prompt) => llm.seen.find((s) => s.json.messages.at(-1)?.content === prompt);

const answerPrompt = (text) => promptOf({ chunks: 400, pace: 50 }, text);
const commandPrompt = (text) => promptOf({ tools: 1, chunks: 2, pace: 0, tool: 'echo begun; sleep 300' }, text);

for (const [where, at] of [['on its own node', 0], ['from another node', 1]]) {
  test(`a stop during a model response, ${where}`, async (t) => {
    const prompt = answerPrompt(where);
    const c = await startAt(nodes.all[0], prompt);
    follow(c);
    await waitForEvent(c, (e) => e.type === 'llm_response_chunk');
    const took = await stopAt(nodes.all[at], c);
    t.diagnostic(`${Math.round(took)} ms`);
    assert.ok(providerRequestOf(prompt).aborted, 'the connection to the provider is still open after the stop returned');
    c.reader = await c.reading;
  });

  test(`a stop during a long tool call, ${where}`, async (t) => {
    const c = await startAt(nodes.all[0], commandPrompt(where));
    follow(c);
    await waitForEvent(c, (e) => e.type === 'tool_output_chunk');
    const took = await stopAt(nodes.all[at], c);
    t.diagnostic(`${Math.round(took)} ms`);
    c.reader = await c.reading;
  });
}

test('a stop before the run has started, from another node', async () => {
  const c = await startAt(nodes.all[0], answerPrompt('at once'));
  await stopAt(nodes.all[1], c);
  c.reader = await client().read(c.run);
});

test('a stop while the node of the run is frozen; after thawing, it finds the run ended', async (t) => {
  const [owner, other] = nodes.all;
  const runs = [];
  for (const prompt of [answerPrompt('frozen'), commandPrompt('frozen')]) {
    const c = await startAt(owner, prompt);
    follow(c);
    await waitForEvent(c, (e) => e.type === 'llm_response_chunk');
    runs.push(c);
  }
  await waitForEvent(runs[1], (e) => e.type === 'tool_output_chunk');
  nodes.freeze(owner);
  try {
    for (const c of runs) t.diagnostic(`${Math.round(await stopAt(other, c))} ms`);
    // The slots are free before the worker learns of the stop.
    const again = await startAt(other, answerPrompt('meanwhile'));
    await stopAt(other, again);
    again.reader = await client().read(again.run);
  } finally {
    nodes.thaw(owner);
  }
  for (const c of runs) c.reader = await c.reading;
  await waitFor('the connection to the provider to be closed', () => providerRequestOf(runs[0].prompt).aborted, 5000);
});

test('the database is consistent afterwards, and no further model request is made', async () => {
  assertNoViolations(await checkAll(postgres, startedRuns));
  assertNoViolations(await checkSlots([client()], 3, answerPrompt('slots')));
  const { length } = llm.seen;
  await sleep(500);
  assert.equal(llm.seen.length, length, 'no further model request');
});
