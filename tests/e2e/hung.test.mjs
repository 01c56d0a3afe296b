// A database that accepts connections and does not answer: every caller gets an error soon, the probes report it, and
// the server ends all the same.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync, readlinkSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { Client, Server, waitFor } from './lib/server.mjs';

let server, user, byKey;
const within = async (ms, what, promise) => {
  const began = Date.now();
  const out = await promise;
  assert.ok(Date.now() - began < ms, `${what} took ${Date.now() - began} ms`);
  return out;
};

// The processes of the server's private PostgreSQL.
function postgres() {
  const cluster = realpathSync(path.join(server.dir, 'data/postgres'));
  return readdirSync('/proc').filter((p) => /^\d+$/.test(p)).map(Number).filter((p) => {
    try {
      return readFileSync(`/proc/${p}/comm`, 'utf8').trim() === 'postgres' && readlinkSync(`/proc/${p}/cwd`) === cluster;
    } catch { return false; }
  });
}
const send = (processes, name) => {
  for (const p of processes) try { process.kill(p, name); } catch (e) { if (e.code !== 'ESRCH') throw e; }  // it has ended
};
const signal = (name) => send(postgres(), name);

before(async () => {
  server = await new Server().start({ timeout: 60000 });
  user = await server.user();
  const made = await user.post('/api-keys', { json: { name: 'probe' } });
  assert.ok(made.status < 300, made.text);
  byKey = new Client(server, made.json.secret ?? made.json.key ?? made.json.api_key, user.id);
  assert.equal((await byKey.get('/account')).status, 200);
});
after(async () => {
  signal('SIGCONT');
  await server?.close();
});

test('/readyz notices within seconds, without any traffic', async () => {
  signal('SIGSTOP');
  try {
    await within(6000, '/readyz', waitFor('not ready', async () => (await user.get('/readyz')).status === 503, 6000));
    // From then on it need not wait.
    const again = await within(1500, '/readyz', user.get('/readyz'));
    assert.equal(again.status, 503, again.text);
    assert.deepEqual(again.json.reasons, [{ room: 'db', message: 'the database does not answer' }]);
  } finally {
    signal('SIGCONT');
  }
  await waitFor('ready again', async () => (await user.get('/readyz')).status === 200, 30000);
});

test('the processes behind the open connections are stopped: they are replaced', async () => {
  const cluster = realpathSync(path.join(server.dir, 'data/postgres'));
  const parent = (p) => Number(/^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${p}/status`, 'utf8'))[1]);
  const all = postgres(), postmaster = all.find((p) => !all.includes(parent(p)));
  assert.ok(postmaster, cluster);
  const stopped = all.filter((p) => p !== postmaster);
  send(stopped, 'SIGSTOP');
  try {
    const start = await within(25000, 'a start', user.start({ prompt: 'hello' }));
    assert.ok([200, 503].includes(start.status), start.text);
    await waitFor('starts again', async () => (await user.start({ prompt: 'hello' })).status === 200, 30000);
    assert.equal((await user.get('/readyz')).status, 200);
  } finally {
    send(stopped, 'SIGCONT');
  }
});

test('requests are answered, /readyz says so, and all goes on when it does', async () => {
  signal('SIGSTOP');
  const asked = [
    within(25000, 'a start', user.start({ prompt: 'hello' })),
    within(25000, 'a request with an API key', byKey.get('/account')),
    within(25000, '/readyz', waitFor('not ready', async () => (await user.get('/readyz')).status === 503, 25000)),
  ];
  const [start, key] = await Promise.all(asked);
  assert.equal(start.status, 503, start.text);
  assert.match(start.json.detail, /^Failed to start agent: /);
  assert.ok(Number(start.headers.get('retry-after')) > 0, 'Retry-After');
  assert.ok([200, 503].includes(key.status), `${key.status} ${key.text}`);  // 200: the key was known
  const fresh = await within(15000, 'an API key that nobody has seen yet', new Client(server, 'ryk_' + 'a'.repeat(43)).get('/account'));
  assert.ok([401, 503].includes(fresh.status), `${fresh.status} ${fresh.text}`);
  assert.equal((await user.get('/healthz')).status, 200);
  signal('SIGCONT');
  await waitFor('ready again', async () => (await user.get('/readyz')).status === 200, 30000);
  // Runs that began before the database stopped end first: they count towards the account's limit (402).
  await waitFor('starts again', async () => (await user.start({ prompt: 'hello again' })).status === 200, 30000);
});

test('SIGTERM ends the server within its drain limit, and PostgreSQL with it', async () => {
  signal('SIGSTOP');
  const ended = await within(60000, 'the end', server.stop());
  assert.deepEqual(ended, { code: 0, signal: null });
  // Killed processes take a moment to exit.
  await waitFor('PostgreSQL to be gone', () => postgres().length === 0, 5000);
});
