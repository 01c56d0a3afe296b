// Runs the schedule of cluster.test.mjs manually, with any number of concurrent runs and optionally in network
// namespaces:
//   node tests/chaos/cluster.mjs [--netns] [--runs 2000] [--seed N] [--acts REGEXP] [--lease SECONDS] [--limit MS]
// --acts selects faults by name. Prints the longest gaps between events of the streams, and violations; exits with 1
// after a violation, for example a stream that resumed later than the limit after a fault. RY_BUILD_DIR is the build
// directory of the server. --netns needs root and iproute2.
import { parseArgs } from 'node:util';
import { Cluster } from './lib/cluster.mjs';
import { Loopback, Namespaces } from './lib/links.mjs';

const { values } = parseArgs({ options: {
  netns: { type: 'boolean' },
  runs: { type: 'string', default: '100' },
  seed: { type: 'string', default: '1' },
  acts: { type: 'string', default: '' },
  lease: { type: 'string', default: '2' },
  limit: { type: 'string', default: '10000' },
} });
const live = Number(values.runs);
// With many runs a chunk every two seconds is enough load; the lengths differ, so that the runs do not end together.
const plan = (random) => ({ tools: random.weighted([[19, 0], [1, 1]]), chunks: random.between(20, 70), pace: live > 200 ? 2000 : 500 });
const selected = new RegExp(values.acts);
const cluster = new Cluster({
  network: values.netns ? new Namespaces() : new Loopback(), seed: Number(values.seed), live, plan, holdMs: 3000, lease: Number(values.lease),
  accounts: Math.min(40, live), timeoutMs: 900000, maxRunMs: 400000, selected: (name) => selected.test(name), log: console.log });
try {
  await cluster.open();
  await cluster.run();
  for (const line of cluster.report()) console.log(line);
  console.log(await cluster.summary());
  const slow = cluster.measured().filter((f) => f.recovery > Number(values.limit));
  const violations = [...slow.map((f) => `${f.name}: a stream resumed after ${f.recovery} ms`), ...await cluster.verify()];
  for (const line of violations.slice(0, 40)) console.log(line);
  console.log(`${violations.length} violations in ${cluster.done.length} runs`);
  process.exitCode = violations.length ? 1 : 0;
} finally {
  await cluster.close();
}
