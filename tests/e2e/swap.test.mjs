// Modules are swapped, taken out and put in under traffic: no request fails, no event is lost or doubled, and
// what cannot be swapped leaves everything as it was.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { appendFileSync, copyFileSync, cpSync, readFileSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { startLlm } from './lib/llm.mjs';
import { slowWords, watch, words } from './lib/reader.mjs';
import { Client, Server, binary, build, makeDatabase, sleep, waitFor } from './lib/server.mjs';

const clients = Number(process.env.RY_SWAP_CLIENTS ?? 24);
const rounds = Number(process.env.RY_SWAP_ROUNDS ?? 2);

let database, llm, server, admin, modules;

before(async () => {
  database = makeDatabase();
  llm = await startLlm(slowWords);
  server = new Server({ database, llm, settings: `
[runs]
drain_seconds = 1
[reload]
drain_seconds = 12
[accounts.tiers.free]
concurrent_runs = 100
threads = 100000
` });
  // A copy of the modules, so that files can be replaced.
  modules = path.join(server.dir, 'modules');
  cpSync(path.join(build, 'modules'), modules, { recursive: true });
  server.set.push(`modules.path=${modules}`);
  await server.start();
  admin = new Client(server, server.token({ role: 'admin' }));
});
after(async () => {
  await server?.close();
  await llm?.close();
  database?.drop();
});

const runyard = (...args) => new Promise((resolve) => {
  const child = spawn(binary, args, { env: { ...process.env, RUNYARD_URL: server.url } });
  let out = '', err = '';
  child.stdout.on('data', (d) => (out += d));
  child.stderr.on('data', (d) => (err += d));
  child.on('close', (code) => resolve({ code, out, err }));
});
const change = async (what, name) => {
  const set = [...server.set, `data_dir=${path.join(server.dir, 'data')}`].flatMap((s) => ['--set', s]);
  const r = await runyard('modules', what, name, '--config', server.config, '--json', ...set);
  if (r.code === 0) r.json = JSON.parse(r.out);
  return r;
};
const place = (name, from) => {
  const next = path.join(modules, `.${name}.next`);
  copyFileSync(from, next);
  renameSync(next, path.join(modules, `${name}.so`));
};
const state = async (name) => (await admin.get('/admin/modules')).json.find((m) => m.name === name);

test('under streams and requests every module is swapped, and nobody notices', async () => {
  let over = false;
  const bad = [];
  const totals = { runs: 0, draining: 0, requests: 0 };
  const oneClient = async (user, i) => {
    for (let n = 0; !over || n === 0; n++) {
      const long = i % 8 === 0;  // outlasts a swap and is handed over
      const count = long ? 400 : 60;
      const r = await user.start({ prompt: `[words ${count}]` });
      if (r.status !== 200) { bad.push(`start: ${r.status} ${r.text}`); return; }
      const seen = await watch(`${server.url}/agent-run/${r.json.agent_run_id}/stream`, user.token).ended;
      totals.runs++;
      totals.draining += seen.draining;
      const numbers = seen.events.map((e) => e.sequence);
      if (!numbers.every((s, k) => s === k + 1)) bad.push(`sequence of ${r.json.agent_run_id}: ${numbers.join(' ')}`);
      if (seen.events.at(-1).status !== 'completed') bad.push(`end: ${JSON.stringify(seen.events.at(-1))}`);
      if (seen.text !== words(count)) bad.push(`text of ${r.json.agent_run_id}: ${seen.text.slice(0, 200)}`);
      if (seen.refused) bad.push(`stream refused: ${seen.refused}`);
    }
  };
  const requests = async (user) => {
    while (!over) {
      const r = await user.get('/account').catch((e) => ({ status: 0, text: String(e.cause ?? e) }));
      totals.requests++;
      if (r.status !== 200) { bad.push(`request: ${r.status} ${r.text}`); await sleep(100); }
    }
  };
  const users = await Promise.all(Array.from({ length: clients }, () => server.user()));
  const load = Promise.all([...users.map(oneClient), requests(users[0]), requests(users[1])]);
  await sleep(500);
  const descriptors = () => readdirSync(`/proc/${server.process.pid}/fd`).length;
  const memory = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.process.pid}/status`, 'utf8'))[1]);
  const mapped = () => new Set(readFileSync(`/proc/${server.process.pid}/maps`, 'utf8').match(/\/memfd:runyard\S*|\/[^\s]*modules\/[^\s]*\.so/g));
  const figures = [];
  try {
    for (let n = 0; n < rounds; n++) {
      for (const name of ['llm_openai', 'runs', 'accounts']) {
        const r = await change('reload', name);
        assert.equal(r.code, 0, r.err);
        assert.ok(r.json.started.some((m) => m.module === name), r.out);
        for (const left of r.json.left) assert.doesNotMatch(left.outcome, /retired/, r.out);
        assert.equal(r.json.cut_requests, 0);
      }
      figures.push({ descriptors: descriptors(), rss: memory() });
    }
  } finally {
    over = true;
    await load;
  }
  assert.deepEqual(bad, []);
  assert.ok(totals.runs >= clients && totals.requests > 50, JSON.stringify(totals));
  assert.ok(totals.draining > 0, 'no stream moved over');
  // What a generation held is given back: a leak would grow with each round.
  assert.ok(figures.at(-1).descriptors < figures[0].descriptors + 40, JSON.stringify(figures));
  const open = await admin.get('/admin/modules');
  assert.ok(open.json.filter((m) => m.state === 'started').every((m) => m.strikes === 0), open.text);
  if (!/sanit/.test(process.env.RY_BUILD_DIR ?? '') && !process.env.RY_SANITIZE)
    assert.equal([...mapped()].filter((f) => f.includes('runs.so')).length, 1, [...mapped()].join('\n'));
}, { timeout: 300000 });

test('what cannot be loaded, or does not fit, changes nothing', async () => {
  const before = await state('runs');
  writeFileSync(path.join(modules, '.runs.broken'), 'no library');
  place('runs', path.join(modules, '.runs.broken'));
  let r = await change('reload', 'runs');
  assert.equal(r.code, 2);
  assert.match(r.err, /runs\.so/);
  place('runs', path.join(build, 'modules/agents.so'));
  r = await change('reload', 'runs');
  assert.equal(r.code, 2);
  assert.match(r.err, /holds the module "agents", not "runs"/);
  assert.equal((await state('runs')).generation, before.generation);
  const user = await server.user();
  assert.equal((await user.start({ prompt: '[words 1]' })).status, 200);
  place('runs', path.join(build, 'modules/runs.so'));
  r = await change('reload', 'runs');
  assert.equal(r.code, 0, r.err);
  assert.ok((await state('runs')).generation > before.generation);
});

test('settings are read anew, and wrong ones are refused with file and line', async () => {
  const good = readFileSync(server.config, 'utf8');
  writeFileSync(server.config, good.replace('drain_seconds = 1\n', 'drain_seconds = 1\nmax_prompt_lenght = 5\n'));
  let r = await change('reload', 'runs');
  assert.equal(r.code, 2);
  assert.match(r.err, /runyard\.toml:\d+.*max_prompt_lenght/);
  writeFileSync(server.config, good);
  r = await change('reload', 'runs');
  assert.equal(r.code, 0, r.err);
});

test('a module goes and comes back; one that others need stays', async () => {
  let r = await change('disable', 'accounts');
  assert.equal(r.code, 2);
  assert.match(r.err, /needs accounts\/1/);
  const user = await server.user();
  assert.equal((await user.get('/mcp/profiles')).status, 200);
  r = await change('disable', 'mcp_prebuilt');
  assert.equal(r.code, 0, r.err);
  assert.equal((await user.get('/mcp/profiles')).status, 404);
  assert.equal((await state('mcp_prebuilt')).state, 'disabled');
  r = await change('disable', 'mcp_prebuilt');
  assert.equal(r.code, 2);
  assert.match(r.err, /not running/);
  r = await change('enable', 'mcp_prebuilt');
  assert.equal(r.code, 0, r.err);
  assert.equal((await user.get('/mcp/profiles')).status, 200);
  assert.equal((await change('enable', 'mcp_prebuilt')).code, 2);
  assert.equal((await change('reload', 'nobody')).code, 2);
});

test('only an admin changes modules', async () => {
  const user = await server.user();
  assert.equal((await user.post('/admin/modules/runs/reload')).status, 403);
  assert.equal((await user.get('/admin/modules')).status, 403);
  assert.equal((await new Client(server).post('/admin/modules/runs/disable')).status, 401);
});

test('a changed file is reloaded by itself where that is configured', async () => {
  await server.stop();
  server.set.push('reload.on_file_change=true');
  await server.start();
  const before = await state('llm_openai');
  const next = path.join(modules, '.llm_openai.next');
  copyFileSync(path.join(build, 'modules/llm_openai.so'), next);
  appendFileSync(next, '\0');  // other content, the same code
  renameSync(next, path.join(modules, 'llm_openai.so'));
  await waitFor('the new generation', async () => (await state('llm_openai')).generation > before.generation);
  const user = await server.user();
  const r = await user.start({ prompt: '[words 3]' });
  const seen = await watch(`${server.url}/agent-run/${r.json.agent_run_id}/stream`, user.token).ended;
  assert.equal(seen.text, words(3));
});
