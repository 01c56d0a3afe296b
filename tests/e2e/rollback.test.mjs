// Upgrades of a module with migrations, including refused upgrades, and rollbacks to the previous version, under load
// and across restarts.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, beforeEach, test } from 'node:test';
import { Client, Server, binary, build, makeDatabase, modulesOn, sleep } from './lib/server.mjs';

const disabledModules = modulesOn.filter((m) => m !== 'accounts').map((m) => `modules.${m}.enabled=false`);
let database, server, file;

const install = (version) => {
  copyFileSync(path.join(build, 'tests/abi/stock', version, 'abi_stock.so'), `${file}.next`);
  renameSync(`${file}.next`, file);
};
const admin = () => new Client(server, server.token({ role: 'admin' }));
const swap = async (version, action = 'reload') => {
  install(version);
  return admin().post(`/admin/modules/abi_stock/${action}`);
};
const stock = async () => (await fetch(`${server.url}/abi_stock`)).json();
const applied = () => database.sql("select string_agg(id, ' ' order by id) from core.migration where module = 'abi_stock'");
const cli = (...args) => spawnSync(binary, [...args, '--config', server.config, '--set', `data_dir=${path.join(server.dir, 'data')}`,
  ...server.set.flatMap((s) => ['--set', s])], { encoding: 'utf8', timeout: 60000 });
const restart = async (version, ...set) => {
  await server.stop();
  if (version) install(version);
  server.set.push(...set);
  return server.start();
};

beforeEach(async () => {
  await server?.close();
  database?.drop();
  database = makeDatabase();
  server = new Server({ database, settings: '[reload]\ndrain_seconds = 2' });
  mkdirSync(path.join(server.dir, 'modules'));
  file = path.join(server.dir, 'modules', 'abi_stock.so');
  server.set.push(...disabledModules, 'modules.abi_stock.enabled=true', `modules.abi_stock.path=${file}`);
  install('v1');
  await server.start();
});
after(async () => {
  await server?.close();
  database?.drop();
});

test('under load, a refused upgrade, an upgrade with a migration and a rollback fail no request', async () => {
  let done = false, answered = 0;
  const failures = [], versions = new Set();
  const load = Promise.all(Array.from({ length: 4 }, async () => {
    while (!done) {
      const r = await fetch(`${server.url}/abi_stock`).catch((e) => ({ status: `${e} ${e.cause}` }));
      if (r.status === 200) versions.add((await r.json()).version);
      else failures.push(r.status);
      answered++;
      await sleep(2);
    }
  }));
  try {
    const refused = await swap('v2_fails');
    assert.equal(refused.status, 409);
    assert.match(refused.json.detail, /abi_stock.*the shelves are full/);
    assert.equal(applied(), '0001_articles', 'a failing start is detected before its migrations are applied');
    assert.equal((await swap('v1')).status, 200, 'the old file can be loaded again');
    assert.equal((await swap('v2')).status, 200);
    assert.equal((await stock()).version, '2.0.0');
    const back = await swap('v1');
    assert.equal(back.status, 200, back.text);
    assert.match(server.log, /the schema is newer than this version of the module.*0002_colour.*declared compatible/);
    await sleep(100);
  } finally {
    done = true;
    await load;
  }
  assert.deepEqual(failures, []);
  assert.ok(answered > 20);
  assert.deepEqual([...versions].sort(), ['1.0.0', '2.0.0']);
  assert.equal(applied(), '0001_articles 0002_colour');
  await restart();
  assert.equal((await stock()).version, '1.0.0');
});

test('after a refused upgrade with applied migrations, the old file can be loaded and the server can start', async () => {
  const refused = await swap('v2_fails_late');
  assert.equal(refused.status, 409);
  assert.match(refused.json.detail, /the shelves are full.*\n.*applied before the failure and stay in place: abi_stock 0002_colour/);
  assert.equal((await stock()).version, '1.0.0');
  assert.equal((await swap('v1')).status, 200);
  await restart();
  assert.equal((await stock()).version, '1.0.0');
  assert.match(server.log, /0002_colour.*the version that applied it has never started/);
});

test('a version that fails at server start can be replaced with the old file', async () => {
  await server.stop();
  install('v2_fails');
  await assert.rejects(server.start(), /the shelves are full/);
  assert.equal(applied(), '0001_articles 0002_colour');
  await restart('v1');
  assert.equal((await stock()).version, '1.0.0');
});

test('an applied migration not declared compatible blocks the old version until the operator decides', async () => {
  assert.equal((await swap('v2_undeclared')).status, 200);
  const back = await swap('v1');
  assert.equal(back.status, 409);
  for (const remedy of [/Install the newer version again/, /modules\.abi_stock\.allow_newer_schema = true/, /runyard migrate forget abi_stock 0002_colour/])
    assert.match(back.json.detail, remedy);
  assert.equal((await stock()).version, '2.0.1', 'the newer version keeps running');
  await restart('v1', 'modules.abi_stock.allow_newer_schema=true');
  assert.equal((await stock()).version, '1.0.0');
  assert.match(server.log, /0002_colour.*allow_newer_schema/);
  await server.stop();
  const status = cli('migrate', 'status', '--json');
  assert.equal(status.status, 0, status.stderr);
  assert.equal(JSON.parse(status.stdout).find((m) => m.id === '0002_colour').state, 'newer, accepted');
});

test('`runyard migrate forget` removes one record after confirmation', async () => {
  assert.equal((await swap('v2_undeclared')).status, 200);
  await server.stop();
  install('v1');
  await assert.rejects(server.start(), /could not be brought up to date/);
  const wrong = cli('migrate', 'forget', 'abi_stock', '7', '--yes');
  assert.equal(wrong.status, 1);
  assert.match(wrong.stderr, /no applied migration 7; it has 0001_articles, 0002_colour/);
  const unconfirmed = cli('migrate', 'forget', 'abi_stock', '0002');  // standard input is empty
  assert.equal(unconfirmed.status, 1);
  assert.match(unconfirmed.stderr, /Type the name of the module[^]*nothing was changed/);
  assert.equal(applied(), '0001_articles 0002_colour');
  const done = cli('migrate', 'forget', 'abi_stock', '2', '--yes', '--json');
  assert.equal(done.status, 0, done.stderr);
  assert.deepEqual(JSON.parse(done.stdout), { forgotten: { module: 'abi_stock', id: '0002_colour' } });
  await server.start();
  assert.equal((await stock()).version, '1.0.0');
});

test('a disabled module whose file and settings were deleted does not block other swaps', async () => {
  await server.stop();
  server.set = server.set.filter((s) => !s.includes('abi_stock')).concat(`modules.path=${build}/modules:${path.dirname(file)}`);
  const settings = path.join(server.dir, 'modules.d/abi_stock.toml');
  mkdirSync(path.dirname(settings));
  writeFileSync(settings, '[modules.abi_stock]\nenabled = true\n');
  await server.start();
  assert.equal((await stock()).version, '1.0.0');
  assert.equal((await admin().post('/admin/modules/abi_stock/disable')).status, 200);
  for (const deleted of [file, settings]) rmSync(deleted);
  const reloaded = await admin().post('/admin/modules/accounts/reload');
  assert.equal(reloaded.status, 200, reloaded.text);
});

test('a module that crashed the server is skipped or reported at the next start, and can be enabled again', async () => {
  const crash = await swap('v2_aborts').catch((e) => e);
  assert.ok(crash instanceof Error, 'the server has crashed');
  assert.equal((await server.exited).signal, 'SIGABRT');
  assert.equal(applied(), '0001_articles', 'its migrations were not applied');
  // A required module is reported and started again.
  await assert.rejects(server.start(), /a required module is started although.*abi_stock.*the server crashed during the last start of this file/);
  // If the module is not required, the server starts without it, at every start.
  server.set.push('modules.abi_stock.required=false');
  for (let i = 0; i < 2; i++) {
    await server.start();
    assert.match(server.log, /error.*module skipped.*abi_stock.*the server crashed during the last start of this file/);
    const ready = await new Client(server).get('/readyz');
    assert.deepEqual([ready.status, ready.json.status], [200, 'ready']);
    assert.match(ready.json.degraded.find((d) => d.component === 'abi_stock').message, /not started/);
    if (i === 0) await server.stop();
  }
  assert.equal((await swap('v1', 'enable')).status, 200);
  assert.equal((await stock()).version, '1.0.0');
  assert.equal((await new Client(server).get('/readyz')).json.degraded?.find((d) => d.component === 'abi_stock'), undefined);
  assert.equal(existsSync(path.join(server.dir, 'data/module-starts/abi_stock')), false);
});
