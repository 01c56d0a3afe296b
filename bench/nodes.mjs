// Two nodes on one PostgreSQL, with a model that sends a chunk every DELAY_MS. Measures the latency of a chunk from the
// model to a reader on the node that executes the run and to one on the other node; the time of a stop from either
// node; the time from the terminal event to the end of the stream; and the bytes on the wire for a chunk of 20 bytes.
//   RY_BUILD_DIR=build RY_TEST_DATABASE_URL=... node bench/nodes.mjs
import { connect } from 'node:net';
import { lastUser, startLlm } from '../tests/e2e/lib/llm.mjs';
import { Client, Server, makeDatabase, sleep } from '../tests/e2e/lib/server.mjs';

const runs = Number(process.env.RUNS ?? 10), chunks = Number(process.env.CHUNKS ?? 200), delay = Number(process.env.DELAY_MS ?? 20);
const percentile = (v, p) => v.toSorted((a, b) => a - b)[Math.min(v.length - 1, Math.floor(v.length * p))];
const show = (name, v) => console.log(`${name}: p50 ${percentile(v, 0.5).toFixed(2)} ms, p95 ${percentile(v, 0.95).toFixed(2)} ms, p99 ${percentile(v, 0.99).toFixed(2)} ms, max ${Math.max(...v).toFixed(2)} ms (${v.length})`);

const sentAt = new Map();
const database = makeDatabase();
const llm = await startLlm(async (request, reply) => {
  if (lastUser(request).includes('[hang]')) return reply.text('begun');
  const key = lastUser(request);
  for (let i = 0; i < chunks && !reply.res.destroyed; i++) {
    sentAt.set(`${key} ${i}`, performance.now());
    reply.text(`${i} `.padEnd(20, 'x'));
    await sleep(delay);
  }
  reply.end();
});
const set = ['auth.jwt.hs256_secret=a secret of at least thirty-two bytes for this bench'];
const a = await new Server({ database, llm, set }).start();
const b = await new Server({ database, llm, set }).start();

// Reads the raw socket, to see what arrives in each read and when the connection closes.
function read(server, token, id, onText) {
  const { hostname, port } = new URL(server.url);
  return new Promise((resolve, reject) => {
    const out = { terminal: 0, closed: 0 };
    const socket = connect({ host: hostname, port, noDelay: true });
    socket.write(`GET /agent-run/${id}/stream HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\nConnection: close\r\n\r\n`);
    socket.setEncoding('utf8');
    socket.on('data', (d) => {
      const now = performance.now();
      if (!out.terminal && /"status": "(completed|stopped|failed)"/.test(d)) out.terminal = now;
      onText(d, now);
    });
    socket.on('end', () => { out.closed = performance.now(); socket.destroy(); resolve(out); });
    socket.on('error', reject);
  });
}

// Nodes learn of each other by their heartbeats.
await sleep(5000);
const sameNode = [], otherNode = [], ends = [], wire = [];
for (let r = 0; r < runs; r++) {
  const u = await a.user();
  const prompt = `run ${r} .`;
  const id = (await u.start({ prompt })).json.agent_run_id;
  const recorder = (latencies, sizes) => (text, now) => {
    const found = [...text.matchAll(/"llm_response_chunk", "sequence": \d+, "content": "(\d+) x/g)];
    for (const m of found) latencies.push(now - sentAt.get(`${prompt} ${m[1]}`));
    if (sizes && found.length === 1 && /^[0-9a-f]+\r\nid: \d+\n[^\n]*\n\n\r\n$/.test(text)) sizes.push(Buffer.byteLength(text));
  };
  const [local] = await Promise.all([read(a, u.token, id, recorder(sameNode, wire)), read(b, u.token, id, recorder(otherNode))]);
  ends.push(local.closed - local.terminal);
}
show('chunk to a reader on the node that executes the run', sameNode);
show('chunk to a reader on the other node', otherNode);
show('end of the stream after the terminal event', ends);
console.log(`bytes on the wire of a single chunk of 20 bytes: max ${Math.max(...wire)} (${wire.length})`);

for (const [name, from] of [['stop on the node that executes the run', a], ['stop on the other node', b]]) {
  const took = [], closed = [];
  for (let r = 0; r < 25; r++) {
    const u = await a.user();
    const prompt = `[hang] ${name} ${r}`;
    const id = (await u.start({ prompt })).json.agent_run_id;
    await u.stream(id, { until: (e) => e.type === 'llm_response_chunk' });
    const call = llm.seen.find((c) => lastUser(c.json) === prompt);
    const began = performance.now(), at = Date.now();
    await new Client(from, u.token, u.id).post(`/agent-run/${id}/stop`);
    took.push(performance.now() - began);
    await call.closed;
    closed.push(call.closedAt - at);
  }
  show(name, took);
  show(`${name}: until the model's socket is closed`, closed);
}
await a.close();
await b.close();
await llm.close();
database.drop();
