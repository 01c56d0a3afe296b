// A server that lost its runs without noticing, and continues with many buffered chunks of its model: it must not
// deliver an event with a sequence number that the run's new worker can assign to another event.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sleep, waitFor } from '../e2e/lib/server.mjs';
import { ChaosClient } from './lib/client.mjs';
import { promptOf, startModel } from './lib/model.mjs';
import { Nodes } from './lib/nodes.mjs';
import { Postgres } from './lib/postgres.mjs';
import { seeded } from './lib/random.mjs';

const runs = 3;
const window = 32;  // sequence numbers that the new worker reserves
const otherNode = '0192f0c1-2d3e-7f00-8a1b-00000000beef';
let postgres, llm, nodes;

before(async () => {
  postgres = await new Postgres().make();
  llm = await startModel();
  // The lease is long enough that the frozen node's leases do not expire during the test.
  nodes = await new Nodes({ postgres, llm, count: 1, lease: 20 }).start();
});
after(async () => {
  await nodes?.close();
  await llm?.close();
  await postgres?.drop();
});

test('a worker whose run was claimed does not deliver events beyond its reservation', async (t) => {
  const [node] = nodes.all;
  const { token } = await node.user({ tier: 'pro' });
  const client = () => new ChaosClient({ nodes, random: seeded(1), token, deadline: Date.now() + 20000 });
  const clients = [];
  for (let i = 0; i < runs; i++) {
    const r = await client().start(promptOf({ chunks: 2000, pace: 2 }, `number ${i}`));
    assert.equal(r.status, 200, r.text);
    const c = { run: r.json.agent_run_id, events: [] };
    client().read(c.run, { onEvent: (e) => c.events.push(e) }).catch(() => {});  // fails when the server exits
    clients.push(c);
  }
  await waitFor('the model responses to be in progress', () => clients.every((c) => c.events.length > 50));
  nodes.freeze(node);
  await postgres.rows(`insert into core.node (id, lease_until) values ('${otherNode}', now() + interval '1 hour')`);
  for (const c of clients) {
    // Claims the run in the same way as another worker would.
    const [[job, fence]] = await postgres.rows(`update core.job set fence = fence + 1, node = '${otherNode}'
      where kind = 'runs.execute' and args ->> 'run_id' = '${c.run}' returning id, fence`);
    c.claimedAt = Number(await postgres.value(`select last_seq from runs.claim_run('${c.run}', ${job}, ${fence}, ${window})`));
    assert.ok(c.claimedAt > 50, `${c.claimedAt}`);
  }
  await sleep(1500);
  nodes.thaw(node);
  await waitFor('the node to drop its runs', async () =>
    /^runyard_runs_live(\{.*\})? 0$/m.test(await (await fetch(`${node.url}/metrics`)).text()), 20000);
  for (const c of clients) {
    const delivered = Math.max(...c.events.map((e) => e.sequence));
    t.diagnostic(`delivered up to ${delivered}, claimed at ${c.claimedAt}`);
    assert.ok(delivered <= c.claimedAt, `violations: 1, event ${delivered} was delivered, but the new worker continues after ${c.claimedAt}`);
  }
});
