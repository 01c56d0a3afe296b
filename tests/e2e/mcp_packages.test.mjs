// Local programs that a package runner downloads: each account downloads them once, and damaged packages are downloaded again.
// And the limits of programs, which an error names.
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

// The program of the package: a server of one tool, without dependencies.
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
// A tar file of plain files.
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
  // Programs end soon after a call, so that packages are not in use for long.
  server = await new Server({ database, llm, set: ['mcp.list_wait_seconds=30', 'mcp.reuse_idle_seconds=1', 'mcp_json.processes=64', 'mcp_json.scratch_mb=8', 'mcp_json.wall_seconds=600', 'mcp_json.package_cache_days=3'] }).start();
});
after(async () => {
  await server?.close();
  registry?.close();
  await llm?.close();
  database?.drop();
});

const pocket = () => ({ command: 'npx', args: ['-y', 'pocket-server'], env: { npm_config_registry: registry.url } });
async function userOf(config) {
  const u = await server.user({ tier: 'pro' });
  const agent = (await u.get('/agents')).json.agents[0].agent_id;
  const r = await u.request('PUT', `/agents/${agent}/custom-mcp-tools`, { json: { custom_mcps: [{ name: 'far', type: 'json', config, enabledTools: ['hello'] }] } });
  assert.equal(r.status, 200, r.text);
  return u;
}
const hello = async (u) => assert.equal(await run(u, '[call far__hello {}]'), 'said: hello from the package');
const filled = (u) => (accounts().includes(u.id) ? readdirSync(path.join(packages(), u.id)) : []).map((n) => path.join(packages(), u.id, n)).filter((d) => existsSync(path.join(d, 'filled')));

test('a package is downloaded once for an account, and again for another one', async () => {
  const u = await userOf(pocket());
  await hello(u);
  await waitFor('the packages to be kept', () => filled(u).length === 1);
  const { tarballs, documents } = registry.seen;
  await hello(u);
  await hello(u);
  assert.deepEqual(registry.seen, { tarballs, documents }, 'the registry is not asked again');
  const other = await userOf(pocket());
  await hello(other);
  assert.ok(registry.seen.tarballs > tarballs);
  assert.ok(accounts().includes(u.id) && accounts().includes(other.id));
});

// Every file of the kept packages cut to nothing.
function damage(directory) {
  for (const e of readdirSync(directory, { withFileTypes: true })) {
    const at = path.join(directory, e.name);
    if (e.isDirectory()) damage(at);
    else if (e.isFile()) truncateSync(at);
  }
}
test('damaged packages are downloaded anew, in the same call', async () => {
  const u = await userOf(pocket());
  await hello(u);
  await waitFor('the packages to be kept', () => filled(u).length === 1);
  const { tarballs } = registry.seen;
  damage(path.join(filled(u)[0], 'data'));
  await hello(u);
  assert.ok(registry.seen.tarballs > tarballs);
  await waitFor('the packages to be kept', () => filled(u).length === 1);
  const now = { ...registry.seen };
  await hello(u);
  assert.deepEqual(registry.seen, now);
});

test('packages are downloaded anew when they are older than package_cache_days, and old ones do not stay', async () => {
  const u = await userOf(pocket());
  await hello(u);
  await waitFor('the packages to be kept', () => filled(u).length === 1);
  const set_age = (directory, hours) => utimesSync(path.join(directory, 'filled'), new Date(), new Date(Date.now() - hours * 3600_000));
  // Packages of commands that the account does not use any more.
  const unused = (name, hours) => {
    const directory = path.join(packages(), u.id, name);
    mkdirSync(path.join(directory, 'data'), { recursive: true });
    writeFileSync(path.join(directory, 'filled'), 'filled\n');
    set_age(directory, hours);
    return directory;
  };
  const used = filled(u);
  const old = unused('old', 3 * 24 + 1), recent = unused('recent', 3 * 24 - 1);
  const { tarballs } = registry.seen;
  // A program that is still running shares its packages with the next one, even if they are old. The server learns of a
  // program's end a moment after its process is gone.
  await waitFor('packages to be downloaded anew', async () => {
    await waitFor('the program to end', () => !descendants(server.process.pid).some((p) => commandOf(p).join(' ').includes('pocket-server')), 60000);
    used.filter((d) => existsSync(path.join(d, 'filled'))).forEach((d) => set_age(d, 3 * 24 + 1));  // the last call may have replaced them
    await hello(u);
    return registry.seen.tarballs > tarballs;
  }, 60000);
  await waitFor('the old packages to go', () => !existsSync(old), 60000);
  assert.ok(existsSync(recent));
});

const list = async (config, at = server) => {
  const admin = await at.user({ tier: 'pro' });
  const agent = (await admin.get('/agents')).json.agents[0].agent_id;
  await admin.request('PUT', `/agents/${agent}/custom-mcp-tools`, { json: { custom_mcps: [{ name: 'far', type: 'json', config, enabledTools: ['hello'] }] } });
  return admin.get(`/agents/${agent}/custom-mcp-tools`, { headers: { 'x-mcp-url': 'far', 'x-mcp-type': 'json' } });
};
test('an error names the limit that a program met: processes, and room in its own files', async () => {
  const forks = await list({ command: 'sh', args: ['-c', 'for i in $(seq 200); do sleep 20 & done; wait'] });
  assert.equal(forks.status, 502, forks.text);
  assert.match(forks.json.detail.message, /the limit mcp_json\.processes = 64 was reached/);
  const room = await list({ command: 'sh', args: ['-c', 'head -c 20000000 /dev/zero > big || exit 3'] });
  assert.equal(room.status, 502, room.text);
  assert.match(room.json.detail.message, /the limit mcp_json\.scratch_mb = 8 was reached/);
});

test('packages beyond the size of the cache of an account or of all accounts go, the least recently used first', async () => {
  const small = await new Server({ database, llm, set: ['mcp.list_wait_seconds=30', 'mcp.reuse_idle_seconds=1', 'mcp_json.package_cache_mb=2', 'mcp_json.package_cache_total_mb=3'] }).start();
  try {
    const u = await small.user({ tier: 'pro' });
    const agent = (await u.get('/agents')).json.agents[0].agent_id;
    const with_arg = async (n) => {
      const r = await u.request('PUT', `/agents/${agent}/custom-mcp-tools`, { json: { custom_mcps: [{ name: `s${n}`, type: 'json', config: { ...pocket(), args: ['-y', 'pocket-server', `--number=${n}`] }, enabledTools: ['hello'] }] } });
      assert.equal(r.status, 200, r.text);
      assert.equal(await run(u, `[call s${n}__hello {}]`), 'said: hello from the package');
    };
    const root = path.join(small.dir, 'data/modules/mcp_json/packages', u.id);
    // Two of this size exceed the account's limit, but not the limit of all accounts.
    const grown = (d, bytes = 1_350_000) => writeFileSync(path.join(d, 'data/more'), Buffer.alloc(bytes));
    await with_arg(1);
    await waitFor('the first to be kept', () => existsSync(root) && readdirSync(root).length === 1);
    const [first] = readdirSync(root);
    grown(path.join(root, first));
    await with_arg(2);
    await waitFor('the second to be kept', () => readdirSync(root).some((n) => n !== first && existsSync(path.join(root, n, 'filled'))));
    const second = readdirSync(root).find((n) => n !== first);
    grown(path.join(root, second));
    // Those of another account are the oldest, and exceed only the limit of all accounts.
    const others = path.join(root, '../0192f0c1-2d3e-7f00-8a1b-0123456789ab/packages');
    mkdirSync(path.join(others, 'data'), { recursive: true });
    writeFileSync(path.join(others, 'filled'), 'filled\n');
    grown(others, 600_000);
    utimesSync(others, new Date(), new Date(Date.now() - 3600_000));
    await with_arg(2);
    await waitFor('those of the other account to go', () => !existsSync(others));
    await waitFor('the first to go', () => !readdirSync(root).includes(first));
    assert.ok(readdirSync(root).includes(second));
  } finally {
    await small.close();
  }
});

test('on a disk that is nearly full a program with a package cache is refused with that reason', async () => {
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
