// Addresses that a user gives: none leads to loopback, private networks or this machine, answers do not tell open ports from
// closed ones, and names that no server answers for do not stop the look-ups of others.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startByHand } from '../e2e/lib/mcp.mjs';
import { attack, regular, setUp, tearDown } from './lib/attack.mjs';
import { enterNetwork, own, remote, startNames } from './lib/network.mjs';
import { Server, freePort, makeDatabase } from './lib/server.mjs';

if (!enterNetwork(import.meta.filename)) test('addresses', { skip: 'this user may not make a network' });
else {
  let database, server, names, far;

  setUp(async () => {
    database = makeDatabase();
    names = await startNames((name) => (/(^|\.)good\.test$/.test(name) ? remote : /(^|\.)own\.test$/.test(name) ? own : /(^|\.)home\.test$/.test(name) ? '127.0.0.1' : undefined));
    far = await startByHand(undefined, { host: remote });
    server = await new Server({ database, set: ['deployment.mode=production', 'auth.jwt.hs256_secret=0123456789abcdef0123456789abcdef', 'mcp.discovery_timeout_seconds=15'] }).start();
  });
  tearDown(async () => {
    await server?.close();
    far?.close();
    names?.close();
    database?.drop();
  });

  const port = (peer) => new URL(peer.url).port;
  async function discover(u, url, signal) {
    const agent = (await u.get('/agents')).json.agents[0].agent_id;
    return u.get(`/agents/${agent}/custom-mcp-tools`, { headers: { 'x-mcp-url': url, 'x-mcp-type': 'http', 'cache-control': 'no-cache' }, signal });
  }
  const isRefused = (r, url) => {
    assert.equal(r.status, 400, `${url}: ${r.status} ${r.text}`);
    assert.match(r.text, /private or local address/, url);
  };

  regular('a server elsewhere is reached', async () => {
    const r = await discover(await server.user(), `http://a.good.test:${port(far)}/mcp`);
    assert.equal(r.status, 200, r.text);
  });

  attack('loopback, private networks and metadata are not reached, by address or by name', ['address_guard'], async () => {
    const home = await startByHand();
    const u = await server.user();
    try {
      for (const host of ['127.0.0.1', '127.1', '2130706433', '0.0.0.0', '[::1]', '[::ffff:127.0.0.1]', '[64:ff9b::7f00:1]', '[2002:7f00:1::]', '10.0.0.1',
        '172.16.0.1', '192.168.0.1', '100.64.0.1', '169.254.169.254', '[fe80::1]', '[fd00::1]', 'localhost', 'a.home.test'])
        isRefused(await discover(u, `http://${host}:${port(home)}/mcp`), host);
      assert.equal(home.seen.length, 0);
    } finally {
      home.close();
    }
  });

  attack('the public addresses of this machine are not reached, by address or by name', ['own_addresses'], async () => {
    const near = await startByHand(undefined, { host: own });
    const u = await server.user();
    try {
      for (const host of [own, `[::ffff:${own}]`, 'a.own.test']) isRefused(await discover(u, `http://${host}:${port(near)}/mcp`), host);
      assert.equal(near.seen.length, 0);
    } finally {
      near.close();
    }
  });

  regular('the answer tells neither the reason of a failed connection nor its address', async () => {
    const r = await discover(await server.user(), `http://a.good.test:${await freePort()}/mcp`);
    assert.equal(r.status, 502, r.text);
    assert.doesNotMatch(r.text, /refused|reset|unreachable|timed out|errno/i);
    assert.ok(!r.text.includes(remote), r.text);
  });

  attack('names that no server answers for leave look-ups to other accounts', ['lookup_turns'], { timeout: 60000 }, async () => {
    const u = await server.user({ tier: 'pro' }), other = await server.user();
    await discover(other, `http://a.good.test:${port(far)}/mcp`);
    const enough = new AbortController();
    const pending = Array.from({ length: 40 }, (_, i) => discover(u, `http://n${i}.slow.test/mcp`, enough.signal));
    // The look-ups are under way when the first ones wait for the network.
    await new Promise((r) => setTimeout(r, 300));
    try {
      for (const name of ['b', 'c']) {
        const begun = performance.now();
        const r = await discover(other, `http://${name}.good.test:${port(far)}/mcp`);
        assert.equal(r.status, 200, r.text);
        assert.ok(performance.now() - begun < 8000, `${performance.now() - begun} ms`);
      }
    } finally {
      enough.abort();
      await Promise.allSettled(pending);
    }
  });
}
