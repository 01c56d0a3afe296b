// Walks /openapi.json of a server as two users, an administrator and an anonymous client, with mutated requests:
//   RY_BUILD_DIR=build RY_TEST_DATABASE_URL=... node tests/security/walk_api.mjs [--seconds 600] [--seed N] [--workers 6] [--requests N]
// Exits with 1 if there are findings; each is printed with a command that repeats its request.
import { parseArgs } from 'node:util';
import { startDeployment } from './walk/deployment.mjs';
import { walkDeployment } from './walk/walk.mjs';

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '600' }, seed: { type: 'string' }, workers: { type: 'string', default: '6' }, requests: { type: 'string', default: 'Infinity' } } });
const seed = Number(values.seed ?? Date.now() % 1_000_000_000);
console.log(`seed ${seed}`);
const deployment = await startDeployment();
let walk;
try {
  const seconds = Number(values.seconds), maxRequests = Number(values.requests);
  walk = await walkDeployment(deployment, { seed, workers: Number(values.workers), log: console.log, until: (w) => w.seconds > seconds || w.sent >= maxRequests });
} finally {
  await deployment.close();
}
console.log(`${walk.sent} requests, ${walk.operations.length} operations; statuses: ${Object.entries(walk.statuses).map(([s, n]) => `${s}: ${n}`).join(', ')}`);
console.log(`the slowest response took ${walk.slowest} ms`);
for (const name of walk.neverSucceeded) console.log(`never successful: ${name}: ${walk.refusals.get(name) ?? 'no valid request was sent'}`);
console.log(`${walk.findings.size} findings${walk.findings.size ? ' (by number of occurrences)' : ''}`);
for (const f of [...walk.findings.values()].sort((a, b) => b.count - a.count)) console.log(`  ${f.count} × ${f.kind}: ${f.operation ?? ''}: ${f.detail.slice(0, 160).replaceAll('\n', ' ')}`);
process.exitCode = walk.findings.size ? 1 : 0;
