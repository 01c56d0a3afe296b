// Two nodes on one PostgreSQL: latency of a chunk from the model to a reader on the node that does NOT execute the run,
// at RATE events per second over RUNS concurrent runs, ROUNDS times alternately with NATS and with wake-ups through
// PostgreSQL. Both pairs of nodes run at the same time, each with its own database.
//   RY_BUILD_DIR=build RY_TEST_DATABASE_URL=... node bench/bus.mjs
import { connect } from 'node:net';
import { readFileSync } from 'node:fs';
import { lastUser, startLlm } from '../tests/e2e/lib/llm.mjs';
import { Nats } from '../tests/e2e/lib/nats.mjs';
import { Client, Server, makeDatabase, sleep, waitFor } from '../tests/e2e/lib/server.mjs';

const rate = Number(process.env.RATE ?? 5000), runs = Number(process.env.RUNS ?? 50), seconds = Number(process.env.SECONDS ?? 8);
const rounds = Number(process.env.ROUNDS ?? 2), perUser = 10;
const chunks = Math.floor(rate * seconds / runs);
const percentile = (v, p) => v[Math.min(v.length - 1, Math.floor(v.length * p))];

let round;  // the current round: replies by run, time at which each chunk was sent, latencies
const llm = await startLlm((request, reply) => new Promise((resolve) => {
  const p = round, run = Number(/run (\d+) /.exec(lastUser(request))[1]);
  p.replies[run] = { reply, resolve };
  if (++p.open === runs) sendChunks(p);
}));
// Sends one chunk at a time, round-robin over the runs, at the configured rate.
function sendChunks(p) {
  const begin = performance.now(), all = runs * chunks;
  let sent = 0;
  const tick = () => {
    const due = Math.min(all, Math.floor((performance.now() - begin) * rate / 1000));
    for (; sent < due; sent++) {
      const run = sent % runs, chunk = Math.floor(sent / runs);
      p.sentAt[run * chunks + chunk] = performance.now();
      p.replies[run].reply.text(`${chunk} `.padEnd(20, 'x'));
    }
    if (sent < all) return setTimeout(tick, 1);
    p.took = performance.now() - begin;
    for (const { reply, resolve } of p.replies) { reply.end(); resolve(); }
  };
  tick();
}

function read(server, token, id, run, p) {
  const { hostname, port } = new URL(server.url);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port, noDelay: true });
    let pending = '';
    socket.write(`GET /agent-run/${id}/stream HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\nConnection: close\r\n\r\n`);
    socket.setEncoding('utf8');
    socket.on('data', (d) => {
      const now = performance.now();
      pending += d;
      const end = pending.lastIndexOf('\n\n');
      if (end < 0) return;
      for (const m of pending.slice(0, end).matchAll(/"llm_response_chunk", "sequence": \d+, "content": "(\d+) x/g))
        p.latencies.push(now - p.sentAt[run * chunks + Number(m[1])]);
      pending = pending.slice(end);
    });
    socket.on('end', () => { socket.destroy(); resolve(); });
    socket.on('error', reject);
  });
}

const cpu = (pid) => { const f = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' '); return (Number(f[11]) + Number(f[12])) * 10; };
const set = ['auth.jwt.hs256_secret=a secret of at least thirty-two bytes for this bench'];
const nats = await new Nats().start();
const drivers = [];
for (const name of ['nats', 'postgres']) {
  const database = makeDatabase();
  const bus = name === 'nats' ? { set: [...set, 'modules.bus_nats.enabled=true'], settings: `[bus_nats]\nurls = ["${nats.url}"]` } : { set };
  const a = await new Server({ database, llm, ...bus }).start(), b = await new Server({ database, llm, ...bus }).start();
  const users = [];
  for (let i = 0; i < runs / perUser; i++) users.push(await a.user({ tier: 'enterprise' }));
  drivers.push({ name, database, a, b, users, latencies: [], cpu: 0, nats: 0, sent: 0, rates: [] });
}
await sleep(5000);  // nodes learn of each other by their heartbeats, even without a bus
const metric = async (s, name) => Number((await new Client(s).get('/metrics')).text.split('\n').find((l) => l.startsWith(`${name} `)).split(' ')[1]);
await waitFor('the bus', async () => await metric(drivers[0].a, 'runyard_bus_nodes') === 1);

for (let i = 0; i < rounds; i++)
  for (const d of drivers) {
    round = { replies: [], sentAt: new Float64Array(runs * chunks), latencies: [], open: 0, took: 0 };
    const p = round, before = cpu(d.a.process.pid) + cpu(d.b.process.pid);
    const busUsage = async () => d.name === 'nats' ? [cpu(nats.process.pid), await metric(d.a, 'runyard_bus_sent_total')] : [0, 0];
    const [natsBefore, sentBefore] = await busUsage();
    const readers = [];
    for (let run = 0; run < runs; run++) {
      const u = d.users[Math.floor(run / perUser)];
      const r = await u.start({ prompt: `run ${run} .` });
      if (r.status !== 200) throw new Error(r.text);
      readers.push(read(d.b, u.token, r.json.agent_run_id, run, p));
    }
    await Promise.all(readers);
    if (p.latencies.length !== runs * chunks) throw new Error(`${d.name}: ${p.latencies.length} of ${runs * chunks} events arrived`);
    for (const x of p.latencies) d.latencies.push(x);
    d.cpu += cpu(d.a.process.pid) + cpu(d.b.process.pid) - before;
    const [natsAfter, sentAfter] = await busUsage();
    d.nats += natsAfter - natsBefore;
    d.sent += sentAfter - sentBefore;
    d.rates.push(Math.round(p.latencies.length / p.took * 1000));
    await sleep(1000);
  }
for (const d of drivers) {
  d.latencies.sort((x, y) => x - y);
  console.log(`${d.name}: ${d.rates.join(', ')} events/s, to the other node p50 ${percentile(d.latencies, 0.5).toFixed(2)} ms, p95 ${percentile(d.latencies, 0.95).toFixed(2)} ms, p99 ${percentile(d.latencies, 0.99).toFixed(2)} ms, max ${d.latencies.at(-1).toFixed(1)} ms; both nodes ${(d.cpu / d.latencies.length * 1000).toFixed(0)} us of CPU time per event`
    + (d.name === 'nats' ? `, nats-server ${(d.nats / d.latencies.length * 1000).toFixed(0)} us; ${(d.sent / d.latencies.length).toFixed(2)} messages per event` : ''));
  await d.a.close();
  await d.b.close();
  d.database.drop();
}
await llm.close();
await nats.close();
