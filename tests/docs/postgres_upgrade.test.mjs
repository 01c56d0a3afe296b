// docs/postgres-upgrade.md, followed literally from PostgreSQL 15 to 17 by a real server with data.
import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { Server } from '../e2e/lib/server.mjs';
import { bash, postgresPrograms } from './lib.mjs';
import { backup, hasData, makeData, query, upgrade, versionOf } from './postgres.mjs';

const from = 15, to = 17;
const isRoot = process.getuid() === 0;
// CMakeLists.txt looks for this sentence.
const skip = [from, to].every((v) => existsSync(path.join(postgresPrograms(v), 'postgres'))) ? false : 'PostgreSQL 15 and 17 are not both installed';

// The cluster that a server makes on a machine with the old version only.
function makeOldCluster(cluster) {
  const [owner, asOwner] = isRoot ? ['postgres', 'runuser -u postgres -- '] : [process.getuid(), ''];
  bash('initdb', `install -d -o ${owner} -m 700 '${cluster}'
cd /
${asOwner}${postgresPrograms(from)}/initdb -D '${cluster}' -U runyard --auth=trust -E UTF8 --locale=C.UTF-8 --data-checksums --no-instructions`);
}

// `server` runs on the new version, has all data, and its cluster is as the server itself would have made it.
async function isUpgraded(server, made) {
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

test('a copy by pg_upgrade, back, and the way by a dump', { skip }, async () => {
  // Started by root, PostgreSQL runs as another user, who must reach its cluster.
  const dir = mkdtempSync('/tmp/ry-upgrade-');
  chmodSync(dir, 0o755);
  mkdirSync(path.join(dir, 'data'), { mode: 0o711 });
  makeOldCluster(path.join(dir, 'data/postgres'));
  await withServer(dir, async (server, data) => {
    const way = { data, from, to }, into = path.join(dir, 'backup');
    await server.start({ timeout: 90000 });
    assert.match(server.log, /warning.*is older than the newest installed one.*docs\/postgres-upgrade\.md.*version=15 newest=17/);
    assert.equal(versionOf(server), from);
    const made = await makeData(server);
    backup('backup', { data, into, version: to });
    await server.stop();

    const said = upgrade(way, 'prepare', 'check', 'copy', 'analyze', 'exchange');
    assert.match(said, /^stopped; the cluster's version is 15$/m);
    assert.match(said, /Clusters are compatible[^]*Upgrade Complete[^]*^17$/m);
    await server.start({ timeout: 90000 });
    assert.notEqual(query(server, "select count(*) from pg_stats where schemaname = 'runs'"), '0', 'statistics of the query planner');
    await isUpgraded(server, made);
    await server.stop();

    assert.equal(upgrade(way, 'back').trim(), String(from));
    await server.start({ timeout: 90000 });
    assert.equal(versionOf(server), from);
    await hasData(server, made);
    await server.stop();

    upgrade(way, 'aside');
    backup('restore', { data, into, version: to });
    await server.start({ timeout: 90000 });
    await isUpgraded(server, made);
    await server.stop();
    upgrade(way, 'clean');
    assert.ok(!existsSync(path.join(data, `postgres.${from}`)));
  });
});

test('links by pg_upgrade, of a cluster that a symbolic link leads to', { skip: skip || (!isRoot && 'only root has such clusters') }, async () => {
  // Out of reach for PostgreSQL's user, as below /root: the server keeps the cluster of such a data directory in /var/lib.
  const dir = mkdtempSync('/tmp/ry-upgrade-'), place = mkdtempSync('/var/lib/runyard-');
  chmodSync(place, 0o755);
  mkdirSync(path.join(dir, 'data'), { mode: 0o700 });
  makeOldCluster(path.join(place, 'postgres'));
  symlinkSync(path.join(place, 'postgres'), path.join(dir, 'data/postgres'));
  try {
    await withServer(dir, async (server, data) => {
      const way = { data, from, to }, into = path.join(dir, 'backup');
      await server.start({ timeout: 90000 });
      assert.equal(versionOf(server), from);
      const made = await makeData(server);
      backup('backup', { data, into, version: to });
      await server.stop();
      upgrade(way, 'prepare', 'check', 'link', 'analyze', 'exchange', 'clean');
      assert.equal(readFileSync(path.join(place, 'postgres/PG_VERSION'), 'utf8'), `${to}\n`);
      await server.start({ timeout: 90000 });
      await isUpgraded(server, made);
      await server.stop();

      // The same cluster again, from the dump.
      upgrade(way, 'aside');
      backup('restore', { data, into, version: to });
      assert.ok(existsSync(path.join(place, 'postgres/PG_VERSION')), 'the new cluster is where the link leads');
      await server.start({ timeout: 90000 });
      await isUpgraded(server, made);
    });
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
});
