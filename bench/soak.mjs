// The load generator and evaluation of soak.sh: first measures how many runs per second this deployment completes while
// it deletes as many threads, then applies RATE_PERCENT of that rate for MINUTES. Every stream is read, every thread
// deleted when it is KEEP_SECONDS old. Prints a line of JSON every 10 s: memory and descriptors of the server, size of
// every table with its partitions, latencies, failures. At the end it prints averages of the thirds of the test (of
// latencies, the median of the samples) and a verdict, which compares the last third with the second; in the first,
// tables and caches are still filling.
//   node soak.mjs --port P --pid PID --url DATABASE --tokens FILE
import { execFile } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { promisify } from 'node:util';
import { apis } from './peers/apis.mjs';
import { Connection, counter, startRequest, streamRequest } from './peers/connection.mjs';

const argv = process.argv.slice(2);
const option = (name) => argv[argv.indexOf(`--${name}`) + 1];
const env = (name, otherwise) => Number(process.env[name] ?? otherwise);
const minutes = env('MINUTES', 30), percent = env('RATE_PERCENT', 50), keep = env('KEEP_SECONDS', 420), chunks = env('CHUNKS', 20);
const probe = env('PROBE_SECONDS', 10), conc = env('CONC', 64), every = 10;
const port = Number(option('port')), pid = option('pid'), url = option('url');
const tokens = readFileSync(option('tokens'), 'utf8').trim().split('\n');
const sleep = (ms) => new Promise((r) => setTimeout(r, ms));
const round = (x) => Math.round(x * 100) / 100;
const quantile = (list, p) => (list.length ? list.toSorted((a, b) => a - b)[Math.min(list.length - 1, Math.floor(p * list.length))] : NaN);
const mean = (list) => list.reduce((a, b) => a + b, 0) / list.length;

const idle = [], failures = new Map();
let opened = 0, nextToken = 0, inFlight = 0, done = 0, failed = 0, deleted = 0;
let answers = [], firsts = [];
const threads = [];  // [creation time, bearer, thread], oldest first
const recordFailure = (e) => { failed++; failures.set(e.message, (failures.get(e.message) ?? 0) + 1); };

async function withConnection(work) {
  let c = idle.pop();
  // The server closes connections that are idle for long; the others in `idle` were used even earlier.
  if (c && (c.socket.destroyed || performance.now() - c.used > 20_000)) {
    for (const old of [c, ...idle.splice(0)]) old.close();
    c = undefined;
  }
  try {
    if (!c) { c = new Connection(); opened++; await c.open(port); }
    await work(c);
    c.used = performance.now();
    idle.push(c);
  } catch (e) {
    c.close();
    recordFailure(e);
  }
}
async function completeRun(c) {
  const bearer = tokens[nextToken++ % tokens.length], began = performance.now();
  const r = await c.request(startRequest(bearer, `[n=${chunks}] hello`));
  const answered = performance.now();
  if (r.status !== 200) throw new Error(`start: ${r.status} ${r.text.slice(0, 100)}`);
  const run = JSON.parse(r.text);
  let first = NaN;
  const k = counter(apis.contract, () => { first = performance.now(); });
  const s = await c.request(streamRequest(bearer, run.agent_run_id), k.take);
  if (s.status !== 200) throw new Error(`stream: ${s.status}`);
  if (k.n !== chunks) throw new Error(`${k.n} chunks instead of ${chunks}`);
  answers.push(answered - began);
  firsts.push(first - began);
  threads.push([Date.now(), bearer, run.thread_id]);
  done++;
}
async function remove(c, bearer, thread) {
  const r = await c.request(`DELETE /threads/${thread} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${bearer}\r\n\r\n`);
  if (r.status >= 300) throw new Error(`delete: ${r.status} ${r.text.slice(0, 100)}`);
  deleted++;
}

const sizes = `select coalesce(pg_partition_root(c.oid), c.oid)::regclass::text, count(*), sum(pg_total_relation_size(c.oid)) from pg_class c
  join pg_namespace n on n.oid = c.relnamespace where c.relkind = 'r' and n.nspname not in ('pg_catalog', 'information_schema', 'pg_toast')
  group by 1 union all select 'pg_catalog', count(*), sum(pg_total_relation_size(c.oid)) from pg_class c
  where c.relkind = 'r' and c.relnamespace = 'pg_catalog'::regnamespace`.replaceAll('\n', ' ');
async function sample(at, seconds) {
  const window = { answers, firsts, done, failed, deleted };
  answers = []; firsts = []; done = 0; deleted = 0;
  const { stdout } = await promisify(execFile)('psql', ['-XqtA', '-F', '\t', '-c', sizes, url]);
  const tables = {};
  let partitions = 0;
  for (const line of stdout.trim().split('\n')) {
    const [name, parts, bytes] = line.split('\t');
    tables[name] = Number(bytes);
    if (name === 'runs.events') partitions = Number(parts);
  }
  return {
    at: Math.round(at), runs_s: round(window.done / seconds), deleted_s: round(window.deleted / seconds), in_flight: inFlight,
    failed: window.failed, rss_mib: round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024),
    fds: readdirSync(`/proc/${pid}/fd`).length, connections: opened,
    answer_p50: round(quantile(window.answers, 0.5)), answer_p99: round(quantile(window.answers, 0.99)),
    first_p50: round(quantile(window.firsts, 0.5)), first_p99: round(quantile(window.firsts, 0.99)),
    partitions, tables_mib: round(Object.values(tables).reduce((a, b) => a + b, 0) / 2 ** 20), tables,
  };
}

// Measures the maximum rate with `conc` clients, each of which starts its next run and deletion as soon as the previous
// ones have finished. Does not count the first 3 s.
async function measureMaximum() {
  const began = performance.now() + 3000, end = began + probe * 1000;
  let runs = 0;
  await Promise.all(Array.from({ length: conc }, async () => {
    while (performance.now() < end) {
      await withConnection(completeRun);
      if (failed) return;
      const [, bearer, thread] = threads.shift();
      await withConnection((c) => remove(c, bearer, thread));
      if (performance.now() > began && performance.now() <= end) runs++;
    }
  }));
  return runs / probe;
}
const maximum = await measureMaximum();
if (failed) throw new Error(JSON.stringify(Object.fromEntries(failures)));
answers = []; firsts = []; done = 0; deleted = 0;
const rate = (maximum * percent) / 100;
console.log(JSON.stringify({ maximum: round(maximum), rate: round(rate), minutes, keep_seconds: keep }));

const began = performance.now(), end = began + minutes * 60_000;
let started = 0, skipped = 0, finished = false;
const pace = (async () => {
  for (let last = began; performance.now() < end;) {
    const now = performance.now();
    let due = Math.floor(((now - began) / 1000) * rate) - skipped;
    // If this process was suspended, skip the overdue starts instead of sending them in a burst.
    if (now - last > 1000) { skipped += due - started; due = started; }
    last = now;
    for (; started < due; started++) {
      inFlight++;
      withConnection(completeRun).finally(() => inFlight--);
    }
    await sleep(5);
  }
})();
const sweep = (async () => {
  while (!finished) {
    // At most 16 at a time: deletions are not urgent.
    while (threads.length && threads[0][0] < Date.now() - keep * 1000 && !finished) {
      const batch = threads.splice(0, 16).map(([, bearer, thread]) => withConnection((c) => remove(c, bearer, thread)));
      await Promise.all(batch);
    }
    await sleep(20);
  }
})();
const samples = [];
for (let last = began, next = began + every * 1000; next <= end; next += every * 1000) {
  await sleep(next - performance.now());
  const now = performance.now();
  samples.push(await sample((now - began) / 1000, (now - last) / 1000));
  last = now;
  console.log(JSON.stringify(samples.at(-1)));
}
await pace;
finished = true;
await sweep;
while (inFlight) await sleep(10);

// Thirds of the test; each contains complete periods of log trimming.
const third = (i) => samples.slice(Math.floor((samples.length * i) / 3), Math.floor((samples.length * (i + 1)) / 3));
const metrics = {
  'memory of the server, MiB': [(s) => s.rss_mib, 0.05, 5], 'descriptors': [(s) => s.fds, 0.05, 5],
  'all tables, MiB': [(s) => s.tables_mib, 0.05, 1], 'response to a start, p50 ms': [(s) => s.answer_p50, 0.25, 1], 'response to a start, p99 ms': [(s) => s.answer_p99, 0.25, 5],
  'first chunk, p50 ms': [(s) => s.first_p50, 0.25, 1], 'first chunk, p99 ms': [(s) => s.first_p99, 0.25, 5],
};
for (const name of Object.keys(samples.at(-1).tables).sort((a, b) => samples.at(-1).tables[b] - samples.at(-1).tables[a]))
  if (samples.at(-1).tables[name] > 2 ** 20) metrics[`${name}, MiB`] = [(s) => (s.tables[name] ?? 0) / 2 ** 20, 0.1, 2];
let flat = failed === 0;
for (const [name, [valueOf, share, slack]] of Object.entries(metrics)) {
  // Latencies use the median of the samples, so that a burst of other load on this machine does not look like a trend.
  const middle = name.endsWith(' ms') ? (list) => quantile(list, 0.5) : mean;
  const [a, b, c] = [0, 1, 2].map((i) => middle(third(i).map(valueOf)));
  const grows = c > b * (1 + share) && c > b + slack;
  if (grows) flat = false;
  console.log(`${name}: ${[a, b, c].map((x) => x.toFixed(1)).join(' → ')}${grows ? '  GROWS' : ''}`);
}
console.log(`${samples.length} samples; ${started} runs started, ${skipped} skipped, ${failed} requests failed ${failed ? JSON.stringify(Object.fromEntries(failures)) : ''}`);
console.log(flat ? 'flat' : 'NOT FLAT');
process.exit(flat ? 0 : 1);
