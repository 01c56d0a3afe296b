// URLs given by users cannot reach loopback, private networks or this machine, responses do not reveal open ports, and
// unanswered DNS lookups do not block those of others.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startLlm } from '../e2e/lib/llm.mjs';
import { callingModel, run as runOnce, startScriptedServer } from '../e2e/lib/mcp.mjs';
import { attack, regular, setUp, tearDown } from './lib/attack.mjs';
import { enterNetwork, own, remote, startNames } from './lib/network.mjs';
import { Server, freePort, makeDatabase, waitFor } from './lib/server.mjs';

if (!enterNetwork(import.meta.filename)) test('addresses', { skip: 'this user may not create a network namespace' });
else {
  let database, server, names, remoteServer, llm;
  const lookedUp = new Set();  // names

  setUp(async () => {
    database = makeDatabase();
    names = await startNames((name) => {
      lookedUp.add(name);
      if (name === 'model.test') return '127.0.0.1';
      return /(^|\.)good\.test$/.test(name) ? remote : /(^|\.)own\.test$/.test(name) ? own : /(^|\.)home\.test$/.test(name) ? '127.0.0.1' : undefined;
    });
    llm = await startLlm(callingModel);
    remoteServer = await startScriptedServer(undefined, { host: remote });
    server = await new Server({ database, llm: { url: llm.url.replace('127.0.0.1', 'model.test') }, set: ['deployment.mode=production', 'auth.jwt.hs256_secret=0123456789abcdef0123456789abcdef', 'mcp.discovery_timeout_seconds=15'] }).start();
  });
  tearDown(async () => {
    await server?.close();
    remoteServer?.close();
    await llm?.close();
    names?.close();
    database?.drop();
  });

  const port = (peer) => new URL(peer.url).port;
  async function discover(u, url, signal) {
    const agent = (await u.get('/agents')).json.agents[0].agent_id;
    return u.get(`/agents/${agent}/custom-mcp-tools`, { headers: { 'x-mcp-url': url, 'x-mcp-type': 'http', 'cache-control': 'no-cache' }, signal });
  }
  const expectRejected = (r, url) => {
    assert.equal(r.status, 400, `${url}: ${r.status} ${r.text}`);
    assert.match(r.text, /private or local address/, url);
  };

  regular('a remote server is reachable', async () => {
    const r = await discover(await server.user(), `http://a.good.test:${port(remoteServer)}/mcp`);
    assert.equal(r.status, 200, r.text);
  });

  attack('loopback, private networks and metadata services are not reachable by address or by name', ['address_guard'], async () => {
    const loopbackServer = await startScriptedServer();
    const u = await server.user();
    try {
      for (const host of ['127.0.0.1', '127.1', '2130706433', '0.0.0.0', '[::1]', '[::ffff:127.0.0.1]', '[64:ff9b::7f00:1]', '[2002:7f00:1::]', '10.0.0.1',
        '172.16.0.1', '192.168.0.1', '100.64.0.1', '169.254.169.254', '[fe80::1]', '[fd00::1]', 'localhost', 'a.home.test'])
        expectRejected(await discover(u, `http://${host}:${port(loopbackServer)}/mcp`), host);
      assert.equal(loopbackServer.seen.length, 0);
    } finally {
      loopbackServer.close();
    }
  });

  attack('the public addresses of this machine are not reachable by address or by name', ['own_addresses'], async () => {
    const localServer = await startScriptedServer(undefined, { host: own });
    const u = await server.user();
    try {
      for (const host of [own, `[::ffff:${own}]`, 'a.own.test']) expectRejected(await discover(u, `http://${host}:${port(localServer)}/mcp`), host);
      assert.equal(localServer.seen.length, 0);
    } finally {
      localServer.close();
    }
  });

  regular('the response reveals neither the reason of a failed connection nor its address', async () => {
    const r = await discover(await server.user(), `http://a.good.test:${await freePort()}/mcp`);
    assert.equal(r.status, 502, r.text);
    assert.doesNotMatch(r.text, /refused|reset|unreachable|timed out|errno/i);
    assert.ok(!r.text.includes(remote), r.text);
  });

  attack('unanswered DNS lookups do not block lookups of other accounts and of the operator', ['lookup_turns'], { timeout: 60000 }, async () => {
    const hostile = await server.user({ tier: 'pro' }), honest = await server.user();
    await discover(hostile, `http://a.good.test:${port(remoteServer)}/mcp`);
    const metric = async (name) => Number(new RegExp(`^runyard_egress_lookups_${name} (\\d+)$`, 'm').exec(await (await fetch(`${server.url}/metrics`)).text())[1]);
    const enough = new AbortController();
    const pending = Array.from({ length: 60 }, (_, i) => discover(hostile, `http://silent${i}.example:9/mcp`, enough.signal));
    try {
      await waitFor('queued lookups', async () => (await metric('waiting')) > 40);
      // Each name is new: its lookup needs a thread while those of the hostile account are in progress.
      for (let n = 0; n < 8; n++) assert.equal((await discover(honest, `http://n${n}.good.test:${port(remoteServer)}/mcp`)).status, 200);
      assert.ok((await metric('waiting')) > 40, 'the attack ended too early');
      assert.ok((await metric('active')) <= 4, 'lookups of one account are limited');
      await runOnce(honest, 'hello');
      assert.ok(lookedUp.has('model.test'), 'the address of the model was looked up');
    } finally {
      enough.abort();
      await Promise.allSettled(pending);
    }
  });
}
