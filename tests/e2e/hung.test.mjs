// A database that accepts connections but does not respond: clients get an error within seconds, the probes report it,
// and the server still shuts down.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync, readlinkSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { Client, Server, waitFor } from './lib/server.mjs';

let server, user, apiKeyClient;
const within = async (ms, operation, promise) => {
  const startedAt = Date.now();
  const out = await promise;
  assert.ok(Date.now() - startedAt < ms, `${operation} took ${Date.now() - startedAt} ms`);
  return out;
};

// The process ids of the server's private PostgreSQL.
function postgres() {
  const cluster = realpathSync(path.join(server.dir, 'data/postgres'));
  return readdirSync('/proc').filter((p) => /^\d+$/.test(p)).map(Number).filter((p) => {
    try {
      return readFileSync(`/proc/${p}/comm`, 'utf8').trim() === 'postgres' && readlinkSync(`/proc/${p}/cwd`) === cluster;
    } catch { return false; }
  });
}
const sendSignal = (pids, name) => {
  for (const p of pids) try { process.kill(p, name); } catch (e) { if (e.code !== 'ESRCH') throw e; }  // the process has exited
};
const signalPostgres = (name) => sendSignal(postgres(), name);

before(async () => {
  server = await new Server().start({ timeout: 60000 });
  user = await server.user();
  const made = await user.post('/api-keys', { json: { name: 'probe' } });
  assert.ok(made.status < 300, made.text);
  apiKeyClient = new Client(server, made.json.secret ?? made.json.key ?? made.json.api_key, user.id);
  assert.equal((await apiKeyClient.get('/account')).status, 200);
});
after(async () => {
  signalPostgres('SIGCONT');
  await server?.close();
});

test('/readyz reports a frozen database within seconds, without any traffic', async () => {
  signalPostgres('SIGSTOP');
  try {
    await within(6000, '/readyz', waitFor('not ready', async () => (await user.get('/readyz')).status === 503, 6000));
    // From then on /readyz responds without waiting for the database.
    const again = await within(1500, '/readyz', user.get('/readyz'));
    assert.equal(again.status, 503, again.text);
    assert.deepEqual(again.json.reasons, [{ component: 'db', room: 'db', message: 'the database does not respond' }]);
  } finally {
    signalPostgres('SIGCONT');
  }
  await waitFor('/readyz to recover', async () => (await user.get('/readyz')).status === 200, 30000);
});

test('open connections whose server processes are frozen are replaced', async () => {
  const cluster = realpathSync(path.join(server.dir, 'data/postgres'));
  const parent = (p) => Number(/^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${p}/status`, 'utf8'))[1]);
  const all = postgres(), postmaster = all.find((p) => !all.includes(parent(p)));
  assert.ok(postmaster, cluster);
  const stopped = all.filter((p) => p !== postmaster);
  sendSignal(stopped, 'SIGSTOP');
  try {
    const start = await within(25000, 'a start', user.start({ prompt: 'hello' }));
    assert.ok([200, 503].includes(start.status), start.text);
    await waitFor('a successful start', async () => (await user.start({ prompt: 'hello' })).status === 200, 30000);
    assert.equal((await user.get('/readyz')).status, 200);
  } finally {
    sendSignal(stopped, 'SIGCONT');
  }
});

test('while the database is frozen, requests fail with 503 and /readyz reports it; later the server recovers', async () => {
  signalPostgres('SIGSTOP');
  const pending = [
    within(25000, 'a start', user.start({ prompt: 'hello' })),
    within(25000, 'a request with an API key', apiKeyClient.get('/account')),
    within(25000, '/readyz', waitFor('not ready', async () => (await user.get('/readyz')).status === 503, 25000)),
  ];
  const [start, key] = await Promise.all(pending);
  assert.equal(start.status, 503, start.text);
  assert.match(start.json.detail, /^Failed to start agent: /);
  assert.ok(Number(start.headers.get('retry-after')) > 0, 'Retry-After');
  assert.ok([200, 503].includes(key.status), `${key.status} ${key.text}`);  // 200: the key was cached
  const fresh = await within(15000, 'a request with an uncached API key', new Client(server, 'ryk_' + 'a'.repeat(43)).get('/account'));
  assert.ok([401, 503].includes(fresh.status), `${fresh.status} ${fresh.text}`);
  assert.equal((await user.get('/healthz')).status, 200);
  signalPostgres('SIGCONT');
  await waitFor('/readyz to recover', async () => (await user.get('/readyz')).status === 200, 30000);
  // Until then, runs that were started before the freeze count towards the account's limit (402).
  await waitFor('a successful start', async () => (await user.start({ prompt: 'hello again' })).status === 200, 30000);
});

test('SIGTERM stops the server and its PostgreSQL within the drain limit', async () => {
  signalPostgres('SIGSTOP');
  const ended = await within(60000, 'the shutdown', server.stop());
  assert.deepEqual(ended, { code: 0, signal: null });
  // Killed processes take a moment to exit.
  await waitFor('PostgreSQL to exit', () => postgres().length === 0, 5000);
});
