// Modules are swapped, taken out and put in under traffic: no request fails, no event is lost or doubled, and
// what cannot be swapped leaves everything as it was.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { appendFileSync, copyFileSync, cpSync, mkdirSync, readFileSync, readdirSync, readlinkSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { startLlm } from './lib/llm.mjs';
import { wordsEach, watch, words } from './lib/reader.mjs';
import { Client, Server, binary, build, makeDatabase, sleep, slow, waitFor } from './lib/server.mjs';

// The big runs of bench/RESULTS.md set these, and RY_SWAP_FIGURES: a file that gets a line of figures each round.
const clients = Number(process.env.RY_SWAP_CLIENTS ?? 24);
const rounds = Number(process.env.RY_SWAP_ROUNDS ?? 1);
const swapped = (process.env.RY_SWAP_MODULES ?? 'llm_openai,runs,accounts').split(',');
const many = clients > 100;
// A sanitizer build keeps modules mapped unless RY_SANITIZE_UNMAP is set (CONTRIBUTING.md).
const unmaps = !process.env.RY_SANITIZE || process.env.RY_SANITIZE_UNMAP;
// Reader and model share two cores with the server: many streams get their words more slowly. A model's longest
// answer ends before a swap of its driver times out, and outlasts what runs are given.
const between = many ? clients * 1.5 * slow : Math.max(20, clients * 0.7);
const [shorter, longer] = many ? [8000 * slow ** 2, 11000 * slow ** 2] : [1200, 8000];
const drain = many ? 60 : swapped.includes('llm_openai') ? 12 : 6;

let database, llm, server, admin, modules;

before(async () => {
  database = makeDatabase();
  llm = await startLlm(wordsEach(between));
  server = new Server({ database, llm, settings: `
[runs]
drain_seconds = 1
[reload]
drain_seconds = ${drain}
[accounts.tiers.free]
concurrent_runs = 100
threads = 100000
` });
  // A copy of the modules, so that files can be replaced.
  modules = path.join(server.dir, 'modules');
  cpSync(path.join(build, 'modules'), modules, { recursive: true });
  server.set.push(`modules.path=${modules}`);
  // A machine that this load fills may leave a client no time to send for longer than a server waits by itself.
  if (many) for (const what of ['header', 'body_idle', 'request', 'write_stall']) server.set.push(`http.${what}_timeout_seconds=300`);
  await server.start({ timeout: process.env.RY_SANITIZE ? 120000 : 30000 });
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

const mean = (all) => all.reduce((sum, n) => sum + n, 0) / all.length;
// Of the server: resident KiB, open sockets, and everything else that is open.
function footprint() {
  const proc = `/proc/${server.process.pid}`;
  const open = readdirSync(`${proc}/fd`).map((fd) => { try { return readlinkSync(`${proc}/fd/${fd}`); } catch { return ''; } });
  return {
    rss: Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`${proc}/status`, 'utf8'))[1]),
    sockets: open.filter((to) => to.startsWith('socket:')).length,
    files: open.filter((to) => to && !to.startsWith('socket:')).length,
  };
}
const mappedCopies = (name) => new Set(readFileSync(`/proc/${server.process.pid}/maps`, 'utf8')
  .match(/\/memfd:runyard\S*|\/[^\s]*modules\/[^\s]*\.so/g)?.filter((file) => file.includes(`${name}.so`)));

test('every module is swapped under streams and requests without a failure', async (t) => {
  let over = false;
  const bad = [], waits = [], figures = [], changes = [];
  const live = new Set();  // resources of each open stream
  const totals = { runs: 0, events: 0, draining: 0, aborted: 0, least: Infinity };
  const failed = (e) => ({ status: 0, text: `${e} ${e.cause ?? ''}` });
  const oneClient = async (user, i) => {
    for (let n = 0; !over || n === 0; n++) {
      const long = i % 8 === 0;  // outlasts a swap and is handed over
      const count = Math.round((long ? longer : shorter) / between);
      const r = await user.start({ prompt: `[words ${count}]` }).catch(failed);
      if (r.status !== 200) { bad.push(`start: ${r.status} ${r.text}`); return; }
      const end = watch(`${server.url}/agent-run/${r.json.agent_run_id}/stream`, user.token, { timeout: slow * (90000 + rounds * 15000) }).ended
        .catch((e) => void bad.push(`${r.json.agent_run_id}: ${e.message}`));
      live.add(end);
      const seen = await end;
      live.delete(end);
      if (!seen) continue;
      totals.runs++;
      totals.draining += seen.draining;
      totals.events += seen.events.length;
      totals.aborted += seen.events.filter((e) => e.type === 'turn_aborted').length;
      const numbers = seen.events.map((e) => e.sequence);
      if (!numbers.every((s, k) => s === k + 1)) bad.push(`sequence of ${r.json.agent_run_id}: ${numbers.join(' ')}`);
      if (seen.events.at(-1).status !== 'completed') bad.push(`end: ${JSON.stringify(seen.events.at(-1))}`);
      if (seen.text !== words(count)) bad.push(`text of ${r.json.agent_run_id}: ${seen.text.slice(0, 200)}`);
      if (seen.refused) bad.push(`stream refused: ${seen.refused}`);
    }
  };
  const requests = async (user) => {
    while (!over) {
      const begun = performance.now();
      const r = await user.get('/account').catch(failed);
      waits.push(performance.now() - begun);
      if (r.status !== 200) { bad.push(`request: ${r.status} ${r.text}`); await sleep(100); }
    }
  };
  const users = await Promise.all(Array.from({ length: Math.min(clients, 50) }, () => server.user()));
  const load = Promise.all([...Array.from({ length: clients }, (_, i) => oneClient(users[i % users.length], i)),
    requests(users[0]), requests(users[1])]);
  const crowded = () => waitFor('streams are open', () => live.size >= clients * 0.96 || bad.length, 120000 * slow);
  await crowded();
  // Before there was an end of everything, memory has not been what it will be.
  if (many && !process.env.RY_SANITIZE) await waitFor('as many ends as clients', () => totals.runs >= clients || bad.length, 2 * longer + 120000);
  try {
    let cut = [];
    for (let n = 0; n < rounds && !bad.length; n++) {
      // An answer that each swap begins anew would never end, and its run would grow.
      await Promise.all(cut);
      await crowded();
      if (swapped.includes('runs')) cut = [...live];
      for (const name of swapped) {
        totals.least = Math.min(totals.least, live.size);
        const r = await change('reload', name);
        assert.equal(r.code, 0, r.err);
        assert.ok(r.json.started.some((m) => m.module === name), r.out);
        for (const left of r.json.left) assert.match(left.outcome, unmaps ? /^unloaded$/ : /^ended/, r.out);
        assert.equal(r.json.cut_requests, 0, r.out);
        changes.push(r.json);
      }
      figures.push(footprint());
      if (process.env.RY_SWAP_FIGURES) appendFileSync(process.env.RY_SWAP_FIGURES, JSON.stringify({ ...figures.at(-1), ...totals, live: live.size }) + '\n');
    }
  } finally {
    over = true;
    await load;
  }
  assert.deepEqual(bad.slice(0, 20), []);
  assert.ok(totals.runs >= clients && waits.length > 50, JSON.stringify(totals));
  if (swapped.includes('runs')) assert.ok(totals.draining > 0, 'no stream moved over');
  // What a generation held is given back: a leak grows with each round. Whole thirds are compared, because each
  // figure is of another moment; the first rounds fill caches.
  const warm = figures.slice(Math.ceil(rounds / 10));
  const third = Math.floor(warm.length / 3);
  const part = (what, from, to) => mean(warm.slice(from, to).map((f) => f[what]));
  const growth = Object.fromEntries(third < 3 ? [] : Object.keys(warm[0]).map((what) =>
    [what, [part(what, 0, third), part(what, warm.length - third)]]));
  for (const [what, [first, last]] of Object.entries(growth))
    // A sanitizer remembers every loaded library, and reports leaks of the server at the end.
    if (what === 'rss' ? !process.env.RY_SANITIZE : unmaps) assert.ok(last <= first * 1.05 + 10, `${what} grows: ${first} -> ${last}; ${JSON.stringify(figures)}`);
  waits.sort((a, b) => a - b);
  t.diagnostic(JSON.stringify({ ...totals, swaps: changes.length, modules_started: changes.reduce((n, c) => n + c.started.length, 0),
    swap_ms: Math.round(mean(changes.map((c) => c.swap_ms))), total_ms: Math.round(mean(changes.map((c) => c.total_ms))),
    requests: waits.length, request_ms_p50: +waits[waits.length >> 1].toFixed(1), request_ms_p99: +waits[Math.floor(waits.length * 0.99)].toFixed(1),
    request_ms_max: +waits.at(-1).toFixed(1), first: figures[0], last: figures.at(-1), growth }));
  const open = await admin.get('/admin/modules');
  assert.ok(open.json.filter((m) => m.state === 'started').every((m) => m.strikes === 0), open.text);
  if (unmaps) for (const name of swapped) assert.equal(mappedCopies(name).size, 1, name);
}, { timeout: 300000 + rounds * 45000 * slow });

test('generations that are gone leave nothing behind', async () => {
  const name = 'mcp_json', all = [];
  for (let n = 0; n < 45; n++) {
    const r = await admin.post(`/admin/modules/${name}/reload`);
    assert.equal(r.status, 200, r.text);
    for (const left of r.json.left) assert.match(left.outcome, unmaps ? /^unloaded$/ : /^ended/, r.text);
    if (n >= 15) all.push(footprint());
  }
  if (unmaps) assert.equal(mappedCopies(name).size, 1);
  const part = (what, from) => mean(all.slice(from, from + 10).map((f) => f[what]));
  // The library alone is some hundred KiB.
  for (const what of unmaps ? ['rss', 'sockets', 'files'] : ['sockets'])
    if (what !== 'rss' || !process.env.RY_SANITIZE)
      assert.ok(part(what, 20) <= part(what, 0) * 1.05 + 3, `${what} grows: ${JSON.stringify(all)}`);
});

test('a library that cannot be loaded or does not fit changes nothing', async () => {
  const before = await state('runs');
  writeFileSync(path.join(modules, '.runs.broken'), 'no library');
  place('runs', path.join(modules, '.runs.broken'));
  let r = await change('reload', 'runs');
  assert.equal(r.code, 1);
  assert.match(r.err, /runs\.so/);
  place('runs', path.join(build, 'modules/agents.so'));
  r = await change('reload', 'runs');
  assert.equal(r.code, 1);
  assert.match(r.err, /holds the module "agents", not "runs"/);
  assert.equal((await state('runs')).generation, before.generation);
  const user = await server.user();
  assert.equal((await user.start({ prompt: '[words 1]' })).status, 200);
  place('runs', path.join(build, 'modules/runs.so'));
  r = await change('reload', 'runs');
  assert.equal(r.code, 0, r.err);
  assert.ok((await state('runs')).generation > before.generation);
});

test('a file overwritten in place, as cp does, does not affect the running module', async () => {
  const before = await state('runs');
  const user = await server.user();
  const open = await user.start({ prompt: '[words 40]' });
  const reading = watch(`${server.url}/agent-run/${open.json.agent_run_id}/stream`, user.token).ended;
  for (const name of ['runs', 'accounts', 'llm_openai']) writeFileSync(path.join(modules, `${name}.so`), 'cut short');
  assert.equal((await reading).text, words(40));
  const next = await user.start({ prompt: '[words 2]' });
  assert.equal((await watch(`${server.url}/agent-run/${next.json.agent_run_id}/stream`, user.token).ended).text, words(2));
  let r = await change('reload', 'runs');
  assert.equal(r.code, 1);
  assert.match(r.err, /runs\.so.*not an ELF file/);
  assert.equal((await state('runs')).generation, before.generation);
  for (const name of ['runs', 'accounts', 'llm_openai']) place(name, path.join(build, `modules/${name}.so`));
  r = await change('reload', 'runs');
  assert.equal(r.code, 0, r.err);
});

test('settings are read anew, and wrong ones are refused with file and line', async () => {
  const good = readFileSync(server.config, 'utf8');
  writeFileSync(server.config, good.replace('drain_seconds = 1\n', 'drain_seconds = 1\nmax_prompt_lenght = 5\n'));
  let r = await change('reload', 'runs');
  assert.equal(r.code, 1);
  assert.match(r.err, /runyard\.toml:\d+.*max_prompt_lenght/);
  writeFileSync(server.config, good);
  r = await change('reload', 'runs');
  assert.equal(r.code, 0, r.err);
});

test('a change names the running modules whose changed settings it does not apply', async () => {
  const good = readFileSync(server.config, 'utf8');
  const unapplied = async (what, name) => {
    const r = await change(what, name);
    assert.equal(r.code, 0, r.err);
    return r.json.unapplied_settings;
  };
  assert.deepEqual(await unapplied('reload', 'webhooks'), []);
  writeFileSync(server.config, good.replace('[runs]\n', '[runs]\nmax_steps = 77\n'));
  try {
    assert.deepEqual(await unapplied('disable', 'webhooks'), ['runs']);
    assert.deepEqual(await unapplied('enable', 'webhooks'), ['runs']);
    const set = [...server.set, `data_dir=${path.join(server.dir, 'data')}`].flatMap((s) => ['--set', s]);
    const text = await runyard('modules', 'reload', 'webhooks', '--config', server.config, ...set);
    assert.match(text.out, /^note +the settings of runs have changed and are not applied; apply them with `runyard modules reload runs`$/m);
    assert.match(server.log, /warning.*settings of a running module have changed and are not applied module=runs/);
    assert.deepEqual(await unapplied('reload', 'runs'), []);
    assert.deepEqual(await unapplied('reload', 'webhooks'), []);
  } finally {
    writeFileSync(server.config, good);
  }
  assert.deepEqual(await unapplied('reload', 'runs'), []);
});

test('a module goes and comes back; one that others need stays', async () => {
  let r = await change('disable', 'accounts');
  assert.equal(r.code, 1);
  assert.match(r.err, /because these modules need it: agents, .*runs/);
  const user = await server.user();
  assert.equal((await user.get('/mcp/profiles')).status, 200);
  r = await change('disable', 'mcp_prebuilt');
  assert.equal(r.code, 0, r.err);
  assert.equal((await user.get('/mcp/profiles')).status, 404);
  assert.equal((await state('mcp_prebuilt')).state, 'disabled');
  r = await change('disable', 'mcp_prebuilt');
  assert.equal(r.code, 1);
  assert.match(r.err, /not running/);
  r = await change('enable', 'mcp_prebuilt');
  assert.equal(r.code, 0, r.err);
  assert.equal((await user.get('/mcp/profiles')).status, 200);
  assert.equal((await change('enable', 'mcp_prebuilt')).code, 1);
  assert.equal((await change('reload', 'nobody')).code, 1);
});

test('dependents of a module are swapped with it, no others', async () => {
  const generations = async () => Object.fromEntries((await admin.get('/admin/modules')).json.map((m) => [m.name, m.generation]));
  const before = await generations();
  const r = await change('reload', 'mcp');
  assert.equal(r.code, 0, r.err);
  const now = await generations();
  const followed = Object.keys(now).filter((name) => now[name] !== before[name]).sort();
  assert.deepEqual(followed, ['mcp', 'mcp_http', 'mcp_json', 'mcp_prebuilt', 'mcp_sse', 'sandbox_bubblewrap']);
  assert.deepEqual(r.json.started.map((m) => m.module).sort(), followed);
});

test('only an admin changes modules', async () => {
  const user = await server.user();
  assert.equal((await user.post('/admin/modules/runs/reload')).status, 403);
  assert.equal((await user.get('/admin/modules')).status, 403);
  assert.equal((await new Client(server).post('/admin/modules/runs/disable')).status, 401);
});

// Other content, the same code.
const touched = (name, file = path.join(modules, `${name}.so`)) => {
  const next = path.join(path.dirname(file), `.${name}.touched`);
  copyFileSync(path.join(build, `modules/${name}.so`), next);
  appendFileSync(next, '\0');
  renameSync(next, file);
};
const audited = (what, fits) => waitFor(`${what} in the audit`, async () =>
  (await admin.get('/admin/audit?limit=100')).json.entries.find((e) => e.action === what && fits(e)));

test('a changed file is reloaded automatically if configured, and only with the pinned hash', async () => {
  let before = await state('llm_openai');
  touched('llm_openai');
  await sleep(1500);
  assert.equal((await state('llm_openai')).generation, before.generation, 'nobody asked for it');

  await server.stop();
  const pin = createHash('sha256').update(readFileSync(path.join(modules, 'mcp_json.so'))).digest('hex');
  server.set.push('reload.on_file_change=true', `modules.mcp_json.sha256=${pin}`, `modules.mcp_sse.sha256=${pin}`,
    'modules.mcp_sse.required=false');
  place('llm_openai', path.join(build, 'modules/llm_openai.so'));
  // One that lies elsewhere, under another name.
  const elsewhere = path.join(server.dir, 'elsewhere');
  mkdirSync(elsewhere);
  const webhooks = path.join(elsewhere, 'outgoing-2.so');
  copyFileSync(path.join(build, 'modules/webhooks.so'), webhooks);
  server.set.push(`modules.webhooks.path=${webhooks}`);
  await server.start();
  assert.match((await state('mcp_sse')).reason, /pins/, 'it has another content');
  assert.equal((await state('mcp_sse')).state, 'refused');
  before = await state('llm_openai');
  const pinned = await state('mcp_json');
  assert.equal(pinned.state, 'started');
  touched('mcp_json');
  touched('llm_openai');
  await waitFor('the new generation', async () => (await state('llm_openai')).generation > before.generation);
  const r = await change('reload', 'mcp_json');
  assert.equal(r.code, 1);
  assert.match(r.err, /pins/);
  assert.equal((await state('mcp_json')).generation, pinned.generation);
  const old = await state('webhooks');
  assert.equal(old.file, webhooks);
  touched('webhooks', webhooks);
  await waitFor('the new generation of what lies elsewhere', async () => (await state('webhooks')).generation > old.generation);
  for (const name of ['llm_openai', 'webhooks']) {
    const reported = await audited('module.reload', (e) => e.actor === 'host:file_change' && e.detail.module === name);
    assert.deepEqual(reported.detail, { module: name });
  }
  // Refused changes are recorded as well, by each kind of actor.
  for (const by of [(actor) => actor === 'host:file_change', (actor) => actor !== 'host:file_change']) {
    const reported = await audited('module.reload', (e) => by(e.actor) && e.detail.module === 'mcp_json' && e.detail.refused);
    assert.match(reported.detail.refused, /pins/);
  }
  const user = await server.user();
  const run = await user.start({ prompt: '[words 3]' });
  const seen = await watch(`${server.url}/agent-run/${run.json.agent_run_id}/stream`, user.token).ended;
  assert.equal(seen.text, words(3));
});
