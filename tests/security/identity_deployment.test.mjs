// `runyard check` and the server at startup warn about insecure settings.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { attack, regular, setUp, tearDown } from './lib/attack.mjs';
import { Server, binary, makeDatabase } from './lib/server.mjs';

let dir;
setUp(() => { dir = mkdtempSync(path.join(tmpdir(), 'ry-check-')); mkdirSync(path.join(dir, 'modules.d')); });
tearDown(() => rmSync(dir, { recursive: true, force: true }));

function check(text, { mode = 0o600, set = [] } = {}) {
  const file = path.join(dir, 'runyard.toml');
  writeFileSync(file, `modules.path = "none"\ndata_dir = "${dir}/data"\n${text}`);
  chmodSync(file, mode);
  const { status, stdout, stderr } = spawnSync(binary, ['check', '--config', file, ...set.flatMap((s) => ['--set', s])], { encoding: 'utf8', env: { PATH: process.env.PATH, RY_TEST_WITHOUT: process.env.RY_TEST_WITHOUT ?? '' } });
  assert.equal(status, 0, stderr);
  return stdout.split('\n').filter((line) => line.startsWith('warning: '));
}
const has = (lines, ...texts) => { for (const t of texts) assert.ok(lines.some((l) => l.includes(t)), `${t} is not in\n${lines.join('\n')}`); };

regular('a secure configuration causes no warnings', () => {
  assert.deepEqual(check('[secrets]\nkey = "' + 'ab'.repeat(32) + '"\n'), []);
});

attack('warns about a key set without issuer or audience', ['deployment_warnings'], () => {
  has(check('', { set: ['auth.jwt.jwks_url=https://id.example/jwks'] }), 'auth.jwt.issuer is not set', 'auth.jwt.audience is not set');
  has(check('', { set: ['auth.jwt.jwks_url=https://id.example/jwks', 'auth.jwt.issuer=https://id.example'] }), 'auth.jwt.audience is not set');
  assert.deepEqual(check('', { set: ['auth.jwt.jwks_url=https://id.example/jwks', 'auth.jwt.issuer=https://id.example', 'auth.jwt.audience=api'] }), []);
});

attack('warns about files that other users can read or change', ['deployment_warnings'], () => {
  const secret = `[auth.jwt]\nhs256_secret = "${'s'.repeat(40)}"\n`;
  has(check(secret, { mode: 0o644 }), 'can be read by every user');
  const all = check(secret, { mode: 0o666 });
  has(all, 'can be read by every user', 'can be changed by every user');
  assert.ok(!all.join().includes('ssss'), 'no warning contains a secret');
  const dropIn = path.join(dir, 'modules.d', 'x.toml');
  writeFileSync(dropIn, '');
  chmodSync(dropIn, 0o602);
  has(check(''), 'x.toml can be changed by every user');
  rmSync(dropIn);
  assert.deepEqual(check('', { mode: 0o644 }), []);
});

attack('warns about disabled limits in production', ['deployment_warnings'], () => {
  const open = ['deployment.mode=production', `auth.jwt.hs256_secret=${'s'.repeat(40)}`];
  has(check('', { set: open }), 'http.limits.address_per_minute', 'http.limits.account_per_minute', 'http.limits.account_streams');
  assert.deepEqual(check('', { set: [...open, 'http.limits.address_per_minute=600', 'http.limits.account_per_minute=600', 'http.limits.account_streams=20'] })
    .filter((l) => l.includes('http.limits')), []);
});

attack('the server logs the warnings', ['deployment_warnings'], async () => {
  const db = makeDatabase();
  const server = new Server({ database: db, settings: `[auth.jwt]\nhs256_secret = "${'s'.repeat(40)}"\n` });
  try {
    chmodSync(server.config, 0o666);
    await server.start();
    assert.match(server.log, /the deployment is insecure.*can be changed by every user/);
  } finally {
    await server.close();
    db.drop();
  }
});
