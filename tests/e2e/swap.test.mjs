// Modules are swapped, disabled and enabled under traffic: no request fails, no event is lost or duplicated, and
// a refused swap changes nothing.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { appendFileSync, copyFileSync, cpSync, mkdirSync, readFileSync, readdirSync, readlinkSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { startLlm } from './lib/llm.mjs';
import { wordsEach, watch, words } from './lib/reader.mjs';
import { Client, Server, binary, build, makeDatabase, sleep, slow, waitFor } from './lib/server.mjs';

// The large runs of bench/RESULTS.md set these, and RY_SWAP_FIGURES: a file to which each round appends measurements.
const clients = Number(process.env.RY_SWAP_CLIENTS ?? 24);
const rounds = Number(process.env.RY_SWAP_ROUNDS ?? 1);
const swapped = (process.env.RY_SWAP_MODULES ?? 'llm_openai,runs,accounts').split(',');
const many = clients > 100;
// A sanitizer build keeps modules mapped unless RY_SANITIZE_UNMAP is set (CONTRIBUTING.md).
const unmaps = !process.env.RY_SANITIZE || process.env.RY_SANITIZE_UNMAP;
// Reader and model share two cores with the server, so many streams get their words more slowly. The longest answer
// ends before a swap of its driver times out, but takes longer than runs.drain_seconds.
const wordIntervalMs = many ? clients * 1.5 * slow : Math.max(20, clients * 0.7);
const [shortRunMs, longRunMs] = many ? [8000 * slow ** 2, 11000 * slow ** 2] : [1200, 8000];
const drain = many ? 60 : swapped.includes('llm_openai') ? 12 : 6;

let database, llm, server, admin, modules;

before(async () => {
  database = makeDatabase();
  llm = await startLlm(wordsEach(wordIntervalMs));
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
  // Under this load, a client may be unable to send for longer than the default timeouts of the server.
  if (many) for (const timeout of ['header', 'body_idle', 'request', 'write_stall']) server.set.push(`http.${timeout}_timeout_seconds=300`);
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
const swap = async (action, name) => {
  const set = [...server.set, `data_dir=${path.join(server.dir, 'data')}`].flatMap((s) => ['--set', s]);
  const r = await runyard('modules', action, name, '--config', server.config, '--json', ...set);
  if (r.code === 0) r.json = JSON.parse(r.out);
  return r;
};
const installModule = (name, from) => {
  const next = path.join(modules, `.${name}.next`);
  copyFileSync(from, next);
  renameSync(next, path.join(modules, `${name}.so`));
};
const state = async (name) => (await admin.get('/admin/modules')).json.find((m) => m.name === name);

const mean = (all) => all.reduce((sum, n) => sum + n, 0) / all.length;
// Resources of the server: resident KiB, open sockets, and other open descriptors.
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
  let done = false;
  const failures = [], waits = [], footprints = [], swaps = [];
  const live = new Set();  // resources of each open stream
  const totals = { runs: 0, events: 0, draining: 0, aborted: 0, minStreams: Infinity };
  const failed = (e) => ({ status: 0, text: `${e} ${e.cause ?? ''}` });
  const oneClient = async (user, i) => {
    for (let n = 0; !done || n === 0; n++) {
      const long = i % 8 === 0;  // still running during a swap, so it is released and claimed
      const count = Math.round((long ? longRunMs : shortRunMs) / wordIntervalMs);
      const r = await user.start({ prompt: `[words ${count}]` }).catch(failed);
      if (r.status !== 200) { failures.push(`start: ${r.status} ${r.text}`); return; }
      const end = watch(`${server.url}/agent-run/${r.json.agent_run_id}/stream`, user.token, { timeout: slow * (90000 + rounds * 15000) }).ended
        .catch((e) => void failures.push(`${r.json.agent_run_id}: ${e.message}`));
      live.add(end);
      const seen = await end;
      live.delete(end);
      if (!seen) continue;
      totals.runs++;
      totals.draining += seen.draining;
      totals.events += seen.events.length;
      totals.aborted += seen.events.filter((e) => e.type === 'turn_aborted').length;
      const numbers = seen.events.map((e) => e.sequence);
      if (!numbers.every((s, k) => s === k + 1)) failures.push(`sequence of ${r.json.agent_run_id}: ${numbers.join(' ')}`);
      if (seen.events.at(-1).status !== 'completed') failures.push(`end: ${JSON.stringify(seen.events.at(-1))}`);
      if (seen.text !== words(count)) failures.push(`text of ${r.json.agent_run_id}: ${seen.text.slice(0, 200)}`);
      if (seen.refused) failures.push(`stream refused: ${seen.refused}`);
    }
  };
  const requests = async (user) => {
    while (!done) {
      const begun = performance.now();
      const r = await user.get('/account').catch(failed);
      waits.push(performance.now() - begun);
      if (r.status !== 200) { failures.push(`request: ${r.status} ${r.text}`); await sleep(100); }
    }
  };
  const users = await Promise.all(Array.from({ length: Math.min(clients, 50) }, () => server.user()));
  const load = Promise.all([...Array.from({ length: clients }, (_, i) => oneClient(users[i % users.length], i)),
    requests(users[0]), requests(users[1])]);
  const enoughStreams = () => waitFor('streams are open', () => live.size >= clients * 0.96 || failures.length, 120000 * slow);
  await enoughStreams();
  // Memory use is stable only after as many runs have ended as there are clients.
  if (many && !process.env.RY_SANITIZE) await waitFor('as many ended runs as clients', () => totals.runs >= clients || failures.length, 2 * longRunMs + 120000);
  try {
    let interrupted = [];
    for (let n = 0; n < rounds && !failures.length; n++) {
      // Without this wait, a run whose answer is restarted by every swap would never end.
      await Promise.all(interrupted);
      await enoughStreams();
      if (swapped.includes('runs')) interrupted = [...live];
      for (const name of swapped) {
        totals.minStreams = Math.min(totals.minStreams, live.size);
        const r = await swap('reload', name);
        assert.equal(r.code, 0, r.err);
        assert.ok(r.json.started.some((m) => m.module === name), r.out);
        for (const left of r.json.left) assert.match(left.outcome, unmaps ? /^unloaded$/ : /^ended/, r.out);
        assert.equal(r.json.cut_requests, 0, r.out);
        swaps.push(r.json);
      }
      footprints.push(footprint());
      if (process.env.RY_SWAP_FIGURES) appendFileSync(process.env.RY_SWAP_FIGURES, JSON.stringify({ ...footprints.at(-1), ...totals, live: live.size }) + '\n');
    }
  } finally {
    done = true;
    await load;
  }
  assert.deepEqual(failures.slice(0, 20), []);
  assert.ok(totals.runs >= clients && waits.length > 50, JSON.stringify(totals));
  if (swapped.includes('runs')) assert.ok(totals.draining > 0, 'no stream was moved to the new instance');
  // Each instance releases its resources, so a leak grows with each round. The averages of thirds are compared,
  // because single values fluctuate; the first rounds fill caches.
  const warm = footprints.slice(Math.ceil(rounds / 10));
  const third = Math.floor(warm.length / 3);
  const average = (resource, from, to) => mean(warm.slice(from, to).map((f) => f[resource]));
  const growth = Object.fromEntries(third < 3 ? [] : Object.keys(warm[0]).map((resource) =>
    [resource, [average(resource, 0, third), average(resource, warm.length - third)]]));
  for (const [resource, [first, last]] of Object.entries(growth))
    // A sanitizer keeps data about every loaded library, and reports leaks of the server at exit.
    if (resource === 'rss' ? !process.env.RY_SANITIZE : unmaps) assert.ok(last <= first * 1.05 + 10, `${resource} grows: ${first} -> ${last}; ${JSON.stringify(footprints)}`);
  waits.sort((a, b) => a - b);
  t.diagnostic(JSON.stringify({ ...totals, swaps: swaps.length, modules_started: swaps.reduce((n, c) => n + c.started.length, 0),
    swap_ms: Math.round(mean(swaps.map((c) => c.swap_ms))), total_ms: Math.round(mean(swaps.map((c) => c.total_ms))),
    requests: waits.length, request_ms_p50: +waits[waits.length >> 1].toFixed(1), request_ms_p99: +waits[Math.floor(waits.length * 0.99)].toFixed(1),
    request_ms_max: +waits.at(-1).toFixed(1), first: footprints[0], last: footprints.at(-1), growth }));
  // A run that has ended must not stay in the list of live runs: its readers would wait forever.
  await waitFor('no run to be live', async () => /^runyard_runs_live 0$/m.test((await admin.get('/metrics')).text), 20000 * slow);
  const open = await admin.get('/admin/modules');
  assert.ok(open.json.filter((m) => m.state === 'started').every((m) => m.violations === 0), open.text);
  if (unmaps) for (const name of swapped) assert.equal(mappedCopies(name).size, 1, name);
}, { timeout: 300000 + rounds * 45000 * slow });

test('unloaded instances leak neither memory nor descriptors', async () => {
  const name = 'mcp_json', all = [];
  for (let n = 0; n < 45; n++) {
    const r = await admin.post(`/admin/modules/${name}/reload`);
    assert.equal(r.status, 200, r.text);
    for (const left of r.json.left) assert.match(left.outcome, unmaps ? /^unloaded$/ : /^ended/, r.text);
    if (n >= 15) all.push(footprint());
  }
  if (unmaps) assert.equal(mappedCopies(name).size, 1);
  const average = (resource, from) => mean(all.slice(from, from + 10).map((f) => f[resource]));
  // The library alone takes some hundred KiB.
  for (const resource of unmaps ? ['rss', 'sockets', 'files'] : ['sockets'])
    if (resource !== 'rss' || !process.env.RY_SANITIZE)
      assert.ok(average(resource, 20) <= average(resource, 0) * 1.05 + 3, `${resource} grows: ${JSON.stringify(all)}`);
});

test('a library that cannot be loaded or contains another module changes nothing', async () => {
  const before = await state('runs');
  writeFileSync(path.join(modules, '.runs.broken'), 'no library');
  installModule('runs', path.join(modules, '.runs.broken'));
  let r = await swap('reload', 'runs');
  assert.equal(r.code, 1);
  assert.match(r.err, /runs\.so/);
  installModule('runs', path.join(build, 'modules/agents.so'));
  r = await swap('reload', 'runs');
  assert.equal(r.code, 1);
  assert.match(r.err, /contains the module "agents", not "runs"/);
  assert.equal((await state('runs')).instance, before.instance);
  const user = await server.user();
  assert.equal((await user.start({ prompt: '[words 1]' })).status, 200);
  installModule('runs', path.join(build, 'modules/runs.so'));
  r = await swap('reload', 'runs');
  assert.equal(r.code, 0, r.err);
  assert.ok((await state('runs')).instance > before.instance);
});

test('a file overwritten in place, as cp does, does not affect the running module', async () => {
  const before = await state('runs');
  const user = await server.user();
  const open = await user.start({ prompt: '[words 40]' });
  const reading = watch(`${server.url}/agent-run/${open.json.agent_run_id}/stream`, user.token).ended;
  for (const name of ['runs', 'accounts', 'llm_openai']) writeFileSync(path.join(modules, `${name}.so`), 'truncated');
  assert.equal((await reading).text, words(40));
  const next = await user.start({ prompt: '[words 2]' });
  assert.equal((await watch(`${server.url}/agent-run/${next.json.agent_run_id}/stream`, user.token).ended).text, words(2));
  let r = await swap('reload', 'runs');
  assert.equal(r.code, 1);
  assert.match(r.err, /runs\.so.*not an ELF file/);
  assert.equal((await state('runs')).instance, before.instance);
  for (const name of ['runs', 'accounts', 'llm_openai']) installModule(name, path.join(build, `modules/${name}.so`));
  r = await swap('reload', 'runs');
  assert.equal(r.code, 0, r.err);
});

test('settings are read again, and invalid ones are refused with file and line', async () => {
  const originalConfig = readFileSync(server.config, 'utf8');
  writeFileSync(server.config, originalConfig.replace('drain_seconds = 1\n', 'drain_seconds = 1\nmax_prompt_lenght = 5\n'));
  let r = await swap('reload', 'runs');
  assert.equal(r.code, 1);
  assert.match(r.err, /runyard\.toml:\d+.*max_prompt_lenght/);
  writeFileSync(server.config, originalConfig);
  r = await swap('reload', 'runs');
  assert.equal(r.code, 0, r.err);
});

test('a swap reports the running modules whose changed settings it does not apply', async () => {
  const originalConfig = readFileSync(server.config, 'utf8');
  const unapplied = async (action, name) => {
    const r = await swap(action, name);
    assert.equal(r.code, 0, r.err);
    return r.json.unapplied_settings;
  };
  assert.deepEqual(await unapplied('reload', 'webhooks'), []);
  writeFileSync(server.config, originalConfig.replace('[runs]\n', '[runs]\nmax_steps = 77\n'));
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
    writeFileSync(server.config, originalConfig);
  }
  assert.deepEqual(await unapplied('reload', 'runs'), []);
});

test('a module can be disabled and enabled, unless other modules need it', async () => {
  let r = await swap('disable', 'accounts');
  assert.equal(r.code, 1);
  assert.match(r.err, /because these modules need it: .*agents, .*runs/);
  const user = await server.user();
  assert.equal((await user.get('/mcp/profiles')).status, 200);
  r = await swap('disable', 'mcp_prebuilt');
  assert.equal(r.code, 0, r.err);
  assert.equal((await user.get('/mcp/profiles')).status, 404);
  assert.equal((await state('mcp_prebuilt')).state, 'disabled');
  r = await swap('disable', 'mcp_prebuilt');
  assert.equal(r.code, 1);
  assert.match(r.err, /not running/);
  r = await swap('enable', 'mcp_prebuilt');
  assert.equal(r.code, 0, r.err);
  assert.equal((await user.get('/mcp/profiles')).status, 200);
  assert.equal((await swap('enable', 'mcp_prebuilt')).code, 1);
  assert.equal((await swap('reload', 'absent')).code, 1);
});

test('an unknown or malformed name is answered with 404 and changes no module', async () => {
  const before = (await state('mcp_prebuilt')).instance;
  let r = await admin.post('/admin/modules/absent/enable');
  assert.equal(r.status, 404, r.text);
  assert.equal(r.json.detail, 'Module "absent" is not in modules.path');
  for (const name of ['ab.sent', 'absent=1', 'ab%2Fsent', 'n'.repeat(2000)])
    for (const action of ['enable', 'reload', 'disable']) {
      r = await admin.post(`/admin/modules/${name}/${action}`);
      assert.equal(r.status, 404, r.text);
      assert.equal(r.json.detail, 'There is no module of this name');
    }
  // The name is one segment of the path.
  const c = await swap('disable', 'mcp_prebuilt/reload?');
  assert.equal(c.code, 1);
  assert.match(c.err, /There is no module of this name/);
  assert.equal((await state('mcp_prebuilt')).instance, before);
});

test('a module is swapped together with its dependents only', async () => {
  const generations = async () => Object.fromEntries((await admin.get('/admin/modules')).json.map((m) => [m.name, m.instance]));
  const before = await generations();
  const r = await swap('reload', 'mcp');
  assert.equal(r.code, 0, r.err);
  const now = await generations();
  const swappedModules = Object.keys(now).filter((name) => now[name] !== before[name]).sort();
  assert.deepEqual(swappedModules, ['mcp', 'mcp_http', 'mcp_json', 'mcp_prebuilt', 'mcp_server', 'mcp_sse', 'sandbox_bubblewrap']);
  assert.deepEqual(r.json.started.map((m) => m.module).sort(), swappedModules);
});

test('only administrators can swap modules', async () => {
  const user = await server.user();
  assert.equal((await user.post('/admin/modules/runs/reload')).status, 403);
  assert.equal((await user.get('/admin/modules')).status, 403);
  assert.equal((await new Client(server).post('/admin/modules/runs/disable')).status, 401);
});

// Installs the same code with another file content.
const installModified = (name, file = path.join(modules, `${name}.so`)) => {
  const next = path.join(path.dirname(file), `.${name}.touched`);
  copyFileSync(path.join(build, `modules/${name}.so`), next);
  appendFileSync(next, '\0');
  renameSync(next, file);
};
const waitForAudit = (action, matches) => waitFor(`${action} in the audit log`, async () =>
  (await admin.get('/admin/audit?limit=100')).json.entries.find((e) => e.action === action && matches(e)));

test('a changed file is reloaded automatically if configured, and only with the pinned hash', async () => {
  let before = await state('llm_openai');
  installModified('llm_openai');
  await sleep(1500);
  assert.equal((await state('llm_openai')).instance, before.instance, 'no reload was requested');

  await server.stop();
  const pin = createHash('sha256').update(readFileSync(path.join(modules, 'mcp_json.so'))).digest('hex');
  server.set.push('reload.on_file_change=true', `modules.mcp_json.sha256=${pin}`, `modules.mcp_sse.sha256=${pin}`,
    'modules.mcp_sse.required=false');
  installModule('llm_openai', path.join(build, 'modules/llm_openai.so'));
  // A module file in another directory with another name.
  const elsewhere = path.join(server.dir, 'elsewhere');
  mkdirSync(elsewhere);
  const webhooks = path.join(elsewhere, 'outgoing-2.so');
  copyFileSync(path.join(build, 'modules/webhooks.so'), webhooks);
  server.set.push(`modules.webhooks.path=${webhooks}`);
  await server.start();
  assert.match((await state('mcp_sse')).reason, /pins/, 'its file has another hash');
  assert.equal((await state('mcp_sse')).state, 'refused');
  before = await state('llm_openai');
  const pinned = await state('mcp_json');
  assert.equal(pinned.state, 'started');
  installModified('mcp_json');
  installModified('llm_openai');
  await waitFor('the new instance', async () => (await state('llm_openai')).instance > before.instance);
  const r = await swap('reload', 'mcp_json');
  assert.equal(r.code, 1);
  assert.match(r.err, /pins/);
  assert.equal((await state('mcp_json')).instance, pinned.instance);
  const old = await state('webhooks');
  assert.equal(old.file, webhooks);
  installModified('webhooks', webhooks);
  await waitFor('the new instance of the module in the other directory', async () => (await state('webhooks')).instance > old.instance);
  for (const name of ['llm_openai', 'webhooks']) {
    const reported = await waitForAudit('module.reload', (e) => e.actor === 'host:file_change' && e.detail.module === name);
    assert.deepEqual(reported.detail, { module: name });
  }
  // Refused swaps are recorded as well, for each kind of actor.
  for (const byActor of [(actor) => actor === 'host:file_change', (actor) => actor !== 'host:file_change']) {
    const reported = await waitForAudit('module.reload', (e) => byActor(e.actor) && e.detail.module === 'mcp_json' && e.detail.refused);
    assert.match(reported.detail.refused, /pins/);
  }
  const user = await server.user();
  const run = await user.start({ prompt: '[words 3]' });
  const seen = await watch(`${server.url}/agent-run/${run.json.agent_run_id}/stream`, user.token).ended;
  assert.equal(seen.text, words(3));
});
