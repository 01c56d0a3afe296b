// Faulty modules: a job that ignores its deadline and a slow health() are reported and block nothing else; a module
// that would keep using the variables of its old library is not reloaded.
import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { Client, Server, build, makeDatabase, modulesOn, waitFor } from './lib/server.mjs';

let database, server;

before(async () => {
  database = makeDatabase();
  server = await new Server({ database, settings: '[shutdown]\ndrain_seconds = 2\n', set: [
    ...modulesOn.filter((m) => m !== 'accounts').map((m) => `modules.${m}.enabled=false`),
    `modules.path=${build}/modules:${path.join(build, 'tests/abi/lazy')}`, 'modules.abi_lazy.enabled=true', 'modules.abi_unique.enabled=true'] }).start();
});
after(async () => {
  await server?.close();
  database?.drop();
});

const post = async (path) => (await fetch(`${server.url}/abi_lazy/${path}`, { method: 'POST' })).json();

test('a job that ignores its deadline is reported, and its schedule continues', async () => {
  await waitFor('the log line about the module', () => /\[abi_lazy\] module contract violated.*a job that ignores its deadline.*abi_lazy\.sleeps/.test(server.log), 30000);
  await waitFor('another run of the job', () => database.sql("select coalesce(max(attempt), 0) from core.job where kind = 'abi_lazy.sleeps'") > 1, 30000);
  await waitFor('further scheduled runs', async () => (await post('wake')).begun > 2, 30000);
});

test('a slow health() delays neither /readyz nor /metrics and is reported', async () => {
  await post('health/15000');
  for (const path of ['/readyz', '/metrics', '/readyz']) {
    const startedAt = performance.now();
    const r = await new Client(server).get(path);
    assert.ok(performance.now() - startedAt < 8000, path);
    assert.equal(r.status, 200, r.text);
    if (path === '/readyz') assert.match(r.json.degraded.find((d) => d.component === 'abi_lazy').message, /health check has not answered for \d+ ms/);
  }
  assert.equal(server.log.match(/\[abi_lazy\] health\(\) does not return/g).length, 1, 'logged once');
  await post('health/0');
  await waitFor('the module to be healthy', async () => !(await new Client(server).get('/readyz')).json.degraded?.some((d) => d.component === 'abi_lazy'), 30000);
});

test('a reload that would keep the variables of the old library is rejected', async () => {
  const count = async () => (await (await fetch(`${server.url}/abi_unique`)).json()).count;
  assert.equal(await count(), 1);
  const r = await new Client(server, server.token({ role: 'admin' })).post('/admin/modules/abi_unique/reload');
  assert.equal(r.status, 409, r.text);
  assert.match(r.json.detail, /abi_unique.*exports the unique symbol .*Restart the server/);
  assert.equal(await count(), 2);
});
