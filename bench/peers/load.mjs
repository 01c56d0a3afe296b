// Load generator for an agent server: start, stream, stop. Raw sockets with keep-alive; one line of JSON for each
// measurement. A run with a different number of chunks than requested is an error.
//   node load.mjs MODE --port P[,P...] --tokens FILE [--api NAME] [--pids a,b] [--model PORT] [options]
// NAME is one of apis.mjs; fanout, live and stop work only with Runyard's API (contract).
// MODE     measures                                                           options
// latency  start to first chunk, one run at a time                            --runs
// rate     completed runs per second                                          --conc, --secs, --n
// chunks   chunks per second of many concurrent streams                       --streams, --n, --secs
// paced    latency of a chunk from the model to the reader                    --streams, --n, --d
// fanout   the same with many readers of one run                              --watchers, --n, --d
// idle     memory of open streams with their live runs, and after they close  --streams 1000,10000
// live     memory of live runs without readers                                --runs
// stop     time to the response of a stop, and until the model's socket closes --runs
// TOKENS has one bearer token per line; requests use them round-robin, and connections the ports. CPU and memory (PSS)
// are those of the process trees PIDS.
import { readFileSync, readdirSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { apis } from './apis.mjs';
import { Connection, counter, streamRequest } from './connection.mjs';

const argv = process.argv.slice(2);
const mode = argv[0];
const option = (name, otherwise) => { const i = argv.indexOf(`--${name}`); return i < 0 ? otherwise : argv[i + 1]; };
const number = (name, otherwise) => Number(option(name, otherwise));
const ports = option('port').split(',').map(Number), n = number('n', 20), d = number('d', 0);
const tokens = readFileSync(option('tokens'), 'utf8').trim().split('\n');
const pids = option('pids', '').split(',').filter(Boolean);
const sleep = (ms) => new Promise((r) => setTimeout(r, ms));
const round = (x) => Math.round(x * 100) / 100;
const quantile = (list, p) => { const s = Float64Array.from(list).sort(); return s.length ? round(s[Math.min(s.length - 1, Math.floor(p * s.length))]) : null; };
const report = (o) => console.log(JSON.stringify({ mode, ...o }));
let turn = 0, opened = 0;
const connect = () => new Connection().open(ports[opened++ % ports.length]);
const token = () => tokens[turn++ % tokens.length];

const promptOf = (o = {}) => `[n=${o.n ?? n} d=${o.d ?? d} hang=${o.hang ?? 0} stamp=${o.stamp ?? 0}] hello`;
const api = apis[option('api', 'contract')];
const start = (c, bearer, o) => api.start(c, bearer, promptOf(o));

async function completeRun(c, o = {}) {
  const bearer = token(), began = performance.now();
  const stream = await api.begin(c, bearer, promptOf(o));
  let first = 0;
  const k = counter(api, () => { first = performance.now(); o.onFirst?.(); }, o.late);
  const r = await c.request(stream, k.take);
  if (r.status !== 200) throw new Error(`stream: ${r.status}`);
  if (k.n !== (o.n ?? n)) throw new Error(`${k.n} chunks instead of ${o.n ?? n}`);
  return { first: first - began, bytes: k.bytes };
}

// CPU milliseconds and PSS of the servers.
function processes() {
  const children = new Map();
  for (const p of readdirSync('/proc').filter((x) => /^\d+$/.test(x)))
    try {
      const stat = readFileSync(`/proc/${p}/stat`, 'latin1');
      const parent = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1];
      children.set(parent, [...(children.get(parent) ?? []), p]);
    } catch { /* the process has exited */ }
  const all = [], todo = [...pids];
  while (todo.length) { const p = todo.pop(); all.push(p); todo.push(...(children.get(p) ?? [])); }
  return all;
}
function usage(with_memory = true) {
  let cpu = 0, pss = 0;
  const server = { pss: 0 };
  for (const p of processes())
    try {
      const stat = readFileSync(`/proc/${p}/stat`, 'latin1');
      const f = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      cpu += (Number(f[11]) + Number(f[12]) + Number(f[13]) + Number(f[14])) * 10;  // with its exited children
      if (!with_memory) continue;
      const kib = Number(/Pss: *(\d+)/.exec(readFileSync(`/proc/${p}/smaps_rollup`, 'latin1'))[1]);
      pss += kib;
      if (p === pids[0]) server.pss = kib;
    } catch { /* the process has exited */ }
  return { cpu, mib: round(pss / 1024), server_mib: round(server.pss / 1024) };
}
const errors = new Map();
const failed = (e) => errors.set(e.message, (errors.get(e.message) ?? 0) + 1);
const errorsSeen = () => (errors.size ? { errors: Object.fromEntries(errors) } : {});

const modes = {
  async latency() {
    const c = await connect(), took = [];
    for (let i = 0; i < 50; i++) await completeRun(c);
    for (let i = 0; i < number('runs', 500); i++) took.push((await completeRun(c)).first);
    report({ p50: quantile(took, 0.5), p95: quantile(took, 0.95), p99: quantile(took, 0.99) });
  },
  async rate() {
    const secs = number('secs', 5);
    for (const conc of option('conc', '1,8,32').split(',').map(Number)) {
      const from = performance.now() + 1000, to = from + secs * 1000;
      let runs = 0, before;
      setTimeout(() => { before = usage(false); }, 1000);
      await Promise.all(Array.from({ length: conc }, async () => {
        let c = await connect();
        while (performance.now() < to) {
          try {
            await completeRun(c);
            if (performance.now() > from && performance.now() <= to) runs++;
          } catch (e) { failed(e); c.close(); c = await connect(); }
        }
        c.close();
      }));
      const cpu = usage(false).cpu - before.cpu;
      report({ conc, runs_s: round(runs / secs), cpu_ms_per_run: round(cpu / Math.max(runs, 1)), ...errorsSeen() });
      await sleep(500);
    }
  },
  async chunks() {
    const secs = number('secs', 5);
    let total = 0, bytes = 0, finished = false;
    const connections = new Set();
    for (let i = 0; i < number('streams', 100); i++) (async () => {
      while (!finished) {
        let c;
        try {
          c = await connect();
          connections.add(c);
          while (!finished) {
            const stream = await api.begin(c, token(), promptOf()), k = counter(api);
            let seen = 0;
            await c.request(stream, (b) => { k.take(b); total += k.n - seen; seen = k.n; bytes += b.length; });
            if (k.n !== n) throw new Error(`${k.n} chunks instead of ${n}`);
          }
        } catch (e) { if (!finished) failed(e); connections.delete(c); await sleep(50); }
      }
    })();
    await sleep(2000);
    const a = { total, bytes, cpu: usage(false).cpu, at: performance.now() };
    await sleep(secs * 1000);
    const k = total - a.total, took = (performance.now() - a.at) / 1000, cpu = usage(false).cpu - a.cpu;
    finished = true;
    report({ chunks_s: Math.round(k / took), bytes_per_chunk: Math.round((bytes - a.bytes) / k), cpu_us_per_chunk: round((cpu * 1000) / k), ...errorsSeen() });
    for (const c of connections) c.close();
  },
  async paced() {
    const streams = number('streams', 100), late = [];
    await Promise.all(Array.from({ length: streams }, async (_, i) => {
      await sleep((i * d) / streams);
      const c = await connect();
      try { await completeRun(c, { stamp: 1, late }); } catch (e) { failed(e); }
      c.close();
    }));
    report({ streams, d, p50: quantile(late, 0.5), p95: quantile(late, 0.95), p99: quantile(late, 0.99), n: late.length, ...errorsSeen() });
  },
  async fanout() {
    const c = await connect(), bearer = token(), late = [];
    const id = await start(c, bearer, { stamp: 1 });
    let complete = 0;
    await Promise.all(Array.from({ length: number('watchers', 100) }, async () => {
      const reader = await connect(), k = counter(api, null, late);
      try { await reader.request(streamRequest(bearer, id), k.take); } catch (e) { failed(e); }
      if (k.n === n) complete++;
      reader.close();
    }));
    report({ complete, p50: quantile(late, 0.5), p95: quantile(late, 0.95), p99: quantile(late, 0.99), ...errorsSeen() });
  },
  async idle() {
    const base = usage(), open = [];
    report({ streams: 0, mib: base.mib, server_mib: base.server_mib });
    for (const target of option('streams', '1000,10000').split(',').map(Number)) {
      while (open.length < target) {
        await Promise.all(Array.from({ length: Math.min(50, target - open.length) }, async () => {
          const c = await connect();
          open.push(c);
          await new Promise((ok) => { completeRun(c, { hang: 1, onFirst: ok }).catch((e) => { failed(e); ok(); }); });
        }));
      }
      await sleep(3000);
      const u = usage();
      report({ streams: open.length, mib: u.mib, server_mib: u.server_mib,
               server_kib_per_stream: round(((u.server_mib - base.server_mib) * 1024) / open.length),
               kib_per_stream: round(((u.mib - base.mib) * 1024) / open.length), ...errorsSeen() });
    }
    for (const c of open) c.close();
    await sleep(5000);
    const u = usage();
    report({ after_close: 1, mib: u.mib, server_mib: u.server_mib });
  },
  async live() {
    const base = usage(), runs = number('runs', 10000);
    let remaining = runs;
    await Promise.all(Array.from({ length: 32 }, async () => {
      const c = await connect();
      while (remaining-- > 0) try { await start(c, token(), { hang: 1 }); } catch (e) { failed(e); }
      c.close();
    }));
    await sleep(5000);
    const u = usage();
    report({ runs, idle_mib: base.server_mib, server_mib: u.server_mib, kib_per_run: round(((u.server_mib - base.server_mib) * 1024) / runs), with_database_mib: u.mib, ...errorsSeen() });
  },
  async stop() {
    const model = async () => (await (await fetch(`http://127.0.0.1:${option('model')}/stats`)).json()).aborted;
    const c = await connect(), s = await connect(), answered = [], closed = [];
    for (let i = 0; i < number('runs', 50); i++) {
      const bearer = token(), id = await start(c, bearer, { hang: 1 });
      await new Promise((ok) => { const k = counter(api, ok); s.request(streamRequest(bearer, id), k.take).catch(failed); });
      const before = await model(), began = performance.now();
      const modelClosed = (async () => { while ((await model()) === before) await sleep(0); closed.push(performance.now() - began); })();
      const r = await c.request(`POST /agent-run/${id}/stop HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${bearer}\r\nContent-Length: 0\r\n\r\n`);
      if (r.status !== 200) failed(new Error(`stop: ${r.status}`));
      answered.push(performance.now() - began);
      await modelClosed;
      await sleep(20);
    }
    report({ answered_p50: quantile(answered, 0.5), answered_p95: quantile(answered, 0.95), closed_p50: quantile(closed, 0.5), closed_p95: quantile(closed, 0.95), ...errorsSeen() });
  },
};

setTimeout(() => { report({ error: 'took too long' }); process.exit(1); }, number('bound', 170) * 1000).unref();
await modes[mode]();
process.exit(0);
