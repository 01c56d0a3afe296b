// Executes the commands of docs/postgres-upgrade.md from PostgreSQL 15 to 17, on a real server with data.
import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { Server } from '../e2e/lib/server.mjs';
import { bash, postgresPrograms } from './lib.mjs';
import { backup, hasData, makeData, query, upgrade, versionOf } from './postgres.mjs';

const from = 15, to = 17;
const isRoot = process.getuid() === 0;
// CMakeLists.txt searches for this text.
const skip = [from, to].every((v) => existsSync(path.join(postgresPrograms(v), 'postgres'))) ? false : 'PostgreSQL 15 and 17 are not both installed';

// Creates a cluster like a server does on a machine that has only the old version.
function makeOldCluster(cluster) {
  const [owner, asOwner] = isRoot ? ['postgres', 'runuser -u postgres -- '] : [process.getuid(), ''];
  bash('initdb', `install -d -o ${owner} -m 700 '${cluster}'
cd /
${asOwner}${postgresPrograms(from)}/initdb -D '${cluster}' -U runyard --auth=trust -E UTF8 --locale=C.UTF-8 --data-checksums --no-instructions`);
}

// Checks that the server uses the new version, has all data, and that its cluster has the properties of a new one.
async function expectUpgraded(server, made) {
  assert.doesNotMatch(server.log, /is older than the newest installed one/);
  assert.equal(versionOf(server), to);
  assert.equal(query(server, 'show data_checksums'), 'on');
  assert.equal(query(server, 'select datcollate from pg_database where datname = current_database()'), 'C.UTF-8');
  await hasData(server, made);
}

async function withServer(dir, use) {
  const server = new Server({ dir });
  try {
    await use(server, path.join(dir, 'data'));
  } finally {
    await server.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

test('upgrade by pg_upgrade with copies, return to the old version, and upgrade by a dump', { skip }, async () => {
  // If started as root, PostgreSQL runs as another user, which must be able to reach its cluster.
  const dir = mkdtempSync('/tmp/ry-upgrade-');
  chmodSync(dir, 0o755);
  mkdirSync(path.join(dir, 'data'), { mode: 0o711 });
  makeOldCluster(path.join(dir, 'data/postgres'));
  await withServer(dir, async (server, data) => {
    const options = { data, from, to }, into = path.join(dir, 'backup');
    await server.start({ timeout: 90000 });
    assert.match(server.log, /warning.*is older than the newest installed one.*docs\/postgres-upgrade\.md.*version=15 newest=17/);
    assert.equal(versionOf(server), from);
    const made = await makeData(server);
    backup('backup', { data, into, version: to });
    await server.stop();

    const output = upgrade(options, 'prepare', 'check', 'copy', 'analyze', 'exchange');
    assert.match(output, /^stopped; the cluster's version is 15$/m);
    assert.match(output, /Clusters are compatible[^]*Upgrade Complete[^]*^17$/m);
    await server.start({ timeout: 90000 });
    assert.notEqual(query(server, "select count(*) from pg_stats where schemaname = 'runs'"), '0', 'statistics of the query planner');
    await expectUpgraded(server, made);
    await server.stop();

    assert.equal(upgrade(options, 'back').trim(), String(from));
    await server.start({ timeout: 90000 });
    assert.equal(versionOf(server), from);
    await hasData(server, made);
    await server.stop();

    upgrade(options, 'aside');
    backup('restore', { data, into, version: to });
    await server.start({ timeout: 90000 });
    await expectUpgraded(server, made);
    await server.stop();
    upgrade(options, 'clean');
    assert.ok(!existsSync(path.join(data, `postgres.${from}`)));
  });
});

test('upgrade by pg_upgrade with hard links, of a cluster behind a symbolic link', { skip: skip || (!isRoot && 'only root can create such clusters') }, async () => {
  // The user of PostgreSQL cannot reach the data directory, as below /root: then the server keeps the cluster in
  // /var/lib.
  const dir = mkdtempSync('/tmp/ry-upgrade-'), clusterDir = mkdtempSync('/var/lib/runyard-');
  chmodSync(clusterDir, 0o755);
  mkdirSync(path.join(dir, 'data'), { mode: 0o700 });
  makeOldCluster(path.join(clusterDir, 'postgres'));
  symlinkSync(path.join(clusterDir, 'postgres'), path.join(dir, 'data/postgres'));
  try {
    await withServer(dir, async (server, data) => {
      const options = { data, from, to }, into = path.join(dir, 'backup');
      await server.start({ timeout: 90000 });
      assert.equal(versionOf(server), from);
      const made = await makeData(server);
      backup('backup', { data, into, version: to });
      await server.stop();
      upgrade(options, 'prepare', 'check', 'link', 'analyze', 'exchange', 'clean');
      assert.equal(readFileSync(path.join(clusterDir, 'postgres/PG_VERSION'), 'utf8'), `${to}\n`);
      await server.start({ timeout: 90000 });
      await expectUpgraded(server, made);
      await server.stop();

      // The same upgrade again, from the dump.
      upgrade(options, 'aside');
      backup('restore', { data, into, version: to });
      assert.ok(existsSync(path.join(clusterDir, 'postgres/PG_VERSION')), 'the new cluster is at the target of the link');
      await server.start({ timeout: 90000 });
      await expectUpgraded(server, made);
    });
  } finally {
    rmSync(clusterDir, { recursive: true, force: true });
  }
});
