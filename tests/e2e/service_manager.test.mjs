// A service manager (systemd's protocol, without systemd): readiness, watchdog, reload, and a socket that
// outlives the server, so that a restart refuses no client.
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
  say(...lines) { this.process.stdin.write(lines.map((l) => `${l}\n`).join('')); }
  // Waits for a line after the last one that was waited for.
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
    this.say(...Object.entries(environment).map(([k, v]) => `${k}=${v}`), 'start');
    this.server.url = await this.next(/^notify READY=1\\nSTATUS=serving (http:\S+)$/);
    return this;
  }
  async stop() {
    this.say('signal TERM');
    return await this.next(/^exit (.*)$/);
  }
  async close() {
    if (this.process.exitCode === null) this.say('end');
    await this.gone;
    rmSync(this.notify, { recursive: true, force: true });
    await this.server.close();
  }
}

async function with_manager(type, options, fn) {
  const m = new Manager(type, options);
  try { await fn(m); } finally { await m.close(); }
}

test('the service manager is notified when the server starts, serves and stops, in this order, and nothing else', () => with_manager('none', {}, async (m) => {
  await m.start();
  assert.equal((await new Client(m.server).get('/readyz')).status, 200);
  assert.equal(await m.stop(), '0');
  // On a slow machine, the migrations of a first start may take long enough to ask for more time.
  const notified = m.lines.filter((l) => l.startsWith('notify ') && !l.startsWith('notify EXTEND_TIMEOUT_USEC=')).map((l) => /^notify ([A-Z_]+=)/.exec(l)[1]);
  assert.deepEqual(notified, ['STATUS=', 'READY=', 'STOPPING=']);
}));

test('a long migration is logged by name and duration, and asks for more time than TimeoutStartSec=', async () => {
  const own = makeDatabase();
  try {
    // The fifth table that the migrations create takes seven seconds.
    own.sql(`create sequence public.tables; create function public.slow() returns event_trigger language plpgsql as $$
      begin if nextval('public.tables') = 5 then perform pg_sleep(7); end if; end $$`);
    own.sql("create event trigger slow on ddl_command_start when tag in ('CREATE TABLE') execute function public.slow()");
    await with_manager('none', { set: [`database.url=${own.url}`] }, async (m) => {
      await m.start();
      const asked = m.lines.filter((l) => l.startsWith('notify EXTEND_TIMEOUT_USEC='));
      assert.match(asked.join('\n'), /^notify EXTEND_TIMEOUT_USEC=60000000\\nSTATUS=applying migration \d{4}_\w+ of module core$/m);
      assert.match(m.log, /\[db\] a migration is still running module=core migration=\d{4}_\w+ seconds=[5-9]/);
      assert.ok(m.lines.indexOf(asked.at(-1)) < m.lines.findIndex((l) => l.startsWith('notify READY=1')));
      assert.equal(await m.stop(), '0');
    });
  } finally {
    own.drop();
  }
});

test('a server that cannot start sends no READY', () => with_manager('none', { set: ['database.url=postgresql://nobody@127.0.0.1:1/none', 'database.wait_seconds=0'] }, async (m) => {
  m.say('start');
  assert.equal(await m.next(/^exit (.*)$/), '1');
  assert.ok(!m.lines.some((l) => l.includes('READY=')), m.lines.join('\n'));
}));

test('watchdog: signs of life come well within its patience, and end when the process is stopped', () => with_manager('none', {}, async (m) => {
  await m.start({ WATCHDOG_USEC: '1500000' });
  const count = () => m.lines.filter((l) => l === 'notify WATCHDOG=1').length;
  const before = count();
  await waitFor('five signs of life', () => count() >= before + 5, 10000);
  m.say('signal STOP');
  await sleep(300);
  const held = count();
  await sleep(1600);
  assert.equal(count(), held);
  m.say('signal CONT');
  await waitFor('a sign of life', () => count() > held);
  assert.equal(await m.stop(), '0');
}));

test('reload (SIGHUP): modules with another file than the loaded one are swapped, the others stay', async () => {
  const modules = mkdtempSync(path.join(tmpdir(), 'ry-modules-'));
  for (const name of modulesOn) symlinkSync(path.join(build, 'modules', `${name}.so`), path.join(modules, `${name}.so`));
  const set = [`modules.path=${modules}`];
  try {
    await with_manager('none', { set }, async (m) => {
      await m.start();
      const admin = new Client(m.server, m.server.token({ role: 'admin' }));
      const generations = async () => Object.fromEntries((await admin.get('/admin/modules')).json.map((x) => [x.name, x.generation]));
      const at_first = await generations();
      // As a package manager puts a file in place: written beside, then renamed. The bytes behind an ELF
      // file have no owner.
      const fresh = path.join(modules, 'mcp_sse.new');
      copyFileSync(path.join(build, 'modules/mcp_sse.so'), fresh);
      appendFileSync(fresh, 'x');
      renameSync(fresh, path.join(modules, 'mcp_sse.so'));
      m.say('signal HUP');
      await m.next(/^notify (RELOADING=1\\nMONOTONIC_USEC=\d+\\n.*)$/);
      await m.next(/^notify READY=1(.*)$/);
      const now = await generations();
      assert.ok(now.mcp_sse > at_first.mcp_sse, JSON.stringify([at_first, now]));
      for (const name of ['accounts', 'agents', 'mcp']) assert.equal(now[name], at_first[name], name);
      const reported = await waitFor('the audit', async () => (await admin.get('/admin/audit?action=module.reload')).json.entries[0]);
      assert.deepEqual([reported.actor, reported.detail], ['host:SIGHUP', { module: 'mcp_sse' }]);
      // Again: nothing has changed.
      m.say('signal HUP');
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

test('on a socket that is passed, a restart under load refuses and fails no request', () => with_manager('tcp', {}, async (m) => {
  const port = Number(await m.next(/^port (\d+)$/));
  // A client that connects before the first server waits for it.
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

test('a socket for IPv6 and IPv4: IPv4 clients are identified by their IPv4 address', () => with_manager('tcp6', { set: ['http.trusted_proxies=["127.0.0.1/32"]'] }, async (m) => {
  const port = Number(await m.next(/^port (\d+)$/));
  await m.start();
  const seen = new Promise((resolve) => http.get({ host: '127.0.0.1', port, path: '/healthz', agent: false, headers: { 'x-forwarded-for': '198.51.100.7' } }, (res) => { res.resume(); res.on('end', resolve); }));
  await seen;
  await waitFor('the line of the access log', () => /198\.51\.100\.7/.test(m.log));
  assert.equal(await m.stop(), '0');
}));

test('an unusable socket is refused with an explanation', () => with_manager('udp', {}, async (m) => {
  m.say('start');
  assert.equal(await m.next(/^exit (.*)$/), '1');
  assert.match(m.log, /the inherited socket 3 is no TCP socket that listens/);
}));
