// The story of cluster.test.mjs by hand, with as many live runs as wanted and in network namespaces:
//   node tests/chaos/cluster.mjs [--netns] [--runs 2000] [--seed N] [--acts REGEXP] [--lease SECONDS] [--limit MS]
// Prints how long streams were silent, and violations; exits with 1 after a violation, for example a stream that continued later
// than the limit after a fault. RY_BUILD_DIR is the build directory of the server. --netns needs root and iproute2.
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
// A piece each two seconds, as the load of many runs is their number; of so different lengths that they do not end together.
const plan = (random) => ({ tools: random.weighted([[19, 0], [1, 1]]), chunks: random.between(20, 70), pace: live > 200 ? 2000 : 500 });
const wanted = new RegExp(values.acts);
const cluster = new Cluster({
  network: values.netns ? new Namespaces() : new Loopback(), seed: Number(values.seed), live, plan, breath: 3000, lease: Number(values.lease),
  accounts: Math.min(40, live), giveUp: 900000, longest: 400000, wanted: (name) => wanted.test(name), say: console.log });
try {
  await cluster.open();
  await cluster.run();
  for (const line of cluster.report()) console.log(line);
  console.log(await cluster.summary());
  const slow = cluster.measured().filter((f) => f.recovery > Number(values.limit));
  const wrong = [...slow.map((f) => `${f.name}: a stream went on after ${f.recovery} ms`), ...await cluster.verify()];
  for (const line of wrong.slice(0, 40)) console.log(line);
  console.log(`${wrong.length} violations in ${cluster.done.length} runs`);
  process.exitCode = wrong.length ? 1 : 0;
} finally {
  await cluster.close();
}
