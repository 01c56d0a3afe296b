// The parts of docs/postgres-upgrade.md that need only one version of PostgreSQL: the error message, and the restore of
// a dump.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { Server, binary } from '../e2e/lib/server.mjs';
import { block, page, postgresPrograms, postgresVersions, replaced } from './lib.mjs';
import { backup, hasData, makeData, upgrade, versionOf } from './postgres.mjs';

const newest = postgresVersions[0];
let dir;
// If started as root, PostgreSQL runs as another user, which must be able to reach its cluster.
before(() => { dir = mkdtempSync('/tmp/ry-postgres-'); chmodSync(dir, 0o755); });
after(() => rmSync(dir, { recursive: true, force: true }));

function runyard(command, data) {
  const r = spawnSync(binary, [...command, '--config', '/dev/null', '--set', `data_dir=${data}`, '--set', 'modules.path=/var/empty', '--set', 'http.listen=127.0.0.1:0'],
    { encoding: 'utf8', timeout: 60000, env: { ...process.env, PATH: '/usr/bin:/bin' } });
  return { code: r.status, text: r.stderr };
}

test('a cluster whose version is not installed is rejected with the message of the page', () => {
  let missing = 10;
  while (postgresVersions.includes(missing)) missing++;
  const data = path.join(dir, 'refused'), cluster = path.join(data, 'postgres');
  mkdirSync(cluster, { recursive: true });
  writeFileSync(path.join(cluster, 'PG_VERSION'), `${missing}\n`);
  const installed = postgresVersions.map((v) => `${v} (${postgresPrograms(v)})`).join(', ');
  const message = replaced(block(page('postgres-upgrade.md'), 'refusal'),
    [['/var/lib/runyard/postgres', cluster], ['17 (/usr/lib/postgresql/17/bin)', installed], ['PostgreSQL 15', `PostgreSQL ${missing}`], ['postgresql-15', `postgresql-${missing}`]]);
  for (const command of [['serve'], ['migrate'], ['migrate', 'status']]) {
    const { code, text } = runyard(command, data);
    assert.equal(code, 2, text);
    assert.ok(text.endsWith(message), `${command.join(' ')}: ${text}`);
  }
  assert.deepEqual(readdirSync(cluster), ['PG_VERSION']);
});

test('a damaged PG_VERSION is rejected, and the copy named in the message repairs it', () => {
  const data = path.join(dir, 'damaged'), file = path.join(data, 'postgres/PG_VERSION');
  assert.equal(runyard(['migrate'], data).code, 0);
  writeFileSync(file, '');
  const { code, text } = runyard(['migrate'], data);
  assert.equal(code, 2, text);
  assert.match(text, /PG_VERSION is damaged/);
  const copy = /^Copy (\S+)/m.exec(text)[1];
  writeFileSync(file, readFileSync(copy));
  assert.equal(runyard(['migrate'], data).code, 0);
});

test('a dump is restored into a new cluster that replaces the old one', async () => {
  mkdirSync(path.join(dir, 'dump'), { mode: 0o755 });
  const server = new Server({ dir: path.join(dir, 'dump') });
  const data = path.join(server.dir, 'data'), into = path.join(dir, 'backup');
  const options = { data, from: newest, to: newest };
  try {
    await server.start({ timeout: 90000 });
    assert.doesNotMatch(server.log, /is older than the newest installed one/);
    const made = await makeData(server);
    backup('backup', { data, into, version: newest });
    await server.stop();
    upgrade(options, 'aside');
    assert.ok(!existsSync(path.join(data, 'postgres')));
    backup('restore', { data, into, version: newest });
    await server.start({ timeout: 90000 });
    assert.equal(versionOf(server), newest);
    await hasData(server, made);
    await server.stop();
    upgrade(options, 'clean');
    assert.deepEqual(readdirSync(data).filter((f) => f.startsWith('postgres.') && !f.includes('log')), []);
  } finally {
    await server.stop();
  }
});
