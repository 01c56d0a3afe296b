// Supported systems: README.md, docs/deployment.md, the scripts and CMake must agree with scripts/platforms.tsv.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { root } from '../e2e/lib/server.mjs';
import { page, platforms } from './lib.mjs';

const tables = platforms.map((p) => `| ${p.name} | g++ ${p.gcc} | ${p.boost} | ${p.postgresql} | ${p.tested === 'yes' ? 'tested' : 'untested'} |`);

const dir = mkdtempSync(path.join(tmpdir(), 'ry-platforms-'));
after(() => rmSync(dir, { recursive: true, force: true }));

// Runs `script` with scripts/common.sh on a system whose /etc/os-release has these lines.
function runOnSystem(release, script, env = {}) {
  const file = path.join(dir, 'os-release');
  writeFileSync(file, release.join('\n') + '\n');
  const run = spawnSync('bash', ['--norc', '-euc', `source "$root/scripts/common.sh"; ${script}`],
    { encoding: 'utf8', env: { root, PATH: process.env.PATH, BUILD_OS_RELEASE: file, ...env } });
  return { code: run.status, out: run.stdout.trim(), err: run.stderr.trim() };
}
const debian = (codename) => ['ID=debian', `VERSION_CODENAME=${codename}`, `PRETTY_NAME="Debian GNU/Linux (${codename})"`];

test('the table has complete rows', () => {
  for (const p of platforms) assert.deepEqual(Object.keys(p), ['codename', 'name', 'boost', 'gcc', 'postgresql', 'tested']);
  assert.ok(platforms.length >= 3);
  for (const p of platforms) {
    assert.match(p.codename, /^[a-z]+$/);
    assert.match(p.name, /^(Debian|Ubuntu) [0-9.]+$/);
    for (const key of ['boost', 'gcc', 'postgresql']) assert.match(p[key], /^[0-9.]+$/, `${p.name}: ${key}`);
    assert.match(p.tested, /^(yes|no)$/);
  }
});

for (const [name, text] of [['README.md', readFileSync(path.join(root, 'README.md'), 'utf8')], ['docs/deployment.md', page('deployment.md')]])
  test(`${name} lists exactly the supported systems`, () => {
    const listed = text.split('\n').filter((l) => /^\| (Debian|Ubuntu) [0-9.]+ \|/.test(l));
    assert.deepEqual(listed, tables);
  });

test('the other pages state the same versions', () => {
  const upgrade = page('postgres-upgrade.md').replace(/\s+/g, ' '), readme = readFileSync(path.join(root, 'README.md'), 'utf8');
  for (const p of platforms) assert.ok(upgrade.includes(`${p.postgresql} on ${p.name}`), `docs/postgres-upgrade.md: ${p.postgresql} on ${p.name}`);
  const lowest = (key) => platforms.map((p) => p[key]).sort((a, b) => a.localeCompare(b, undefined, { numeric: true }))[0];
  for (const requirement of [`Boost ${lowest('boost')} or newer`, `PostgreSQL ${lowest('postgresql')} or newer`]) assert.ok(readme.includes(requirement), `README.md: ${requirement}`);
});

test('package names follow the release', () => {
  for (const p of platforms) {
    const got = runOnSystem(debian(p.codename), 'choose_packages; echo "$platform_name|${build_packages[*]}"');
    assert.equal(got.code, 0, got.err);
    const [name, packages] = got.out.split('|');
    assert.equal(name, p.name);
    assert.deepEqual(packages.split(' ').filter((x) => x.startsWith('libboost')),
      ['', '-json', '-url', '-filesystem'].map((part) => `libboost${part}${p.boost}-dev`));
  }
});

test('a derivative uses the packages of its base release', () => {
  const name = (release, env) => runOnSystem(release, 'detect_platform; echo "$platform_name"', env).out;
  assert.equal(name(['ID=linuxmint', 'ID_LIKE="ubuntu debian"', 'VERSION_CODENAME=wilma', 'UBUNTU_CODENAME=noble']), 'Ubuntu 24.04');
  assert.equal(name(['ID=linuxmint', 'ID_LIKE=debian', 'VERSION_CODENAME=faye', 'DEBIAN_CODENAME=bookworm']), 'Debian 12');
  assert.equal(name(['ID=devuan', 'VERSION_CODENAME=excalibur'], { BUILD_PLATFORM: 'trixie' }), 'Debian 13');
  assert.equal(name(["VERSION_CODENAME='trixie'\r", 'DEBIAN_CODENAME=']), 'Debian 13');
});

test('os-release is parsed, not executed, and the environment does not replace it', () => {
  const marker = path.join(dir, 'ran');
  const got = runOnSystem([`$(touch ${marker})`, 'FOO="$UNSET"', 'PRETTY_NAME="$(id)"', 'VERSION_CODENAME=bullseye'], 'detect_platform', { DEBIAN_CODENAME: 'bookworm', UBUNTU_CODENAME: 'noble' });
  assert.equal(got.code, 1);
  assert.match(got.err, /^This script does not support \$\(id\)\./);
  assert.ok(!existsSync(marker));
});

test('an unknown BUILD_PLATFORM is reported as the cause', () => {
  const got = runOnSystem(debian('bookworm'), 'detect_platform', { BUILD_PLATFORM: 'Trixie' });
  assert.equal(got.code, 1);
  assert.match(got.err, /^BUILD_PLATFORM is "Trixie".*\nSet it to one of: bookworm, trixie, noble/);
});

test('another version of Boost can be chosen', () => {
  assert.match(runOnSystem(debian('trixie'), 'choose_packages; echo "${build_packages[*]}"', { BUILD_BOOST: '1.88' }).out, /libboost-json1\.88-dev/);
});

test('an unsupported system is rejected with the list of supported ones', () => {
  for (const release of [debian('bullseye'), ['ID=fedora', 'PRETTY_NAME="Fedora Linux 40"'], []]) {
    const got = runOnSystem(release, 'choose_packages; echo not reached');
    assert.equal(got.code, 1);
    assert.equal(got.out, '');
    for (const p of platforms) assert.ok(got.err.includes(p.name), got.err);
    assert.ok(got.err.includes('Ubuntu 24.04 (untested)'), got.err);
  }
  assert.match(runOnSystem(['ID=fedora', 'PRETTY_NAME="Fedora Linux 40"'], 'choose_packages').err, /^This script does not support Fedora Linux 40/);
});

test('./quickstart and ./test stop on an unsupported system before they install or build anything', () => {
  const file = path.join(dir, 'fedora');
  writeFileSync(file, 'ID=fedora\nPRETTY_NAME="Fedora Linux 40"\n');
  for (const command of ['quickstart', 'test']) {
    const run = spawnSync(path.join(root, command), [], { encoding: 'utf8', env: { PATH: process.env.PATH, HOME: dir, BUILD_OS_RELEASE: file } });
    assert.equal(run.status, 1);
    assert.equal(run.stdout, '');
    assert.match(run.stderr, /Supported systems: Debian 12, Debian 13/);
  }
});

test('CMake rejects a compiler and a Boost that are too old, with the list of supported systems', () => {
  const project = path.join(dir, 'project'), build = path.join(dir, 'build');
  spawnSync('mkdir', ['-p', path.join(project, 'scripts')]);
  writeFileSync(path.join(project, 'scripts/platforms.tsv'), readFileSync(path.join(root, 'scripts/platforms.tsv')));
  const configure = (preamble, ...options) => {
    writeFileSync(path.join(project, 'CMakeLists.txt'), `cmake_minimum_required(VERSION 3.25)\nproject(p LANGUAGES CXX)\n${preamble}\n` +
      `include(${root}/cmake/platforms.cmake)\nmessage(STATUS "minimum \${RY_BOOST_MINIMUM} \${RY_GCC_MINIMUM} on \${RY_PLATFORM_NAME}")\n`);
    return spawnSync('cmake', ['-S', project, '-B', build, ...options], { encoding: 'utf8' });
  };
  const fine = configure('');
  assert.equal(fine.status, 0, fine.stderr);
  assert.match(fine.stdout, /minimum 1\.81 12 on /);
  assert.match(configure('', '-DRY_PLATFORM=trixie').stdout, /minimum 1\.81 12 on Debian 13\n/);
  const unknown = configure('', '-DRY_PLATFORM=Trixie');
  assert.notEqual(unknown.status, 0);
  assert.match(unknown.stderr.replace(/\s+/g, ' '), /RY_PLATFORM=Trixie is not a codename/);
  configure('', '-DRY_PLATFORM=');
  const old = configure('set(CMAKE_CXX_COMPILER_VERSION 11.2)');
  assert.notEqual(old.status, 0);
  assert.match(old.stderr.replace(/\s+/g, ' '), /g\+\+ 11\.2 is too old: Runyard needs g\+\+ 12 or newer\. Supported systems: Debian 12, Debian 13/);
  const none = configure('set(CMAKE_DISABLE_FIND_PACKAGE_Boost TRUE)');
  assert.notEqual(none.status, 0);
  assert.match(none.stderr.replace(/\s+/g, ' '), /Boost 1\.81 or newer .* was not found.*Debian 12, Debian 13/);
});
