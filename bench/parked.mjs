// Runs that wait for approvals: memory of the server with RUNS parked runs, and the rate at which decisions wake them.
//   node bench/parked.mjs [--runs 10000] [--per-account 100] [--concurrency 32]
// Needs RY_BUILD_DIR or build/, and RY_TEST_DATABASE_URL (see tests/e2e/lib/server.mjs).
import { readFileSync } from 'node:fs';
import { startLlm, turns } from '../tests/e2e/lib/llm.mjs';
import { Server, makeDatabase, waitFor } from '../tests/e2e/lib/server.mjs';

const option = (name, otherwise) => { const i = process.argv.indexOf(`--${name}`); return i < 0 ? otherwise : Number(process.argv[i + 1]); };
const count = option('runs', 10_000), concurrency = option('concurrency', 32), perAccount = option('per-account', 100);
const rss = (pid) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024;

const database = makeDatabase();
const llm = await startLlm(async (request, reply) => {
  if (turns(request).some((m) => m.role === 'tool')) return reply.say('done');
  return reply.tools([{ id: 'c1', name: 'list_files', arguments: {} }]);
});
const server = await new Server({ database, llm, settings: '[runs]\npark_slot_seconds = 0\n[[runs.tool_policy]]\nmatch = "*"\naction = "ask"\n' }).start();

// Calls work(i) for 0 .. n-1, `concurrency` at a time.
async function each(n, work) {
  let next = 0;
  await Promise.all(Array.from({ length: concurrency }, async () => { while (next < n) await work(next++); }));
}

try {
  const users = [];
  await each(Math.ceil(count / perAccount), async (i) => {
    users[i] = await server.user({ tier: 'enterprise' });
  });
  const before = rss(server.process.pid);
  let began = performance.now();
  await each(count, async (i) => {
    for (;;) {
      const r = await users[i % users.length].start({ prompt: 'list the files' });
      if (r.status === 200) break;
      if (r.status !== 402) throw new Error(r.text);
      await new Promise((wake) => setTimeout(wake, 100));  // runs that are not parked yet occupy the account's slots
    }
  });
  const parked = () => Number(database.sql('select count(*) from runs.parked'));
  await waitFor('all runs are parked', () => parked() === count, 600_000);
  const parkSeconds = (performance.now() - began) / 1000;
  await new Promise((r) => setTimeout(r, 3000));
  const after = rss(server.process.pid);
  const pending = database.sql("select id, account_id from runs.approvals where status = 'pending'").split('\n').map((l) => l.split('|'));
  const byId = new Map(users.map((u) => [u.id, u]));
  began = performance.now();
  await each(pending.length, async (i) => {
    const [id, account] = pending[i];
    const r = await byId.get(account).post(`/approvals/${id}`, { json: { decision: 'approve' } });
    if (r.status !== 200) throw new Error(r.text);
  });
  const decideSeconds = (performance.now() - began) / 1000;
  await waitFor('all runs are completed', () => database.sql("select count(*) from runs.runs where status = 'completed'") === String(count), 600_000);
  const wakeSeconds = (performance.now() - began) / 1000;
  console.log(JSON.stringify({ runs: count, server_mib_before: Math.round(before), server_mib_parked: Math.round(after),
    kib_per_parked_run: Math.round((after - before) * 1024 / count * 100) / 100, parked_per_s: Math.round(count / parkSeconds),
    decisions_per_s: Math.round(count / decideSeconds), completed_per_s: Math.round(count / wakeSeconds) }));
} finally {
  await server.close();
  await llm.close();
  database.drop();
}
