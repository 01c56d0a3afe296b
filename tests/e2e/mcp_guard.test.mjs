// The address guard of production against MCP servers whose names or redirects point to private addresses. The file
// runs itself again in a network namespace with a route for a public address and a hosts file that can change.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { startLlm } from './lib/llm.mjs';
import { callingModel, startScriptedServer } from './lib/mcp.mjs';
import { Server, makeDatabase, sleep, textOf, waitFor } from './lib/server.mjs';

const address = '20.20.20.20';
const hostsFile = process.env.RY_NETWORK_OF_ITS_OWN;

if (!hostsFile) {
  test('in a separate network namespace', (t) => {
    const dir = mkdtempSync(path.join(tmpdir(), 'ry-guard-'));
    const hosts = path.join(dir, 'hosts');
    writeFileSync(hosts, '127.0.0.1 localhost\n');
    const resolver = path.join(dir, 'resolv.conf');
    writeFileSync(resolver, 'nameserver 127.0.0.1\n');
    const enter = `ip link set lo up && ip route add local ${address}/32 dev lo && mount --bind ${hosts} /etc/hosts && mount --bind ${resolver} /etc/resolv.conf || exit 99; exec "$@"`;
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const r = spawnSync('unshare', ['--net', '--mount', '--', 'sh', '-c', enter, 'sh', process.execPath, '--test-reporter=spec', '--test', import.meta.filename],
      { env: { ...env, RY_NETWORK_OF_ITS_OWN: hosts }, encoding: 'utf8' });
    rmSync(dir, { recursive: true, force: true });
    if (r.status === 99 || /unshare/.test(r.stderr)) return t.skip(`this user may not create a network namespace: ${r.stderr.trim()}`);
    assert.equal(r.status, 0, r.stdout + r.stderr);
    assert.match(r.stdout, /ℹ pass [1-9]/);
  });
} else {
  let database, llm, server, u, agent, good;
  const writeHosts = (...lines) => writeFileSync(hostsFile, ['127.0.0.1 localhost', ...lines, ''].join('\n'));

  before(async () => {
    database = makeDatabase();
    writeHosts(`${address} good.example`);
    llm = await startLlm(callingModel);
    good = await startScriptedServer(undefined, { host: address });
    server = await new Server({ database, llm: { url: llm.url.replace('127.0.0.1', 'localhost') }, set: ['deployment.mode=production', 'auth.jwt.hs256_secret=0123456789abcdef0123456789abcdef', 'mcp.discovery_timeout_seconds=5', 'mcp.call_timeout_seconds=5'] }).start();
    u = await server.user({ tier: 'pro' });
    agent = (await u.get('/agents')).json.agents[0].agent_id;
  });
  after(async () => {
    await server?.close();
    await llm?.close();
    good?.close();
    database?.drop();
  });
  const urlWithHost = (name, peer) => peer.url.replace(/\/\/[^:]+:/, `//${name}:`);
  const discover = (url, type = 'http') => u.get(`/agents/${agent}/custom-mcp-tools`, { headers: { 'x-mcp-url': url, 'x-mcp-type': type, 'cache-control': 'no-cache' } });
  const expectRefused = (r) => { assert.equal(r.status, 400, r.text); assert.equal(r.json.detail, 'MCP URL points to a private or local address'); };

  test('a server at a public address is reached', async () => {
    const r = await discover(urlWithHost('good.example', good));
    assert.equal(r.status, 200, r.text);
    assert.deepEqual(r.json.tools.map((t) => t.name), ['echo']);
  });

  for (const [resolves, ...lines] of [['only resolves', '127.0.0.1 bad.example'], ['also resolves', `${address} bad.example`, '127.0.0.1 bad.example'],
    ['resolves over IPv6', '::1 bad.example'], ['resolves as an IPv4-mapped address', '::ffff:127.0.0.1 bad.example'], ['resolves (metadata service)', '169.254.169.254 bad.example']]) {
    test(`a name that ${resolves} to a private address is refused`, async () => {
      const privatePeer = await startScriptedServer();
      try {
        writeHosts(`${address} good.example`, ...lines);
        for (const type of ['http', 'sse']) expectRefused(await discover(urlWithHost('bad.example', privatePeer), type));
        assert.equal(privatePeer.seen.length, 0);
      } finally {
        privatePeer.close();
      }
    });
  }

  test('an agent cannot be stored with a server at a private address, on any route', async () => {
    const mcps = (type, url) => ({ custom_mcps: [{ name: 'good', type: 'http', config: { url: urlWithHost('good.example', good) }, enabledTools: [] }, { name: 'x', type, config: { url }, enabledTools: [] }] });
    for (const url of ['http://127.0.0.1/', 'http://localhost:8080/mcp', 'http://[::1]/', 'http://10.1.2.3/', 'http://172.16.0.1/', 'http://192.168.1.1/', 'http://169.254.169.254/', 'HTTP://169.254.169.254/latest', 'http://2130706433/', 'http://0x7f.1/', 'http://[::ffff:10.0.0.1]/', 'http://0/']) {
      for (const type of ['http', 'sse']) {
        const answers = [await u.post('/agents', { json: { name: 'a', ...mcps(type, url) } }), await u.request('PUT', `/agents/${agent}`, { json: mcps(type, url) }),
          await u.request('PUT', `/agents/${agent}/custom-mcp-tools`, { json: mcps(type, url) })];
        assert.deepEqual(answers.map((r) => r.status), [422, 422, 400], `${type} ${url}: ${answers.map((r) => r.text)}`);
        for (const r of answers) assert.match(JSON.stringify(r.json.detail), /custom_mcps\[1\]\.config: MCP URL/, url);
      }
    }
    assert.equal((await u.post(`/agents/${agent}/custom-mcp-tools`, { json: { url: 'http://10.0.0.1/', type: 'http', enabled_tools: [] } })).status, 400);
    assert.deepEqual((await u.get(`/agents/${agent}`)).json.custom_mcps, []);
  });

  test('a name that resolves to a private address after its first check is refused', async () => {
    writeHosts(`${address} rebinding.example`);
    const first = await startScriptedServer(undefined, { host: address });
    const privatePeer = await startScriptedServer(undefined, { port: first.port });
    try {
      assert.equal((await discover(urlWithHost('rebinding.example', first))).status, 200);
      writeHosts('127.0.0.1 rebinding.example');
      expectRefused(await discover(urlWithHost('rebinding.example', first)));
      assert.equal(privatePeer.seen.length, 0);
    } finally {
      first.close();
      privatePeer.close();
    }
  });

  test('an unanswered DNS lookup ends at the time limit, over http and sse, for discovery and calls', async () => {
    const silent = createSocket('udp4');
    await new Promise((resolve) => silent.bind(53, '127.0.0.1', resolve));
    try {
      const url = 'http://silent.example:9/mcp';
      const put = await u.request('PUT', `/agents/${agent}/custom-mcp-tools`, { json: { custom_mcps: [{ name: 'nowhere', type: 'http', config: { url }, enabledTools: ['echo'] }] } });
      assert.equal(put.status, 200, put.text);
      const within = async (label, ms, work) => {
        const begun = performance.now();
        await work();
        assert.ok(performance.now() - begun < ms, `${label} took ${performance.now() - begun} ms`);
      };
      await Promise.all(['http', 'sse'].map((type) => within(type, 5700, async () => {
        const r = await discover(url, type);
        assert.equal(r.status, 504, r.text);
        assert.match(r.json.detail.message, /MCP server "(silent.example:9|nowhere)": .*5 seconds/);
      })));
      // The bound includes the wait for the tool list, because all calls share a name lookup in progress.
      await within('the run', 5000 + 5000 + 3000, async () => {
        const run = await u.start({ prompt: '[call nowhere__echo {}]' });
        assert.match(textOf((await u.stream(run.json.agent_run_id, { timeout: 30000 })).events), /MCP server "nowhere": .*(5 seconds|could not be resolved)/);
      });
    } finally {
      silent.close();
    }
  });

  test('unanswered DNS lookups do not delay the model requests of another user', async () => {
    const silent = createSocket('udp4');
    await new Promise((resolve) => silent.bind(53, '127.0.0.1', resolve));
    try {
      const other = await server.user({ tier: 'pro' });
      const begun = performance.now();
      const lookups = Array.from({ length: 100 }, (_, i) => discover(`http://silent${i}.example:9/mcp`));
      await sleep(500);
      const run = await other.start({ prompt: 'hello' });
      const { events } = await other.stream(run.json.agent_run_id, { timeout: 30000 });
      assert.match(textOf(events), /read_file/);
      assert.ok(performance.now() - begun < 4500, `the run ended after ${performance.now() - begun} ms`);
      for (const r of await Promise.all(lookups)) assert.equal(r.status, 504, r.text);
    } finally {
      silent.close();
    }
    // Abandoned lookups still occupy their threads; the next test needs a thread immediately.
    writeHosts(`${address} good.example`);
    await waitFor('a free lookup thread', async () => (await discover('http://good.example:9/mcp')).status !== 504, 60000);
  });

  test('a redirect to a private address, literal or by a rebinding name, is not followed', async () => {
    const privatePeer = await startScriptedServer();
    let location, rebind;
    const peer = await startScriptedServer((m, res) => { rebind?.(); res.writeHead(307, { location }).end(); return true; }, { host: address });
    try {
      writeHosts(`${address} good.example`, `${address} redirects.example`, '127.0.0.1 inside.example');
      for (location of [privatePeer.url, urlWithHost('inside.example', privatePeer), urlWithHost('redirects.example', privatePeer)]) {
        rebind = location.includes('redirects') ? () => writeHosts('127.0.0.1 redirects.example') : undefined;
        for (const type of ['http', 'sse']) {
          writeHosts(`${address} good.example`, `${address} redirects.example`, '127.0.0.1 inside.example');
          const r = await discover(urlWithHost('redirects.example', peer), type);
          assert.ok(r.status === 502 || r.status === 400, r.text);
        }
      }
      assert.equal(privatePeer.seen.length, 0);
    } finally {
      peer.close();
      privatePeer.close();
    }
  });

  test('an SSE endpoint event with a private address does not redirect messages there', async () => {
    const privatePeer = await startScriptedServer();
    const peer = http.createServer((req, res) => { res.writeHead(200, { 'content-type': 'text/event-stream' }); res.write(`event: endpoint\ndata: ${privatePeer.url}\n\n`); });
    await new Promise((r) => peer.listen(0, address, r));
    writeHosts(`${address} good.example`);
    const r = await discover(`http://good.example:${peer.address().port}/sse`, 'sse');
    assert.equal(r.status, 502, r.text);
    assert.match(r.json.detail.message, /not its own/);
    assert.equal(privatePeer.seen.length, 0);
    peer.closeAllConnections();
    peer.close();
    privatePeer.close();
  });

  test('servers that rebind to a private address or fail do not affect other servers', async () => {
    const privatePeer = await startScriptedServer();
    writeHosts(`${address} good.example`, `${address} rebinding.example`);
    const put = await u.request('PUT', `/agents/${agent}/custom-mcp-tools`, { json: { custom_mcps: [
      { name: 'rebound', type: 'http', config: { url: urlWithHost('rebinding.example', privatePeer) }, enabledTools: ['echo'] },
      { name: 'dead', type: 'http', config: { url: `http://good.example:1/mcp` }, enabledTools: ['echo'] },
      { name: 'good', type: 'http', config: { url: urlWithHost('good.example', good) }, enabledTools: ['echo'] }] } });
    assert.equal(put.status, 200, put.text);
    writeHosts(`${address} good.example`, '127.0.0.1 rebinding.example');
    const use = async (tool) => textOf((await u.stream((await u.start({ prompt: `[call ${tool} {}]` })).json.agent_run_id)).events);
    assert.match(await use('good__echo'), /called echo/);
    assert.match(await use('rebound__echo'), /MCP server "rebound": .*private or local address/);
    assert.match(await use('dead__echo'), /MCP server "dead": /);
    assert.equal(privatePeer.seen.length, 0);
    privatePeer.close();
  });
}
