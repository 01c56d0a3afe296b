// Three nodes, PostgreSQL with failover, a NATS cluster, and links that are cut or slow. Uses loopback addresses, so
// that it runs everywhere; cluster.mjs does the same in network namespaces and with more runs.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertNoViolations } from './lib/checks.mjs';
import { Cluster } from './lib/cluster.mjs';
import { Loopback } from './lib/links.mjs';

const seed = Number(process.env.RY_CHAOS_SEED ?? Math.floor(Math.random() * 2 ** 31));
// Not a guaranteed value: beyond this a stream counts as not recovered, however busy the machine is.
const maxRecoveryMs = 30000;

test(`runs survive faults of machines and links, seed ${seed}`, async (t) => {
  const plan = (random) => ({ tools: random.weighted([[4, 0], [1, 1]]), chunks: 40, pace: 200 });
  const cluster = new Cluster({ network: new Loopback(), seed, live: 20, plan, log: (line) => t.diagnostic(line) });
  try {
    await cluster.open();
    await cluster.run();
    for (const line of cluster.report()) t.diagnostic(line);
    t.diagnostic(await cluster.summary());
    const violations = await cluster.verify();
    assertNoViolations(violations, ` with seed ${seed}`);
    for (const f of cluster.measured()) assert.ok((f.silences[2]?.ms ?? 0) < maxRecoveryMs + f.frozen && f.start < maxRecoveryMs + f.frozen, `${f.name}: ${JSON.stringify(f)}`);
  } finally {
    await cluster.close();
  }
});
