// Name lookups: an account that uses names without an answer takes neither threads nor time from other accounts and the operator.
// Needs a network of its own, with a name server at 127.0.0.1 and a public address that leads to this machine: this file starts
// itself again inside.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { startLlm } from '../e2e/lib/llm.mjs';
import { callingModel, run, startByHand } from '../e2e/lib/mcp.mjs';
import { Server, makeDatabase, waitFor } from '../e2e/lib/server.mjs';

const address = '20.20.20.20';

if (!process.env.RY_NETWORK_OF_ITS_OWN) {
  test('in a network of its own', (t) => {
    const dir = mkdtempSync(path.join(tmpdir(), 'ry-dns-'));
    const files = { hosts: '127.0.0.1 localhost\n', 'resolv.conf': 'nameserver 127.0.0.1\n', 'nsswitch.conf': 'hosts: files dns\n' };
    const mounts = Object.entries(files).map(([name, text]) => {
      writeFileSync(path.join(dir, name), text);
      return `mount --bind ${path.join(dir, name)} /etc/${name}`;
    });
    const enter = `ip link set lo up && ip route add local ${address}/32 dev lo && ${mounts.join(' && ')} || exit 99; exec "$@"`;
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const r = spawnSync('unshare', ['--net', '--mount', '--', 'sh', '-c', enter, 'sh', process.execPath, '--test-reporter=spec', '--test', import.meta.filename],
      { env: { ...env, RY_NETWORK_OF_ITS_OWN: '1' }, encoding: 'utf8' });
    rmSync(dir, { recursive: true, force: true });
    if (r.status === 99 || /unshare/.test(r.stderr)) return t.skip(`this user cannot make a network namespace: ${r.stderr.trim()}`);
    assert.equal(r.status, 0, r.stdout + r.stderr);
    assert.match(r.stdout, /ℹ pass [1-9]/);
  });
} else {
  let database, dns, llm, server, peer;
  const asked = new Map();  // how many queries by name

  // A name server that answers for good*.example and model.example, and never for other names.
  async function startNameServer() {
    const socket = createSocket('udp4');
    socket.on('message', (query, from) => {
      const labels = [];
      let at = 12;
      for (; query[at] !== 0; at += query[at] + 1) labels.push(query.toString('latin1', at + 1, at + 1 + query[at]));
      const name = labels.join('.').toLowerCase();
      asked.set(name, (asked.get(name) ?? 0) + 1);
      const found = name === 'model.example' ? '127.0.0.1' : /^good\d*\.example$/.test(name) ? address : undefined;
      if (!found) return;
      const ipv4 = query.readUInt16BE(at + 1) === 1;
      const answer = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, ...found.split('.').map(Number)]);
      const reply = Buffer.concat([query.subarray(0, at + 5), ipv4 ? answer : Buffer.alloc(0)]);
      reply.writeUInt16BE(0x8180, 2);
      reply.writeUInt16BE(ipv4 ? 1 : 0, 6);
      reply.fill(0, 8, 12);
      socket.send(reply, from.port, from.address);
    });
    await new Promise((resolve) => socket.bind(53, '127.0.0.1', resolve));
    return socket;
  }

  before(async () => {
    database = makeDatabase();
    dns = await startNameServer();
    llm = await startLlm(callingModel);
    peer = await startByHand(undefined, { host: address });
    server = await new Server({ database, llm: { url: llm.url.replace('127.0.0.1', 'model.example') }, set: ['deployment.mode=production', 'auth.jwt.hs256_secret=0123456789abcdef0123456789abcdef', 'mcp.discovery_timeout_seconds=5',
      ...(process.env.RY_ACCOUNT_LOOKUPS ? [`egress.account_lookups=${process.env.RY_ACCOUNT_LOOKUPS}`] : [])] }).start();
  });
  after(async () => {
    await server?.close();
    await llm?.close();
    peer?.close();
    dns?.close();
    database?.drop();
  });

  async function account() {
    const u = await server.user({ tier: 'pro' });
    const agent = (await u.get('/agents')).json.agents[0].agent_id;
    return { u, discover: (url, type = 'http') => u.get(`/agents/${agent}/custom-mcp-tools`, { headers: { 'x-mcp-url': url, 'x-mcp-type': type, 'cache-control': 'no-cache' } }) };
  }
  const metric = async (name) => Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(await (await fetch(`${server.url}/metrics`)).text())[1]);

  test('names without an answer keep no other account and no model waiting', async () => {
    const hostile = await account(), honest = await account();
    const attack = Array.from({ length: 60 }, (_, i) => hostile.discover(`http://silent${i}.example:9/mcp`, i % 2 ? 'sse' : 'http'));
    await waitFor('lookups that wait', async () => await metric('runyard_egress_lookups_waiting') > 40);
    const reached = async (name) => {
      const r = await honest.discover(peer.url.replace(/\/\/[^:]+:/, `//${name}:`));
      assert.equal(r.status, 200, `${name}: ${r.text}`);
      assert.deepEqual(r.json.tools.map((t) => t.name), ['echo']);
    };
    // Each name is new: its lookup needs a thread while those of the hostile account are in progress.
    for (let i = 0; i < 8; ++i) await reached(`good${i}.example`);
    assert.ok(await metric('runyard_egress_lookups_waiting') > 40, 'the attack ended too early');
    await run(honest.u, 'hello');
    assert.ok(asked.get('model.example') > 0);
    assert.ok(await metric('runyard_egress_lookups_active') <= 4);
    for (const r of await Promise.all(attack)) assert.equal(r.status, 504, r.text);
  });
}
