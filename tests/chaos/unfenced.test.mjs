// The same checks on servers without fences must find violations. A second worker claims the runs of the first one
// during a model response; the first one does not notice and continues.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { waitFor } from '../e2e/lib/server.mjs';
import { ChaosRun } from './lib/chaos_run.mjs';
import { assertNoViolations } from './lib/checks.mjs';
import { promptOf } from './lib/model.mjs';

const runs = 6;

// Removes the fence conditions, which reject a stale worker, from the database functions.
async function removeFences(postgres) {
  const replace = async (name, from, to) => {
    const text = await postgres.value(`select pg_get_functiondef('${name}'::regproc)`);
    const unfenced = text.replaceAll(from, to);
    assert.notEqual(unfenced, text, `${name} has no fence of the expected form`);
    await postgres.rows(unfenced);
  };
  await replace('core.job_hold', ' and fence = p_fence and state = 1', '');
  await replace('core.job_complete', ' and fence = p_fence and state = 1', '');
  await replace('core.jobs_hold', ' and j.fence = w.fence and j.state + 0 = 1', '');
  await replace('core.jobs_complete', ' and j.fence = p_fences[array_position(p_ids, j.id)] and j.state + 0 = 1', '');
  await replace('core.jobs_lost', 'j.node = p_node and j.state = 1', 'true');
  await replace('core.jobs_lost', 'select j.id, j.fence', 'select j.id, unnest(p_fences)');
  await replace('runs.commit_steps', ' and r.fence = p_fences[w.n]', '');
  await replace('runs.commit_steps', ' and x.fence = w.fence', '');
  await replace('runs.append_events', 'r.fence = w.fence and ', '');
  // The rows that a claim inserts into the gap collide with those of a stale worker, which is a fence as well.
  await replace('runs.fill_gap', 'generate_series(p_border + 1, v_last)', 'generate_series(1, 0)');
}

// Claims all runs of a node while it is frozen, for too short a time to lose its lease. Returns the violations.
async function violationsAfterClaim(seed, prepare) {
  const chaos = new ChaosRun({ seed, nodes: 2, accounts: 2, cuts: 0, timeoutMs: 60000, lease: 10 });
  try {
    await chaos.open();
    await prepare?.(chaos.postgres);
    const [owner, other] = chaos.nodes.all;
    const clients = [];
    // Concurrently: every model response must still be in progress when that of the last run has begun.
    await Promise.all(Array.from({ length: runs }, async (_, i) => {
      const client = chaos.client(i % 2);
      // The response fits into the sequence numbers reserved at its start, so nothing stops a stale worker before its
      // end.
      const prompt = promptOf({ tools: 1, chunks: 26, pace: 100 }, `number ${i}`);
      const form = new FormData();
      form.append('prompt', prompt);
      const r = await fetch(`${owner.url}/agent/start`, { method: 'POST', body: form, headers: { authorization: `Bearer ${client.token}` } });
      assert.equal(r.status, 200);
      const c = { run: (await r.json()).agent_run_id, prompt, chunks: 0 };
      // One reader stays connected to the frozen node as long as possible, the other one switches to the other node.
      c.reading = client.read(c.run, { onEvent: (e) => { if (e.type === 'llm_response_chunk') c.chunks++; } });
      c.otherReading = chaos.client(i % 2).read(c.run, { cuts: 0.1 });
      clients.push(c);
    }));
    await waitFor('the model responses to be in progress', () => clients.every((c) => c.chunks > 5));
    chaos.nodes.freeze(owner);
    await chaos.postgres.rows(`update core.job set state = 0, node = null where kind = 'runs.execute'`);
    await waitFor('the other node to claim the runs', async () =>
      (await chaos.postgres.value(`select count(*) from runs.event where payload like '{"type": "turn_aborted"%'`)) === String(runs), 20000);
    chaos.nodes.thaw(owner);
    for (const c of clients) {
      c.reader = await c.reading;
      c.others = [await c.otherReading];
      chaos.done.push(c);
    }
    assert.equal(other.state, 'up');
    return await chaos.verify();
  } finally {
    await chaos.close();
  }
}

test('a stale worker whose runs were claimed causes no violations', async () => {
  assertNoViolations(await violationsAfterClaim(1));
});

test('without fences, the checks report violations', async (t) => {
  const violations = await violationsAfterClaim(1, removeFences);
  t.diagnostic(`${violations.length} violations, for example: ${violations[0]}`);
  assert.ok(violations.length > 0, 'servers without fences passed');
  // A real effect of the missing fences, not only a timeout.
  assert.match(violations.join('\n'), /charged twice/);
});
