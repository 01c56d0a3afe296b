// Databases as hosting services provide them: read-only after a failover, behind a pooler in session mode, with missing
// privileges, with another encoding, or out of disk space.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Pooler } from './lib/pgbouncer.mjs';
import { Client, Server, makeDatabase, modulesOn, sleep, statuses, waitFor } from './lib/server.mjs';

const needed = ['accounts', 'agents', 'runs', 'llm_offline'];
const disabled = modulesOn.filter((m) => !needed.includes(m)).map((m) => `modules.${m}.enabled=false`);
const cleanups = [];
after(async () => { for (const close of cleanups.reverse()) await close(); });
function database() {
  const d = makeDatabase();
  cleanups.push(() => d.drop());
  return d;
}
function server(options) {
  const s = new Server({ ...options, set: [...disabled, ...(options.set ?? [])] });
  cleanups.push(() => s.close());
  return s;
}

test('while the database is read-only, starts get a 503 and never a 500; the server reconnects when it is writable', async () => {
  const d = database();
  const s = await server({ database: d }).start();
  const u = await s.user();
  assert.equal((await u.start({ prompt: 'hello' })).status, 200);
  const name = d.sql('select current_database()');
  d.sql(`alter database ${name} set default_transaction_read_only = on`);
  d.sql(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}' and application_name like 'runyard%'`);
  const seen = new Set();
  await waitFor('a 503', async () => {
    const r = await u.start({ prompt: 'hello' });
    seen.add(r.status);
    return r.status === 503;
  });
  for (let i = 0; i < 10; i++) { seen.add((await u.start({ prompt: 'hello' })).status); await sleep(100); }
  assert.ok(![...seen].includes(500), [...seen].join());
  await waitFor('the server not to be ready', async () => (await new Client(s).get('/readyz')).status === 503);
  d.sql(`begin read write; alter database ${name} reset default_transaction_read_only; commit`);
  await waitFor('a successful start', async () => (await u.start({ prompt: 'hello' })).status !== 503, 30000);
  await waitFor('the server to be ready', async () => (await new Client(s).get('/readyz')).status === 200);
});

test('a session that becomes read-only is closed at the first failed write', async () => {
  const d = database();
  const s = await server({ database: d, set: ['database.connections=2'] }).start();
  const u = await s.user();
  // A trigger simulates a proxy whose sessions stay open but reject writes.
  d.sql('create function core.read_only() returns trigger language plpgsql as $$ begin if exists (select from core.broken_sessions where pid = pg_backend_pid()) then raise exception using errcode = \'25006\', message = \'cannot execute INSERT in a read-only transaction\'; end if; return new; end $$');
  d.sql('create table core.broken_sessions as select pid from pg_stat_activity where datname = current_database() and application_name like \'runyard%\'');
  d.sql('create trigger broken before insert on runs.runs for each row execute function core.read_only()');
  for (let i = 0; i < 5; i++) {  // below the limit of threads per account
    const r = await u.start({ prompt: 'hello' });
    assert.ok([200, 503].includes(r.status), r.text);
    if (r.status === 200) assert.equal(statuses((await u.stream(r.json.agent_run_id)).events).at(-1), 'completed');
  }
  assert.equal((await u.start({ prompt: 'hello' })).status, 200);
});

for (const [title, settings] of [['that accepts session settings', 'pool_mode = session\nignore_startup_parameters = options'], ['that rejects session settings', 'pool_mode = session']]) {
  test(`a pooler in session mode ${title}`, async () => {
    const d = database();
    const pooler = await new Pooler(d, { sessions: 30, settings }).start();
    cleanups.push(() => pooler.close());
    const s = await server({ database: { url: pooler.url }, set: ['database.connections=4'] }).start();
    const u = await s.user();
    const r = await u.start({ prompt: 'hello' });
    assert.equal(r.status, 200, r.text);
    assert.equal(statuses((await u.stream(r.json.agent_run_id)).events).at(-1), 'completed');
    await s.stop();
    // The pooler also works as database.direct_url.
    const withDirectUrl = await server({ database: { url: pooler.url }, set: ['database.connections=4', `database.direct_url=${pooler.url}`] }).start();
    assert.equal((await (await withDirectUrl.user()).get('/account')).status, 200);
  });
}

test('a database with another encoding is rejected with instructions', async () => {
  const d = database();
  const name = `${d.sql('select current_database()')}_latin`;
  d.sql(`create database ${name} encoding 'LATIN1' lc_collate 'C' lc_ctype 'C' template template0`);
  cleanups.push(() => d.sql(`drop database if exists ${name} with (force)`));
  const s = server({ database: { url: d.url.replace(/\/[a-z0-9_]+\?/, `/${name}?`) } });
  await assert.rejects(s.start(), /has the encoding LATIN1.*encoding 'UTF8' template template0/s);
});

test('for a role that cannot create schemas, the error contains the GRANT statement', async () => {
  const d = database();
  const role = `ry_poor_${process.pid}`;
  d.sql(`create role ${role} login`);
  cleanups.push(() => d.sql(`drop role ${role}`));
  const s = server({ database: { url: d.url.replace('postgres@', `${role}@`) } });
  await assert.rejects(s.start(), new RegExp(`grant create on database \\S+ to ${role}`));
});

test('a database that is out of disk space is logged with the cause and reported as degraded', async () => {
  const d = database();
  const s = await server({ database: d }).start();
  const u = await s.user();
  const first = await u.start({ prompt: 'hello' });
  assert.equal(first.status, 200, first.text);
  await u.stream(first.json.agent_run_id);
  d.sql("create function core.full() returns trigger language plpgsql as $$ begin raise exception using errcode = '53100', message = 'could not extend file \"base/1/2\": No space left on device'; end $$");
  d.sql('create trigger no_space before insert on runs.runs for each row execute function core.full()');
  assert.ok((await u.start({ prompt: 'hello' })).status >= 500);
  assert.match(s.log, /the database refuses work.*No space left on device/);
  const ready = await new Client(s).get('/readyz');
  assert.equal(ready.status, 200);
  assert.match(ready.json.degraded.find((x) => x.component === 'db').message, /refuses work/);
});
