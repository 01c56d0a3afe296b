// SIGHUP reloads the TLS certificate, the database credentials and the log file without a restart. Also the command
// line with a server that uses TLS.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import tls from 'node:tls';
import { makeCertificate } from './lib/certificate.mjs';
import { Client, Server, binary, makeDatabase, modulesOn, waitFor } from './lib/server.mjs';

// The server of this test uses self-signed certificates.
process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';

const disabledModules = modulesOn.filter((m) => !['accounts', 'mcp_prebuilt', 'mcp', 'agents', 'runs', 'llm_offline'].includes(m)).map((m) => `modules.${m}.enabled=false`);
const roles = ['a', 'b'].map((x) => `ry_hup_${x}_${process.pid}`);
const certificates = [makeCertificate(), makeCertificate()];
let database, server, cert, log;

before(async () => {
  database = makeDatabase();
  for (const role of roles) database.sql(`create role ${role} login superuser`);
  server = new Server({ database: { url: database.url.replace('postgres@', `${roles[0]}@`) } });
  cert = path.join(server.dir, 'cert.pem');
  log = path.join(server.dir, 'runyard.log');
  install(certificates[0]);
  server.set.push(...disabledModules, `http.tls.cert=${cert}`, `http.tls.key=${path.join(server.dir, 'key.pem')}`, `log.file=${log}`);
  await server.start();
});
after(async () => {
  await server?.close();
  certificates.forEach((c) => c.remove());
  for (const role of roles) database?.sql(`reassign owned by ${role} to postgres; drop role ${role}`);
  database?.drop();
});

function install(certificate) {
  copyFileSync(certificate.file, cert);
  copyFileSync(path.join(path.dirname(certificate.file), 'key.pem'), path.join(server.dir, 'key.pem'));
}
const servedFingerprint = () => new Promise((resolve, reject) => {
  const s = tls.connect({ host: '127.0.0.1', port: Number(new URL(server.url).port), rejectUnauthorized: false }, () => {
    resolve(s.getPeerX509Certificate().fingerprint256);
    s.end();
  }).on('error', reject);
});
const fingerprint = (c) => execFileSync('openssl', ['x509', '-in', c.file, '-noout', '-fingerprint', '-sha256'], { encoding: 'utf8' }).trim().split('=')[1];
// Sends SIGHUP and returns the log line at the end of the reload.
const reloadBySighup = async () => {
  const from = readFileSync(log, 'utf8').length;
  server.process.kill('SIGHUP');
  return waitFor('the log line about the reload', () => existsSync(log) && /^.*eloaded on SIGHUP.*$/m.exec(readFileSync(log, 'utf8').slice(from > readFileSync(log, 'utf8').length ? 0 : from))?.[0]);
};
const cli = (args, env = {}) => spawnSync(binary, args, { encoding: 'utf8', timeout: 60000, env: { ...process.env, CURL_CA_BUNDLE: '', SSL_CERT_FILE: '', ...env } });
const serverArgs = () => ['--config', server.config, '--set', `data_dir=${path.join(server.dir, 'data')}`,
  '--set', `http.listen=127.0.0.1:${new URL(server.url).port}`, ...server.set.flatMap((s) => ['--set', s])];

test('a reload without changes logs one line', async () => {
  const line = await reloadBySighup();
  assert.match(line, /certificate="?valid until .*database=unchanged modules_with_new_files=0/);
});

test('a renewed certificate is used for new connections, and an invalid one is not loaded', async () => {
  assert.equal(await servedFingerprint(), fingerprint(certificates[0]));
  install(certificates[1]);
  await reloadBySighup();
  assert.equal(await servedFingerprint(), fingerprint(certificates[1]));
  writeFileSync(cert, 'no certificate');
  assert.match(await reloadBySighup(), /not reloaded/);
  assert.match(readFileSync(log, 'utf8'), /http\.tls\.cert.*contains no usable certificate/);
  assert.equal(await servedFingerprint(), fingerprint(certificates[1]));
  install(certificates[1]);
  assert.match(await reloadBySighup(), /reloaded on SIGHUP/);
});

test('a rotated log file is closed', async () => {
  renameSync(log, `${log}.1`);
  server.process.kill('SIGHUP');
  await waitFor('the new file', () => existsSync(log) && /reloaded on SIGHUP/.test(readFileSync(log, 'utf8')));
  const old = readFileSync(`${log}.1`, 'utf8');
  assert.doesNotMatch(server.log, /reloaded on SIGHUP/, 'the log is not written to stderr');
  await fetch(`${server.url}/healthz`);
  assert.equal(readFileSync(`${log}.1`, 'utf8'), old);
});

test('new database credentials are used by new connections', async () => {
  const users = () => database.sql("select string_agg(distinct usename, ',' order by usename) from pg_stat_activity where datname = current_database() and application_name like 'runyard%'");
  assert.equal(users(), roles[0]);
  writeFileSync(server.config, readFileSync(server.config, 'utf8').replaceAll(roles[0], roles[1]));
  assert.match(await reloadBySighup(), /database="?new address or credentials/);
  database.sql(`alter role ${roles[0]} nologin`);
  database.sql(`select pg_terminate_backend(pid) from pg_stat_activity where usename = '${roles[0]}'`);
  await waitFor('the new role', () => users() === roles[1]);
  await waitFor('the server to be ready', async () => (await new Client(server).get('/readyz')).status === 200);
});

test('commands verify their own server by its key, and others with --ca-file', () => {
  const listed = cli(['modules', 'list', '--json', ...serverArgs()]);
  assert.equal(listed.status, 0, listed.stderr);
  assert.match(listed.stderr, /^loaded by the server at https/);
  const port = new URL(server.url).port;
  const token = server.token({ role: 'admin' });
  const unknown = cli(['modules', 'list', '--url', `https://localhost:${port}`, '--token', token, ...serverArgs()]);
  assert.equal(unknown.status, 1);
  assert.match(unknown.stderr, /--ca-file/);
  for (const [args, env] of [[['--ca-file', certificates[1].file], {}], [[], { CURL_CA_BUNDLE: certificates[1].file }], [[], { SSL_CERT_FILE: certificates[1].file }]]) {
    const r = cli(['modules', 'list', '--url', `https://localhost:${port}`, '--token', token, ...args, ...serverArgs()], env);
    assert.equal(r.status, 0, r.stderr);
  }
  const wrong = cli(['modules', 'list', '--url', `https://localhost:${port}`, '--token', token, '--ca-file', certificates[0].file, ...serverArgs()]);
  assert.equal(wrong.status, 1);
  const run = cli(['run', 'Say hello', '--url', `https://localhost:${port}`, '--token', server.token(), '--ca-file', certificates[1].file]);
  assert.equal(run.status, 0, run.stderr);
});

test('a rejection by the server exits with 1 and names the token; an invalid command line exits with 2', () => {
  const env = { RUNYARD_TOKEN: server.token() };
  assert.equal(cli(['modules', 'reload', 'mcp_prebuilt', ...serverArgs()], env).status, 0, 'the command uses the key of the server, not the token of the user');
  const refused = cli(['modules', 'reload', 'mcp_prebuilt', '--url', server.url.replace('127.0.0.1', 'localhost'), '--ca-file', certificates[1].file, ...serverArgs()], env);
  assert.equal(refused.status, 1);
  assert.match(refused.stderr, /with the token of \$RUNYARD_TOKEN/);
  const absent = cli(['modules', 'reload', 'absent_module', ...serverArgs()]);
  assert.equal(absent.status, 1);
  assert.match(absent.stderr, /not running/);
  assert.equal(cli(['modules', 'reload']).status, 2);
  assert.equal(cli(['modules', 'list', '--config', '/nonexistent.toml']).status, 2);
});

test('reports are printed as JSON', () => {
  const check = cli(['check', '--json', ...serverArgs()]);
  assert.equal(check.status, 0, check.stderr);
  assert.equal(JSON.parse(check.stdout).ok, true);
  const bad = cli(['check', '--json', ...serverArgs(), '--set', 'runs.max_stepz=1']);
  assert.equal(bad.status, 2);
  assert.match(JSON.parse(bad.stdout).faults.join(), /max_stepz/);
  const schema = JSON.parse(cli(['settings', '--json', ...serverArgs()]).stdout);
  assert.equal(schema.properties.log.properties.file.type, 'string');
  assert.ok(schema.properties.runs.properties.run_timeout);
  const steps = cli(['migrate', 'status', '--json', ...serverArgs()]);
  assert.equal(steps.status, 0, steps.stderr);
  assert.ok(JSON.parse(steps.stdout).every((s) => s.state === 'applied' && s.applied_at));
});

test('the completions and the manual page contain every command', () => {
  const bash = cli(['completion', 'bash']).stdout;
  const complete = (line) => execFileSync('bash', ['-c', `${bash}
COMP_WORDS=(${line} ''); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _runyard; printf '%s\\n' "\${COMPREPLY[@]}"`], { encoding: 'utf8' }).trim().split('\n');
  assert.ok(['serve', 'check', 'modules', 'migrate'].every((w) => complete('runyard').includes(w)));
  assert.ok(['reload', 'enable', '--ca-file'].every((w) => complete('runyard modules').includes(w)));
  assert.ok(complete('runyard --version modules reload x').includes('--config'));
  for (const shell of ['zsh', 'fish']) assert.match(cli(['completion', shell]).stdout, /ca-file/);
  assert.equal(cli(['completion', 'tcsh']).status, 2);
  const page = cli(['manual']).stdout;
  assert.match(page, /^\.TH RUNYARD 1/);
  assert.match(page, /runyard migrate forget/);
  assert.match(page, /EXIT STATUS/);
});
