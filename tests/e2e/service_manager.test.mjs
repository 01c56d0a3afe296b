// The service manager protocol (that of systemd, without systemd): readiness, watchdog, reload, and an inherited socket
// that stays open during a restart, so that no client is refused.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { appendFileSync, copyFileSync, mkdtempSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { Client, Server, binary, build, makeDatabase, modulesOn, sleep, waitFor } from './lib/server.mjs';

const secret = 'auth.jwt.hs256_secret=a secret of at least thirty-two bytes for this test';
let database;
before(() => { database = makeDatabase(); });
after(() => database?.drop());

class Manager {
  constructor(type, { set = [] } = {}) {
    this.server = new Server({ database, set: [secret, ...set] });
    this.lines = [];
    this.log = '';
    const args = ['serve', '--config', this.server.config, '--set', `data_dir=${path.join(this.server.dir, 'data')}`];
    for (const s of this.server.set) args.push('--set', s);
    this.notify = mkdtempSync(path.join(tmpdir(), 'ry-manager-'));
    this.process = spawn('perl', [path.join(import.meta.dirname, 'lib/manager.pl'), this.notify, type, binary, ...args],
      { stdio: ['pipe', 'pipe', 'pipe'] });
    let rest = '';
    this.process.stdout.on('data', (d) => {
      const all = (rest + d).split('\n');
      rest = all.pop();
      this.lines.push(...all);
    });
    this.process.stderr.on('data', (d) => (this.log += d));
    this.gone = new Promise((resolve) => this.process.on('exit', resolve));
  }
  send(...lines) { this.process.stdin.write(lines.map((l) => `${l}\n`).join('')); }
  // Waits for a matching line after the previously matched line.
  async next(pattern, ms = 30000) {
    let found;
    try {
      await waitFor(`${pattern}`, () => {
        for (let i = this.at ?? 0; i < this.lines.length; i++) {
          found = pattern.exec(this.lines[i]);
          if (found) { this.at = i + 1; return true; }
        }
        return false;
      }, ms);
    } catch (e) {
      throw new Error(`${e.message}; there are ${JSON.stringify(this.lines)}; log: ${this.log.slice(-2000)}`);
    }
    return found[1];
  }
  async start(environment = {}) {
    this.send(...Object.entries(environment).map(([k, v]) => `${k}=${v}`), 'start');
    this.server.url = await this.next(/^notify READY=1\\nSTATUS=serving (http:\S+)$/);
    return this;
  }
  async stop() {
    this.send('signal TERM');
    return await this.next(/^exit (.*)$/);
  }
  async close() {
    if (this.process.exitCode === null) this.send('end');
    await this.gone;
    rmSync(this.notify, { recursive: true, force: true });
    await this.server.close();
  }
}

async function withManager(type, options, fn) {
  const m = new Manager(type, options);
  try { await fn(m); } finally { await m.close(); }
}

test('the service manager is notified exactly of start, readiness and stop, in this order', () => withManager('none', {}, async (m) => {
  await m.start();
  assert.equal((await new Client(m.server).get('/readyz')).status, 200);
  assert.equal(await m.stop(), '0');
  // On a slow machine, the migrations of a first start may take long enough to ask for more time.
  const notified = m.lines.filter((l) => l.startsWith('notify ') && !l.startsWith('notify EXTEND_TIMEOUT_USEC=')).map((l) => /^notify ([A-Z_]+=)/.exec(l)[1]);
  assert.deepEqual(notified, ['STATUS=', 'READY=', 'STOPPING=']);
}));

test('a long migration is logged with name and duration, and extends the start timeout', async () => {
  const slowDatabase = makeDatabase();
  try {
    // The fifth table that the migrations create takes seven seconds.
    slowDatabase.sql(`create sequence public.tables; create function public.slow() returns event_trigger language plpgsql as $$
      begin if nextval('public.tables') = 5 then perform pg_sleep(7); end if; end $$`);
    slowDatabase.sql("create event trigger slow on ddl_command_start when tag in ('CREATE TABLE') execute function public.slow()");
    await withManager('none', { set: [`database.url=${slowDatabase.url}`] }, async (m) => {
      await m.start();
      const extensions = m.lines.filter((l) => l.startsWith('notify EXTEND_TIMEOUT_USEC='));
      assert.match(extensions.join('\n'), /^notify EXTEND_TIMEOUT_USEC=60000000\\nSTATUS=applying migration \d{4}_\w+ of module core$/m);
      assert.match(m.log, /\[db\] a migration is still running module=core migration=\d{4}_\w+ seconds=[5-9]/);
      assert.ok(m.lines.indexOf(extensions.at(-1)) < m.lines.findIndex((l) => l.startsWith('notify READY=1')));
      assert.equal(await m.stop(), '0');
    });
  } finally {
    slowDatabase.drop();
  }
});

test('a server that cannot start sends no READY', () => withManager('none', { set: ['database.url=postgresql://nobody@127.0.0.1:1/none', 'database.wait_seconds=0'] }, async (m) => {
  m.send('start');
  assert.equal(await m.next(/^exit (.*)$/), '1');
  assert.ok(!m.lines.some((l) => l.includes('READY=')), m.lines.join('\n'));
}));

test('watchdog heartbeats are sent within the interval and cease when the process is stopped', () => withManager('none', {}, async (m) => {
  await m.start({ WATCHDOG_USEC: '1500000' });
  const count = () => m.lines.filter((l) => l === 'notify WATCHDOG=1').length;
  const before = count();
  await waitFor('five heartbeats', () => count() >= before + 5, 10000);
  m.send('signal STOP');
  await sleep(300);
  const stopped = count();
  await sleep(1600);
  assert.equal(count(), stopped);
  m.send('signal CONT');
  await waitFor('a heartbeat', () => count() > stopped);
  assert.equal(await m.stop(), '0');
}));

test('reload (SIGHUP): modules whose file differs from the loaded one are swapped, others are not', async () => {
  const modules = mkdtempSync(path.join(tmpdir(), 'ry-modules-'));
  for (const name of modulesOn) symlinkSync(path.join(build, 'modules', `${name}.so`), path.join(modules, `${name}.so`));
  const set = [`modules.path=${modules}`];
  try {
    await withManager('none', { set }, async (m) => {
      await m.start();
      const admin = new Client(m.server, m.server.token({ role: 'admin' }));
      const generations = async () => Object.fromEntries((await admin.get('/admin/modules')).json.map((x) => [x.name, x.instance]));
      const initial = await generations();
      // Like a package manager, writes a new file and renames it. Bytes appended to an ELF file
      // have no effect.
      const fresh = path.join(modules, 'mcp_sse.new');
      copyFileSync(path.join(build, 'modules/mcp_sse.so'), fresh);
      appendFileSync(fresh, 'x');
      renameSync(fresh, path.join(modules, 'mcp_sse.so'));
      m.send('signal HUP');
      await m.next(/^notify (RELOADING=1\\nMONOTONIC_USEC=\d+\\n.*)$/);
      await m.next(/^notify READY=1(.*)$/);
      const now = await generations();
      assert.ok(now.mcp_sse > initial.mcp_sse, JSON.stringify([initial, now]));
      for (const name of ['accounts', 'agents', 'mcp']) assert.equal(now[name], initial[name], name);
      const reported = await waitFor('the audit', async () => (await admin.get('/admin/audit?action=module.reload')).json.entries[0]);
      assert.deepEqual([reported.actor, reported.detail], ['host:SIGHUP', { module: 'mcp_sse' }]);
      // A second reload without changes.
      m.send('signal HUP');
      await m.next(/^notify (RELOADING=1)/);
      await m.next(/^notify READY=1(.*)$/);
      assert.deepEqual(await generations(), now);
      assert.equal(await m.stop(), '0');
    });
  } finally {
    rmSync(modules, { recursive: true, force: true });
  }
});

const get = (port, pathname) => new Promise((resolve) => {
  const r = http.get({ host: '127.0.0.1', port, path: pathname, agent: false }, (res) => {
    res.resume();
    res.on('end', () => resolve(res.statusCode));
  });
  r.on('error', (e) => resolve(e.code));
});

test('with an inherited socket, a restart under load refuses and fails no request', () => withManager('tcp', {}, async (m) => {
  const port = Number(await m.next(/^port (\d+)$/));
  // A client that connects before the first server start waits for it.
  const early = get(port, '/readyz');
  await m.start();
  assert.equal(m.server.url, `http://127.0.0.1:${port}`);
  assert.equal(await early, 200);
  let stop = false;
  const answers = {};
  const load = Array.from({ length: 8 }, async () => {
    while (!stop) { const a = await get(port, '/healthz'); answers[a] = (answers[a] ?? 0) + 1; }
  });
  for (let i = 0; i < 3; i++) {
    await sleep(200);
    assert.equal(await m.stop(), '0');
    await m.start();
  }
  await sleep(200);
  stop = true;
  await Promise.all(load);
  assert.deepEqual(Object.keys(answers), ['200'], JSON.stringify(answers));
  assert.ok(answers[200] > 100, JSON.stringify(answers));
  assert.equal(await m.stop(), '0');
}));

test('a socket for IPv6 and IPv4: IPv4 clients are identified by their IPv4 address', () => withManager('tcp6', { set: ['http.trusted_proxies=["127.0.0.1/32"]'] }, async (m) => {
  const port = Number(await m.next(/^port (\d+)$/));
  await m.start();
  const answered = new Promise((resolve) => http.get({ host: '127.0.0.1', port, path: '/healthz', agent: false, headers: { 'x-forwarded-for': '198.51.100.7' } }, (res) => { res.resume(); res.on('end', resolve); }));
  await answered;
  await waitFor('the access log line', () => /198\.51\.100\.7/.test(m.log));
  assert.equal(await m.stop(), '0');
}));

test('an unusable socket is refused with an explanation', () => withManager('udp', {}, async (m) => {
  m.send('start');
  assert.equal(await m.next(/^exit (.*)$/), '1');
  assert.match(m.log, /the inherited socket 3 is not a listening TCP socket/);
}));
