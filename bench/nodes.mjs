// Two nodes on one PostgreSQL, with a model that says a word every DELAY_MS: how long after the model said it a
// word reaches a reader on the node that runs it, and one on the other node; how long a stop takes from either;
// when the stream's end comes after the terminal event; what a word of 20 bytes costs on the wire.
//   RY_BUILD_DIR=build RY_TEST_DATABASE_URL=... node bench/nodes.mjs
import { connect } from 'node:net';
import { lastUser, startLlm } from '../tests/e2e/lib/llm.mjs';
import { Client, Server, makeDatabase, sleep } from '../tests/e2e/lib/server.mjs';

const runs = Number(process.env.RUNS ?? 10), words = Number(process.env.WORDS ?? 200), delay = Number(process.env.DELAY_MS ?? 20);
const percentile = (v, p) => v.toSorted((a, b) => a - b)[Math.min(v.length - 1, Math.floor(v.length * p))];
const show = (name, v) => console.log(`${name}: p50 ${percentile(v, 0.5).toFixed(2)} ms, p95 ${percentile(v, 0.95).toFixed(2)} ms, p99 ${percentile(v, 0.99).toFixed(2)} ms, most ${Math.max(...v).toFixed(2)} ms (${v.length})`);

const said = new Map();
const database = makeDatabase();
const llm = await startLlm(async (request, reply) => {
  if (lastUser(request).includes('[hang]')) return reply.text('begun');
  const key = lastUser(request);
  for (let i = 0; i < words && !reply.res.destroyed; i++) {
    said.set(`${key} ${i}`, performance.now());
    reply.text(`${i} `.padEnd(20, 'x'));
    await sleep(delay);
  }
  reply.end();
});
const set = ['auth.jwt.hs256_secret=a secret of at least thirty-two bytes for this bench'];
const a = await new Server({ database, llm, set }).start();
const b = await new Server({ database, llm, set }).start();

// Raw: what arrives, when, and when the connection ends.
function read(server, token, id, onText) {
  const { hostname, port } = new URL(server.url);
  return new Promise((resolve, reject) => {
    const out = { terminal: 0, ended: 0 };
    const socket = connect({ host: hostname, port, noDelay: true });
    socket.write(`GET /agent-run/${id}/stream HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\nConnection: close\r\n\r\n`);
    socket.setEncoding('utf8');
    socket.on('data', (d) => {
      const now = performance.now();
      if (!out.terminal && /"status": "(completed|stopped|failed)"/.test(d)) out.terminal = now;
      onText(d, now);
    });
    socket.on('end', () => { out.ended = performance.now(); socket.destroy(); resolve(out); });
    socket.on('error', reject);
  });
}

// Nodes learn of each other by their heartbeats.
await sleep(5000);
const here = [], there = [], ends = [], wire = [];
for (let r = 0; r < runs; r++) {
  const u = await a.user();
  const prompt = `run ${r} .`;
  const id = (await u.start({ prompt })).json.agent_run_id;
  const note = (into, sizes) => (text, now) => {
    const found = [...text.matchAll(/"llm_response_chunk", "sequence": \d+, "content": "(\d+) x/g)];
    for (const m of found) into.push(now - said.get(`${prompt} ${m[1]}`));
    if (sizes && found.length === 1 && /^[0-9a-f]+\r\nid: \d+\n[^\n]*\n\n\r\n$/.test(text)) sizes.push(Buffer.byteLength(text));
  };
  const [x] = await Promise.all([read(a, u.token, id, note(here, wire)), read(b, u.token, id, note(there))]);
  ends.push(x.ended - x.terminal);
}
show('word to a reader on the node that runs', here);
show('word to a reader on the other node', there);
show('end of the stream after the terminal event', ends);
console.log(`bytes on the wire of a word of 20 bytes that leaves alone: most ${Math.max(...wire)} (${wire.length})`);

for (const [name, from] of [['stop on the node that runs', a], ['stop on the other node', b]]) {
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
