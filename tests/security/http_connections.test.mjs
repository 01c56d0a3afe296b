// Connections: the limit per address, the response beyond the limit, and the descriptors reserved for everything else.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { startLlm } from '../e2e/lib/llm.mjs';
import { attack, setUp, tearDown } from './lib/attack.mjs';
import { Server, makeDatabase, waitFor } from './lib/server.mjs';
import { ask, connect, headOf, metric } from './lib/wire.mjs';

let database, llm;

setUp(async () => {
  database = makeDatabase();
  llm = await startLlm(async (request, reply) => { reply.text('done'); reply.end({ input: 1, output: 1 }); });
});
tearDown(async () => {
  await llm?.close();
  database?.drop();
});

const halfSent = async (url, n, from) => {
  const all = [];
  for (let i = 0; i < n; i++) {
    const s = await connect(url, { from });
    s.write('GET /healthz HTTP/1.1\r\nHos');
    all.push(s);
  }
  return all;
};
const limitOf = (pid) => Number(/^Max open files\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/limits`, 'utf8'))[1]);

attack('incomplete request heads use up only the connections of their address', ['address_connections'], { timeout: 120000 }, async () => {
  const server = await new Server({ database, llm, set: ['http.limits.address_connections=100', 'http.header_timeout_seconds=30'] }).start();
  const crowd = [];
  try {
    crowd.push(...await halfSent(server.url, 400, '127.0.0.5'));
    await waitFor('the excess connections to be refused', async () => (await metric(server.url, 'runyard_http_address_refused_total')) >= 300);
    const begun = performance.now();
    for (let i = 0; i < 5; i++) assert.equal((await ask(server.url, 'GET', '/healthz', { from: '127.0.0.6' })).status, 200);
    assert.ok(performance.now() - begun < 20000);
    const again = await ask(server.url, 'GET', '/healthz', { from: '127.0.0.5' });
    assert.equal(again.status, 503, again.head);
    assert.equal(again.json.detail.error_code, 'CONNECTION_LIMIT');
    assert.equal(again.header('retry-after'), '1');
    await waitFor('only the share of the address to be open', async () => (await metric(server.url, 'runyard_http_connections')) <= 110);
  } finally {
    for (const s of crowd) s.destroy();
    await server.close();
  }
});

attack('several addresses together leave connections for others', ['address_connections'], { timeout: 120000 }, async () => {
  const server = await new Server({ database, llm, set: ['http.max_connections=256', 'http.limits.address_connections=240', 'http.header_timeout_seconds=30'] }).start();
  const crowd = [];
  try {
    for (const n of [2, 3, 4, 5]) crowd.push(...await halfSent(server.url, 250, `127.0.0.${n}`));
    // 128, 64, 32 and 16 of them stay open, which leaves 16.
    await waitFor('the excess connections to be refused', async () => (await metric(server.url, 'runyard_http_address_refused_total')) >= 700);
    for (let i = 0; i < 5; i++) assert.equal((await ask(server.url, 'GET', '/healthz', { from: '127.0.0.6' })).status, 200);
  } finally {
    for (const s of crowd) s.destroy();
    await server.close();
  }
});

attack('a client beyond the connection limit gets a 503 immediately', ['max_connections'], { timeout: 120000 }, async () => {
  const server = await new Server({ database, llm, set: ['http.max_connections=50', 'http.limits.address_connections=0', 'http.header_timeout_seconds=30'] }).start();
  const crowd = [];
  try {
    crowd.push(...await halfSent(server.url, 300, '127.0.0.5'));
    for (let i = 0; i < 3; i++) {
      const begun = performance.now();
      const s = await connect(server.url, { from: '127.0.0.6' });
      crowd.push(s);
      s.write('GET /readyz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
      assert.equal((await headOf(s)).status, 503);
      assert.ok(performance.now() - begun < 3000, 'no waiting in the backlog');
    }
  } finally {
    for (const s of crowd) s.destroy();
    await server.close();
  }
});

attack('the soft limit of descriptors is raised', ['descriptors'], { timeout: 120000 }, async () => {
  const hard = Number(execFileSync('bash', ['-c', 'ulimit -Hn'], { encoding: 'utf8' }));
  const raised = await new Server({ database, llm, wrap: ['bash', '-c', 'ulimit -Sn 1024; exec "$@"', 'bash'] }).start();
  try {
    assert.equal(limitOf(raised.process.pid), hard);
  } finally {
    await raised.close();
  }
});

attack('connections do not use up the descriptors of the rest of the server', ['descriptors'], { timeout: 120000 }, async () => {
  const server = await new Server({ database, llm, set: ['http.limits.address_connections=0'], wrap: ['bash', '-c', 'ulimit -n 600; exec "$@"', 'bash'] }).start();
  const crowd = [];
  try {
    assert.match(server.log, /allows fewer connections than http\.max_connections.*connections=450/);
    crowd.push(...await halfSent(server.url, 580, '127.0.0.5'));
    // The server still has descriptors for its work: an accepted connection gets its response.
    crowd[0].write('t: 127.0.0.1\r\nConnection: keep-alive\r\n\r\n');
    assert.equal((await headOf(crowd[0])).status, 200);
    assert.doesNotMatch(server.log, /Too many open files/);
    const refused = await ask(server.url, 'GET', '/readyz', { from: '127.0.0.6' });
    assert.equal(refused.status, 503);
  } finally {
    for (const s of crowd) s.destroy();
    await server.close();
  }
});
