// If root starts the server, the embedded PostgreSQL runs as a separate user: other users of the machine, and the
// shared user of the distribution's PostgreSQL, cannot read the database.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { attack, setUp, tearDown } from './lib/attack.mjs';
import { Server } from './lib/server.mjs';

const id = 64321;
const idOf = (user) => { const r = spawnSync('id', ['-u', user], { encoding: 'utf8' }); return r.status === 0 ? Number(r.stdout) : undefined; };
const able = process.getuid() === 0 && process.env.RY_SECURITY_USER !== 'unprivileged' && idOf('postgres') !== undefined && spawnSync('unshare', ['--mount', 'true']).status === 0;
const skip = able ? false : 'needs root, the user postgres and mount namespaces';
let dir, server;

setUp(async () => {
  if (!able) return;
  dir = mkdtempSync(path.join(tmpdir(), 'ry-users-'));
  // Adds the user in the server's mount namespace, because this machine may not have it.
  for (const [name, line] of [['passwd', `runyard-pg:x:${id}:${id}::/nonexistent:/usr/sbin/nologin`], ['group', `runyard-pg:x:${id}:`]]) {
    const others = readFileSync(`/etc/${name}`, 'utf8').split('\n').filter((l) => l && !l.startsWith('runyard-pg:'));
    writeFileSync(path.join(dir, name), [...others, line, ''].join('\n'), { mode: 0o644 });
  }
  const mounts = ['passwd', 'group'].map((name) => `mount --bind ${dir}/${name} /etc/${name}`).join(' && ');
  server = new Server({ wrap: ['unshare', '--mount', 'sh', '-c', `${mounts} && exec "$@"`, 'sh'] });
  mkdirSync(path.join(server.dir, 'data'));
  chmodSync(server.dir, 0o755);
  await server.start();
});
tearDown(async () => {
  await server?.close();
  if (dir) rmSync(dir, { recursive: true, force: true });
});

const socketDirectory = () => {
  const found = /\S+\/\.s\.PGSQL\.\d+$/m.exec(readFileSync('/proc/net/unix', 'utf8').split('\n').filter((l) => l.includes(server.dir)).join('\n'));
  assert.ok(found, 'the embedded PostgreSQL has a socket');
  return path.dirname(found[0]);
};
const query = (user, sql) => {
  const r = spawnSync('setpriv', [`--reuid=${user}`, `--regid=${user}`, '--clear-groups', 'psql', '-XqAt', '-w', `postgresql://runyard@/runyard?host=${encodeURIComponent(socketDirectory())}`, '-c', sql], { encoding: 'utf8', cwd: '/' });
  return { status: r.status, text: r.stdout + r.stderr };
};

attack('neither the shared user postgres nor another user can read the database', ['postgres_user'], { skip }, () => {
  for (const user of [idOf('postgres'), 65534]) {
    const r = query(user, 'select count(*) from core.job');
    assert.notEqual(r.status, 0, `${user}: ${r.text}`);
    assert.doesNotMatch(r.text, /^\d+$/m);
    for (const file of ['auth.key', 'secrets.key', 'postgres/PG_VERSION', 'postgres.log']) {
      const read = spawnSync('setpriv', [`--reuid=${user}`, `--regid=${user}`, '--clear-groups', 'cat', path.join(server.dir, 'data', file)], { encoding: 'utf8' });
      assert.notEqual(read.status, 0, `${user} reads ${file}`);
    }
  }
  const own = query(id, 'select 1');
  assert.equal(own.text.trim(), '1', 'the user of the embedded PostgreSQL can connect');
  const owner = execFileSync('stat', ['-c', '%u', socketDirectory()], { encoding: 'utf8' }).trim();
  assert.equal(owner, String(id));
});
