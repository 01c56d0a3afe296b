// One account floods a node: all run slots are in use and QUEUED of its runs wait. Measures the time from the start of
// another account's single run to its first chunk, compared with an idle node. The model answers after DELAY_MS.
//   RY_BUILD_DIR=build RY_TEST_DATABASE_URL=... node bench/fair.mjs
import { startLlm } from '../tests/e2e/lib/llm.mjs';
import { Server, makeDatabase, sleep } from '../tests/e2e/lib/server.mjs';

const queued = Number(process.env.QUEUED ?? 5000), slots = Number(process.env.SLOTS ?? 50), runs = Number(process.env.RUNS ?? 40);
const delay = Number(process.env.DELAY_MS ?? 500);
const percentile = (v, p) => v.toSorted((a, b) => a - b)[Math.min(v.length - 1, Math.floor(v.length * p))];
const show = (name, v) => console.log(`${name}: p50 ${percentile(v, 0.5).toFixed(1)} ms, p95 ${percentile(v, 0.95).toFixed(1)} ms, max ${Math.max(...v).toFixed(1)} ms (${v.length})`);

const database = makeDatabase();
const llm = await startLlm(async (_, reply) => {
  await sleep(delay);
  reply.say('word');
});
const server = await new Server({ database, llm, settings: `
[accounts.tiers.free]
concurrent_runs = 1000000
threads = 1000000
[runs]
max_live_runs = ${slots}
max_queued_runs = 1000000` }).start();
const waiting = () => Number(database.sql("select count(*) from core.job where kind = 'runs.execute' and state = 0"));

async function singles(count) {
  const took = [], starts = [];
  for (let i = 0; i < count; i++) {
    const u = await server.user();
    await u.get('/account');
    const began = performance.now();
    const { json } = await u.start({ prompt: 'single' });
    starts.push(performance.now() - began);
    await u.stream(json.agent_run_id, { until: (e) => e.type === 'llm_response_chunk' });
    took.push(performance.now() - began);
  }
  return { took, starts };
}

await singles(3);
const idle = await singles(runs);
show('start to first chunk, idle node', idle.took);
show('response to the start', idle.starts);
const flood = await server.user();
let remaining = queued + slots;
await Promise.all(Array.from({ length: 20 }, async () => {
  while (remaining-- > 0) {
    const r = await flood.start({ prompt: 'flood' });
    if (r.status !== 200) throw new Error(`${r.status} ${r.text}`);
  }
}));
const before = waiting(), began = performance.now();
const flooded = await singles(runs);
const after = waiting(), rate = (before - after) / (performance.now() - began) * 1000;
show(`start to first chunk, ${before} to ${after} runs of another account waiting`, flooded.took);
show('response to the start, while runs wait', flooded.starts);
console.log(`ratio of the medians ${(percentile(flooded.took, 0.5) / percentile(idle.took, 0.5)).toFixed(2)}; the flood's runs begin at ${rate.toFixed(0)}/s: with plain FIFO scheduling a start would wait ${(after / rate).toFixed(0)} s`);
await server.close();
await llm.close();
database.drop();
