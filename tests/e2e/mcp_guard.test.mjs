// The address guard of production against MCP servers that lead elsewhere. It takes a network of our own, in which
// a public address leads to this machine without being one of its interfaces, which the server refuses, and a hosts file that
// changes its mind: this file starts itself again inside.
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
const inside = process.env.RY_NETWORK_OF_ITS_OWN;

if (!inside) {
  test('in a network of its own', (t) => {
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
    if (r.status === 99 || /unshare/.test(r.stderr)) return t.skip(`this user may not make a network: ${r.stderr.trim()}`);
    assert.equal(r.status, 0, r.stdout + r.stderr);
    assert.match(r.stdout, /ℹ pass [1-9]/);
  });
} else {
  let database, llm, server, u, agent, good;
  const names = (...lines) => writeFileSync(inside, ['127.0.0.1 localhost', ...lines, ''].join('\n'));

  before(async () => {
    database = makeDatabase();
    names(`${address} good.example`);
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
  const at = (name, peer) => peer.url.replace(/\/\/[^:]+:/, `//${name}:`);
  const ask = (url, type = 'http') => u.get(`/agents/${agent}/custom-mcp-tools`, { headers: { 'x-mcp-url': url, 'x-mcp-type': type, 'cache-control': 'no-cache' } });
  const refused = (r) => { assert.equal(r.status, 400, r.text); assert.equal(r.json.detail, 'MCP URL points to a private or local address'); };

  test('a server at a public address is reached', async () => {
    const r = await ask(at('good.example', good));
    assert.equal(r.status, 200, r.text);
    assert.deepEqual(r.json.tools.map((t) => t.name), ['echo']);
  });

  for (const [what, ...lines] of [['only leads', '127.0.0.1 bad.example'], ['also leads', `${address} bad.example`, '127.0.0.1 bad.example'],
    ['leads by IPv6', '::1 bad.example'], ['leads by a mapped address', '::ffff:127.0.0.1 bad.example'], ['leads to metadata', '169.254.169.254 bad.example']]) {
    test(`a name that ${what} to a private address is refused`, async () => {
      const home = await startScriptedServer();
      try {
        names(`${address} good.example`, ...lines);
        for (const type of ['http', 'sse']) refused(await ask(at('bad.example', home), type));
        assert.equal(home.seen.length, 0);
      } finally {
        home.close();
      }
    });
  }

  test('an agent cannot be stored with a server at a private address, on any route', async () => {
    const mcps = (type, url) => ({ custom_mcps: [{ name: 'good', type: 'http', config: { url: at('good.example', good) }, enabledTools: [] }, { name: 'x', type, config: { url }, enabledTools: [] }] });
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

  test('a name that changes its mind after it was found good leads nowhere', async () => {
    names(`${address} turncoat.example`);
    const first = await startScriptedServer(undefined, { host: address });
    const home = await startScriptedServer(undefined, { port: first.port });
    try {
      assert.equal((await ask(at('turncoat.example', first))).status, 200);
      names('127.0.0.1 turncoat.example');
      refused(await ask(at('turncoat.example', first)));
      assert.equal(home.seen.length, 0);
    } finally {
      first.close();
      home.close();
    }
  });

  test('an unanswered lookup ends with the time limit, over http and sse, for a discovery and for a call', async () => {
    const silent = createSocket('udp4');
    await new Promise((resolve) => silent.bind(53, '127.0.0.1', resolve));
    try {
      const url = 'http://silent.example:9/mcp';
      const put = await u.request('PUT', `/agents/${agent}/custom-mcp-tools`, { json: { custom_mcps: [{ name: 'nowhere', type: 'http', config: { url }, enabledTools: ['echo'] }] } });
      assert.equal(put.status, 200, put.text);
      const within = async (what, ms, work) => {
        const begun = performance.now();
        await work();
        assert.ok(performance.now() - begun < ms, `${what} took ${performance.now() - begun} ms`);
      };
      await Promise.all(['http', 'sse'].map((type) => within(type, 5700, async () => {
        const r = await ask(url, type);
        assert.equal(r.status, 504, r.text);
        assert.match(r.json.detail.message, /MCP server "(silent.example:9|nowhere)": .*5 seconds/);
      })));
      // The test waits for the list first, because all calls share a name lookup in progress.
      await within('the run', 5000 + 5000 + 3000, async () => {
        const run = await u.start({ prompt: '[call nowhere__echo {}]' });
        assert.match(textOf((await u.stream(run.json.agent_run_id, { timeout: 30000 })).events), /MCP server "nowhere": .*(5 seconds|could not be resolved)/);
      });
    } finally {
      silent.close();
    }
  });

  test('unanswered lookups do not delay the model of another user', async () => {
    const silent = createSocket('udp4');
    await new Promise((resolve) => silent.bind(53, '127.0.0.1', resolve));
    try {
      const other = await server.user({ tier: 'pro' });
      const begun = performance.now();
      const asked = Array.from({ length: 100 }, (_, i) => ask(`http://silent${i}.example:9/mcp`));
      await sleep(500);
      const run = await other.start({ prompt: 'hello' });
      const { events } = await other.stream(run.json.agent_run_id, { timeout: 30000 });
      assert.match(textOf(events), /read_file/);
      assert.ok(performance.now() - begun < 4500, `the run ended after ${performance.now() - begun} ms`);
      for (const r of await Promise.all(asked)) assert.equal(r.status, 504, r.text);
    } finally {
      silent.close();
    }
    // Abandoned lookups still occupy their threads; the following request needs one immediately.
    names(`${address} good.example`);
    await waitFor('a thread for look-ups', async () => (await ask('http://good.example:9/mcp')).status !== 504, 60000);
  });

  test('a redirect to a private address, by itself or by a name that turns, is not followed', async () => {
    const home = await startScriptedServer();
    let location, turn;
    const peer = await startScriptedServer((m, res) => { turn?.(); res.writeHead(307, { location }).end(); return true; }, { host: address });
    try {
      names(`${address} good.example`, `${address} redirects.example`, '127.0.0.1 inside.example');
      for (location of [home.url, at('inside.example', home), at('redirects.example', home)]) {
        turn = location.includes('redirects') ? () => names('127.0.0.1 redirects.example') : undefined;
        for (const type of ['http', 'sse']) {
          names(`${address} good.example`, `${address} redirects.example`, '127.0.0.1 inside.example');
          const r = await ask(at('redirects.example', peer), type);
          assert.ok(r.status === 502 || r.status === 400, r.text);
        }
      }
      assert.equal(home.seen.length, 0);
    } finally {
      peer.close();
      home.close();
    }
  });

  test('a stream of events does not send messages to a private address', async () => {
    const home = await startScriptedServer();
    const peer = http.createServer((req, res) => { res.writeHead(200, { 'content-type': 'text/event-stream' }); res.write(`event: endpoint\ndata: ${home.url}\n\n`); });
    await new Promise((r) => peer.listen(0, address, r));
    names(`${address} good.example`);
    const r = await ask(`http://good.example:${peer.address().port}/sse`, 'sse');
    assert.equal(r.status, 502, r.text);
    assert.match(r.json.detail.message, /not its own/);
    assert.equal(home.seen.length, 0);
    peer.closeAllConnections();
    peer.close();
    home.close();
  });

  test('servers that turn bad or die do not hurt the others of an agent', async () => {
    const home = await startScriptedServer();
    names(`${address} good.example`, `${address} turncoat.example`);
    const put = await u.request('PUT', `/agents/${agent}/custom-mcp-tools`, { json: { custom_mcps: [
      { name: 'turned', type: 'http', config: { url: at('turncoat.example', home) }, enabledTools: ['echo'] },
      { name: 'dead', type: 'http', config: { url: `http://good.example:1/mcp` }, enabledTools: ['echo'] },
      { name: 'good', type: 'http', config: { url: at('good.example', good) }, enabledTools: ['echo'] }] } });
    assert.equal(put.status, 200, put.text);
    names(`${address} good.example`, '127.0.0.1 turncoat.example');
    const use = async (tool) => textOf((await u.stream((await u.start({ prompt: `[call ${tool} {}]` })).json.agent_run_id)).events);
    assert.match(await use('good__echo'), /called echo/);
    assert.match(await use('turned__echo'), /MCP server "turned": .*private or local address/);
    assert.match(await use('dead__echo'), /MCP server "dead": /);
    assert.equal(home.seen.length, 0);
    home.close();
  });
}
