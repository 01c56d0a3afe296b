// The same checks on servers without fences: they must find violations. Another worker claims the runs of a
// worker in the middle of an answer, without the first one noticing, and the first one continues as if nothing
// had happened.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { waitFor } from '../e2e/lib/server.mjs';
import { Campaign } from './lib/campaign.mjs';
import { nothingWrong } from './lib/checks.mjs';
import { promptOf } from './lib/model.mjs';

const runs = 6;

// Functions of the database without what keeps a stale worker out.
async function breakFences(postgres) {
  const changed = async (name, from, to) => {
    const text = await postgres.value(`select pg_get_functiondef('${name}'::regproc)`);
    const broken = text.replaceAll(from, to);
    assert.notEqual(broken, text, `${name} has no fence of the known form`);
    await postgres.rows(broken);
  };
  await changed('core.job_hold', ' and fence = p_fence and state = 1', '');
  await changed('core.job_complete', ' and fence = p_fence and state = 1', '');
  await changed('core.jobs_hold', ' and j.fence = w.fence and j.state + 0 = 1', '');
  await changed('core.jobs_complete', ' and j.fence = p_fences[array_position(p_ids, j.id)] and j.state + 0 = 1', '');
  await changed('core.jobs_lost', 'j.node = p_node and j.state = 1', 'true');
  await changed('core.jobs_lost', 'select j.id, j.fence', 'select j.id, unnest(p_fences)');
  await changed('runs.commit_steps', ' and r.fence = p_fences[w.n]', '');
  await changed('runs.commit_steps', ' and x.fence = w.fence', '');
  await changed('runs.append_events', 'r.fence = w.fence and ', '');
  // Rows of a stale worker meet those that the take-over has put in their place: a fence of its own.
  await changed('runs.fill_gap', 'generate_series(p_border + 1, v_last)', 'generate_series(1, 0)');
}

// Takes all runs from their owner while it is frozen for a moment, too short to lose its lease. The
// violations.
async function judge(seed, prepare) {
  const campaign = new Campaign({ seed, nodes: 2, accounts: 2, cuts: 0, giveUp: 60000, lease: 10 });
  try {
    await campaign.open();
    await prepare?.(campaign.postgres);
    const [owner, other] = campaign.nodes.all;
    const clients = [];
    // All concurrently: the model must still be in the middle of every answer when the last run has begun its own.
    await Promise.all(Array.from({ length: runs }, async (_, i) => {
      const client = campaign.client(i % 2);
      // An answer that is over within the numbers that are reserved from the start: nothing stops a stale worker before its end.
      const prompt = promptOf({ tools: 1, chunks: 26, pace: 100 }, `number ${i}`);
      const form = new FormData();
      form.append('prompt', prompt);
      const r = await fetch(`${owner.url}/agent/start`, { method: 'POST', body: form, headers: { authorization: `Bearer ${client.token}` } });
      assert.equal(r.status, 200);
      const c = { run: (await r.json()).agent_run_id, prompt, words: 0 };
      // One reader stays with the frozen node's answer as long as it can, the other one looks elsewhere.
      c.reading = client.read(c.run, { onEvent: (e) => { if (e.type === 'llm_response_chunk') c.words++; } });
      c.elsewhere = campaign.client(i % 2).read(c.run, { cuts: 0.1 });
      clients.push(c);
    }));
    await waitFor('the answers are under way', () => clients.every((c) => c.words > 5));
    campaign.nodes.freeze(owner);
    await campaign.postgres.rows(`update core.job set state = 0, node = null where kind = 'runs.execute'`);
    await waitFor('the runs are taken over', async () =>
      (await campaign.postgres.value(`select count(*) from runs.event where payload like '{"type": "turn_aborted"%'`)) === String(runs), 20000);
    campaign.nodes.thaw(owner);
    for (const c of clients) {
      c.reader = await c.reading;
      c.others = [await c.elsewhere];
      campaign.done.push(c);
    }
    assert.equal(other.state, 'up');
    return await campaign.verify();
  } finally {
    await campaign.close();
  }
}

test('a worker that was taken over from and does not know it does no harm', async () => {
  nothingWrong(await judge(1));
});

test('without fences the same is found out', async (t) => {
  const wrong = await judge(1, breakFences);
  t.diagnostic(`${wrong.length} violations, for example: ${wrong[0]}`);
  assert.ok(wrong.length > 0, 'servers without fences passed');
  // It is the harm that is meant, not a lack of patience.
  assert.match(wrong.join('\n'), /charged twice/);
});
