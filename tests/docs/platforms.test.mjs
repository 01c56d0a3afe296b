// Supported systems: scripts/platforms.tsv is the one list. README.md, docs/deployment.md, the scripts and CMake must say the same.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { root } from '../e2e/lib/server.mjs';
import { page } from './lib.mjs';

const rows = readFileSync(path.join(root, 'scripts/platforms.tsv'), 'utf8').split('\n').filter((l) => l && !l.startsWith('#')).map((l) => l.split('\t'));
const [header, ...body] = rows;
const platforms = body.map((row) => Object.fromEntries(row.map((cell, i) => [header[i], cell])));
const tables = platforms.map((p) => `| ${p.name} | g++ ${p.gcc} | ${p.boost} | ${p.postgresql} | ${p.tested === 'yes' ? 'tested' : 'untested'} |`);

const dir = mkdtempSync(path.join(tmpdir(), 'ry-platforms-'));
after(() => rmSync(dir, { recursive: true, force: true }));

// Runs `script` with scripts/common.sh on a system whose /etc/os-release has these lines.
function on(release, script, env = {}) {
  const file = path.join(dir, 'os-release');
  writeFileSync(file, release.join('\n') + '\n');
  const run = spawnSync('bash', ['--norc', '-euc', `root=${root}; source "$root/scripts/common.sh"; ${script}`],
    { encoding: 'utf8', env: { PATH: process.env.PATH, RUNYARD_OS_RELEASE: file, ...env } });
  return { code: run.status, out: run.stdout.trim(), err: run.stderr.trim() };
}
const debian = (codename) => ['ID=debian', `VERSION_CODENAME=${codename}`, `PRETTY_NAME="Debian GNU/Linux (${codename})"`];

test('the table has complete rows', () => {
  assert.deepEqual(header, ['codename', 'name', 'boost', 'gcc', 'postgresql', 'tested']);
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

test('packages are named by the release', () => {
  for (const p of platforms) {
    const got = on(debian(p.codename), 'choose_packages; echo "$platform_name|$platform_postgresql|${build_packages[*]}"');
    assert.equal(got.code, 0, got.err);
    const [name, postgresql, packages] = got.out.split('|');
    assert.equal(name, p.name);
    assert.equal(postgresql, p.postgresql);
    assert.deepEqual(packages.split(' ').filter((x) => x.startsWith('libboost')),
      ['', '-json', '-url', '-filesystem'].map((part) => `libboost${part}${p.boost}-dev`));
  }
});

test('a derivative uses the release it is made from', () => {
  const name = (release, env) => on(release, 'detect_platform; echo "$platform_name"', env).out;
  assert.equal(name(['ID=linuxmint', 'ID_LIKE="ubuntu debian"', 'VERSION_CODENAME=wilma', 'UBUNTU_CODENAME=noble']), 'Ubuntu 24.04');
  assert.equal(name(['ID=linuxmint', 'ID_LIKE=debian', 'VERSION_CODENAME=faye', 'DEBIAN_CODENAME=bookworm']), 'Debian 12');
  assert.equal(name(['ID=devuan', 'VERSION_CODENAME=excalibur'], { RUNYARD_PLATFORM: 'trixie' }), 'Debian 13');
});

test('another version of Boost can be chosen', () => {
  assert.match(on(debian('trixie'), 'choose_packages; echo "${build_packages[*]}"', { RUNYARD_BOOST: '1.88' }).out, /libboost-json1\.88-dev/);
});

test('an unsupported system is refused with the list of supported ones', () => {
  for (const release of [debian('bullseye'), ['ID=fedora', 'PRETTY_NAME="Fedora Linux 40"'], []]) {
    const got = on(release, 'choose_packages; echo not reached');
    assert.equal(got.code, 1);
    assert.equal(got.out, '');
    for (const p of platforms) assert.ok(got.err.includes(p.name), got.err);
    assert.ok(got.err.includes('Ubuntu 24.04 (untested)'), got.err);
  }
  assert.match(on(['ID=fedora', 'PRETTY_NAME="Fedora Linux 40"'], 'choose_packages').err, /^Runyard cannot be built on Fedora Linux 40/);
});

test('./quickstart and ./test stop on an unsupported system before they install or build anything', () => {
  const file = path.join(dir, 'fedora');
  writeFileSync(file, 'ID=fedora\nPRETTY_NAME="Fedora Linux 40"\n');
  for (const command of ['quickstart', 'test']) {
    const run = spawnSync(path.join(root, command), [], { encoding: 'utf8', env: { PATH: process.env.PATH, HOME: dir, RUNYARD_OS_RELEASE: file } });
    assert.equal(run.status, 1);
    assert.equal(run.stdout, '');
    assert.match(run.stderr, /Supported systems: Debian 12, Debian 13/);
  }
});

test('CMake refuses a compiler and a Boost that are too old, with the supported systems', () => {
  const project = path.join(dir, 'project'), build = path.join(dir, 'build');
  spawnSync('mkdir', ['-p', path.join(project, 'scripts')]);
  writeFileSync(path.join(project, 'scripts/platforms.tsv'), readFileSync(path.join(root, 'scripts/platforms.tsv')));
  const configure = (before) => {
    writeFileSync(path.join(project, 'CMakeLists.txt'), `cmake_minimum_required(VERSION 3.25)\nproject(p LANGUAGES CXX)\n${before}\n` +
      `include(${root}/cmake/platforms.cmake)\nmessage(STATUS "minimum \${RY_BOOST_MINIMUM} \${RY_GCC_MINIMUM}")\n`);
    return spawnSync('cmake', ['-S', project, '-B', build], { encoding: 'utf8' });
  };
  const fine = configure('');
  assert.equal(fine.status, 0, fine.stderr);
  assert.match(fine.stdout, /minimum 1\.81 12\n/);
  const old = configure('set(CMAKE_CXX_COMPILER_VERSION 11.2)');
  assert.notEqual(old.status, 0);
  assert.match(old.stderr.replace(/\s+/g, ' '), /g\+\+ 11\.2 is too old: Runyard needs g\+\+ 12 or newer\. Supported systems: Debian 12, Debian 13/);
  const none = configure('set(CMAKE_DISABLE_FIND_PACKAGE_Boost TRUE)');
  assert.notEqual(none.status, 0);
  assert.match(none.stderr.replace(/\s+/g, ' '), /Boost 1\.81 or newer .* was not found.*Debian 12, Debian 13/);
});
