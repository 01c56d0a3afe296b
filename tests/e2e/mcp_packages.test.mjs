// The package cache of local programs started by a package runner: each account downloads a package once, and damaged
// packages are downloaded again. Also resource limits of programs, which error messages name.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { startLlm } from './lib/llm.mjs';
import { callingModel, run } from './lib/mcp.mjs';
import { descendants, commandOf } from './lib/processes.mjs';
import { Server, makeDatabase, waitFor } from './lib/server.mjs';

// The program of the package: a server with one tool and no dependencies.
const program = `#!/usr/bin/env node
const say = (m) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...m }) + '\\n');
require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const m = JSON.parse(line);
  if (m.method === 'initialize') say({ id: m.id, result: { protocolVersion: '2025-11-25', capabilities: { tools: {} } } });
  else if (m.method === 'tools/list') say({ id: m.id, result: { tools: [{ name: 'hello', inputSchema: { type: 'object' } }] } });
  else if (m.method === 'tools/call') say({ id: m.id, result: { content: [{ type: 'text', text: 'hello from the package' }] } });
  else if (m.id !== undefined) say({ id: m.id, error: { code: -32601, message: 'no' } });
});
`;
// A tar archive of regular files.
function tar(files) {
  const blocks = [];
  for (const [name, text, mode] of files) {
    const head = Buffer.alloc(512);
    const put = (at, value) => head.write(value, at, 'latin1');
    put(0, name);
    put(100, `${mode}\0`);
    put(108, '0000000\0');
    put(116, '0000000\0');
    put(124, `${text.length.toString(8).padStart(11, '0')}\0`);
    put(136, '00000000000\0');
    put(148, '        ');
    put(156, '0');
    put(257, 'ustar\x0000');
    put(148, `${head.reduce((a, b) => a + b, 0).toString(8).padStart(6, '0')}\0 `);
    blocks.push(head, Buffer.from(text), Buffer.alloc((512 - (text.length % 512)) % 512));
  }
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}
async function startRegistry() {
  const manifest = { name: 'pocket-server', version: '1.0.0', bin: { 'pocket-server': 'main.js' } };
  const archive = gzipSync(tar([['package/package.json', JSON.stringify(manifest), '0000644'], ['package/main.js', program, '0000755']]));
  const seen = { tarballs: 0, documents: 0 };
  const server = http.createServer((req, res) => {
    if (req.url.endsWith('.tgz')) { seen.tarballs++; return res.end(archive); }
    if (req.url !== '/pocket-server') return res.writeHead(404).end('{}');
    seen.documents++;
    const dist = { tarball: `${url}pocket-server/-/pocket-server-1.0.0.tgz`, integrity: `sha512-${createHash('sha512').update(archive).digest('base64')}`,
      shasum: createHash('sha1').update(archive).digest('hex') };
    res.writeHead(200, { 'content-type': 'application/json' });
    res.end(JSON.stringify({ name: manifest.name, 'dist-tags': { latest: '1.0.0' }, versions: { '1.0.0': { ...manifest, dist } } }));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${server.address().port}/`;
  return { url, seen, close: () => { server.closeAllConnections(); server.close(); } };
}

let database, llm, server, registry;
const packages = () => path.join(server.dir, 'data/modules/mcp_json/packages');
const accounts = () => (existsSync(packages()) ? readdirSync(packages()).filter((n) => !n.startsWith('.')) : []);
before(async () => {
  database = makeDatabase();
  llm = await startLlm(callingModel);
  registry = await startRegistry();
  // Programs exit soon after a call, so that packages are not in use for long.
  server = await new Server({ database, llm, set: ['mcp.list_wait_seconds=30', 'mcp.reuse_idle_seconds=1', 'mcp_json.processes=64', 'mcp_json.scratch_mb=8', 'mcp_json.wall_seconds=600', 'mcp_json.package_cache_days=3'] }).start();
});
after(async () => {
  await server?.close();
  registry?.close();
  await llm?.close();
  database?.drop();
});

const pocket = () => ({ command: 'npx', args: ['-y', 'pocket-server'], env: { npm_config_registry: registry.url } });
async function userWithServer(config) {
  const u = await server.user({ tier: 'pro' });
  const agent = (await u.get('/agents')).json.agents[0].agent_id;
  const r = await u.request('PUT', `/agents/${agent}/custom-mcp-tools`, { json: { custom_mcps: [{ name: 'remote', type: 'json', config, enabledTools: ['hello'] }] } });
  assert.equal(r.status, 200, r.text);
  return u;
}
const hello = async (u) => assert.equal(await run(u, '[call remote__hello {}]'), 'said: hello from the package');
const cachedPackages = (u) => (accounts().includes(u.id) ? readdirSync(path.join(packages(), u.id)) : []).map((n) => path.join(packages(), u.id, n)).filter((d) => existsSync(path.join(d, 'filled')));

test('a package is downloaded once for an account, and again for another one', async () => {
  const u = await userWithServer(pocket());
  await hello(u);
  await waitFor('the packages to be cached', () => cachedPackages(u).length === 1);
  const { tarballs, documents } = registry.seen;
  await hello(u);
  await hello(u);
  assert.deepEqual(registry.seen, { tarballs, documents }, 'the registry is not contacted again');
  const other = await userWithServer(pocket());
  await hello(other);
  assert.ok(registry.seen.tarballs > tarballs);
  assert.ok(accounts().includes(u.id) && accounts().includes(other.id));
});

// Truncates every file of the cached packages.
function damage(directory) {
  for (const e of readdirSync(directory, { withFileTypes: true })) {
    const at = path.join(directory, e.name);
    if (e.isDirectory()) damage(at);
    else if (e.isFile()) truncateSync(at);
  }
}
test('damaged packages are downloaded again, in the same call', async () => {
  const u = await userWithServer(pocket());
  await hello(u);
  await waitFor('the packages to be cached', () => cachedPackages(u).length === 1);
  const { tarballs } = registry.seen;
  damage(path.join(cachedPackages(u)[0], 'data'));
  await hello(u);
  assert.ok(registry.seen.tarballs > tarballs);
  await waitFor('the packages to be cached', () => cachedPackages(u).length === 1);
  const now = { ...registry.seen };
  await hello(u);
  assert.deepEqual(registry.seen, now);
});

test('packages older than package_cache_days are downloaded again, and old packages are deleted', async () => {
  const u = await userWithServer(pocket());
  await hello(u);
  await waitFor('the packages to be cached', () => cachedPackages(u).length === 1);
  const setAge = (directory, hours) => utimesSync(path.join(directory, 'filled'), new Date(), new Date(Date.now() - hours * 3600_000));
  // Packages of commands that the account no longer uses.
  const unused = (name, hours) => {
    const directory = path.join(packages(), u.id, name);
    mkdirSync(path.join(directory, 'data'), { recursive: true });
    writeFileSync(path.join(directory, 'filled'), 'filled\n');
    setAge(directory, hours);
    return directory;
  };
  const used = cachedPackages(u);
  const old = unused('old', 3 * 24 + 1), recent = unused('recent', 3 * 24 - 1);
  const { tarballs } = registry.seen;
  // A running program shares its packages with the next program, even if they are old. The server notices the exit of
  // a program shortly after its process is gone.
  await waitFor('packages to be downloaded again', async () => {
    await waitFor('the program to exit', () => !descendants(server.process.pid).some((p) => commandOf(p).join(' ').includes('pocket-server')), 60000);
    used.filter((d) => existsSync(path.join(d, 'filled'))).forEach((d) => setAge(d, 3 * 24 + 1));  // the last call may have replaced them
    await hello(u);
    return registry.seen.tarballs > tarballs;
  }, 60000);
  await waitFor('the old packages to be deleted', () => !existsSync(old), 60000);
  assert.ok(existsSync(recent));
});

const list = async (config, at = server) => {
  const admin = await at.user({ tier: 'pro' });
  const agent = (await admin.get('/agents')).json.agents[0].agent_id;
  await admin.request('PUT', `/agents/${agent}/custom-mcp-tools`, { json: { custom_mcps: [{ name: 'remote', type: 'json', config, enabledTools: ['hello'] }] } });
  return admin.get(`/agents/${agent}/custom-mcp-tools`, { headers: { 'x-mcp-url': 'remote', 'x-mcp-type': 'json' } });
};
test('an error names the limit that a program reached: processes or scratch space', async () => {
  const forks = await list({ command: 'sh', args: ['-c', 'for i in $(seq 200); do sleep 20 & done; wait'] });
  assert.equal(forks.status, 502, forks.text);
  assert.match(forks.json.detail.message, /the limit mcp_json\.processes = 64 was reached/);
  const scratch = await list({ command: 'sh', args: ['-c', 'head -c 20000000 /dev/zero > big || exit 3'] });
  assert.equal(scratch.status, 502, scratch.text);
  assert.match(scratch.json.detail.message, /the limit mcp_json\.scratch_mb = 8 was reached/);
});

test('packages above the cache limit per account or in total are evicted, least recently used first', async () => {
  const small = await new Server({ database, llm, set: ['mcp.list_wait_seconds=30', 'mcp.reuse_idle_seconds=1', 'mcp_json.package_cache_mb=2', 'mcp_json.package_cache_total_mb=3'] }).start();
  try {
    const u = await small.user({ tier: 'pro' });
    const agent = (await u.get('/agents')).json.agents[0].agent_id;
    const runWithNumber = async (n) => {
      const r = await u.request('PUT', `/agents/${agent}/custom-mcp-tools`, { json: { custom_mcps: [{ name: `s${n}`, type: 'json', config: { ...pocket(), args: ['-y', 'pocket-server', `--number=${n}`] }, enabledTools: ['hello'] }] } });
      assert.equal(r.status, 200, r.text);
      assert.equal(await run(u, `[call s${n}__hello {}]`), 'said: hello from the package');
    };
    const root = path.join(small.dir, 'data/modules/mcp_json/packages', u.id);
    // Two packages of this size exceed the limit of the account, but not the limit of all accounts.
    const enlarge = (d, bytes = 1_350_000) => writeFileSync(path.join(d, 'data/more'), Buffer.alloc(bytes));
    await runWithNumber(1);
    await waitFor('the first package to be cached', () => existsSync(root) && readdirSync(root).length === 1);
    const [first] = readdirSync(root);
    enlarge(path.join(root, first));
    await runWithNumber(2);
    await waitFor('the second package to be cached', () => readdirSync(root).some((n) => n !== first && existsSync(path.join(root, n, 'filled'))));
    const second = readdirSync(root).find((n) => n !== first);
    enlarge(path.join(root, second));
    // The packages of another account are the oldest, and exceed only the limit of all accounts.
    const others = path.join(root, '../0192f0c1-2d3e-7f00-8a1b-0123456789ab/packages');
    mkdirSync(path.join(others, 'data'), { recursive: true });
    writeFileSync(path.join(others, 'filled'), 'filled\n');
    enlarge(others, 600_000);
    utimesSync(others, new Date(), new Date(Date.now() - 3600_000));
    await runWithNumber(2);
    await waitFor('the packages of the other account to be evicted', () => !existsSync(others));
    await waitFor('the first package to be evicted', () => !readdirSync(root).includes(first));
    assert.ok(readdirSync(root).includes(second));
  } finally {
    await small.close();
  }
});

test('on a nearly full disk, a program with a package cache is rejected with that reason', async () => {
  const full = await new Server({ database, llm, set: ['sandbox_bubblewrap.min_free_mb=1000000000'] }).start();
  try {
    const refused = await list(pocket(), full);
    assert.equal(refused.status, 502, refused.text);
    assert.match(refused.json.detail.message, /the disk of the server is nearly full/);
    // A program without a cache writes to memory only.
    const other = await list({ command: 'sh', args: ['-c', 'exit 3'] }, full);
    assert.match(other.json.detail.message, /exit code 3/);
  } finally {
    await full.close();
  }
});
