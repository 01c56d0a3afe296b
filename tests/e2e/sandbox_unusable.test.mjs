// Systems on which bubblewrap cannot work: the log and /readyz name the cause and the fix, and clients are only told
// that commands are not available.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { lastUser, startLlm } from './lib/llm.mjs';
import { Client, Server, binary, build, makeDatabase, statuses } from './lib/server.mjs';

let database, llm;

before(async () => {
  database = makeDatabase();
  llm = await startLlm(async (request, reply) => {
    const done = request.messages.filter((m) => m.role === 'tool');
    if (lastUser(request).includes('[shell]') && done.length === 0)
      return reply.tools([{ name: 'shell', arguments: { command: 'echo out' } }]);
    return reply.say('done');
  });
});
after(async () => {
  await llm?.close();
  database?.drop();
});

const warning = (log) => log.split('\n').find((l) => l.includes('bubblewrap does not work here')) ?? '';

// Runs `use` with a server whose bwrap only prints `stderrText` and fails.
async function withStub(stderrText, use) {
  const server = new Server({ database, llm });
  const stub = path.join(server.dir, 'bwrap');
  writeFileSync(stub, `#!/bin/sh\ncat >&2 <<'STDERR'\n${stderrText}\nSTDERR\nexit 1\n`);
  chmodSync(stub, 0o755);
  server.set.push(`sandbox_bubblewrap.bwrap_path=${stub}`);
  try {
    await use(await server.start(), stub);
  } finally {
    await server.close();
  }
}

// Only Ubuntu kernels have this setting. Without it the server must not report AppArmor as the cause.
const setting = '/proc/sys/kernel/apparmor_restrict_unprivileged_userns';
const restricts = existsSync(setting) && readFileSync(setting, 'utf8').trim() !== '0';
const [apparmor, profile] = restricts
  ? [/AppArmor blocks/, /profile for \S+ with the rule .*userns,.*kernel\.apparmor_restrict_unprivileged_userns=0/]
  : [/denies new namespaces/, /journalctl -k|RestrictNamespaces=|seccomp/i];

for (const [label, stderrText, cause, fix] of [
  ['no network namespace', 'bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted', apparmor, profile],
  ['no uid map', 'bwrap: setting up uid map: Permission denied', apparmor, profile],
  ['an unknown message', 'bwrap: something new', /unknown cause/, /"Where the sandbox cannot work\\?" in docs\/security\.md/],
  ['masked /proc', "bwrap: Can't mount proc on /newroot/proc: Operation not permitted",
    /parts of \/proc are masked/, /systempaths=unconfined|unmask=ALL|procMount: Unmasked/],
  ['an old bubblewrap', 'bwrap: Unknown option --disable-userns', /older than 0\.8/, /0\.8 or later/],
])
  test(`${label}: the log and /readyz name cause and fix`, async () => {
    await withStub(stderrText, async (server) => {
      const line = warning(server.log);
      assert.match(line, cause);
      assert.match(line, fix);
      assert.ok(line.includes(stderrText), line);
      assert.doesNotMatch(line, /ordinary user instead/);
      const ready = await new Client(server).get('/readyz');
      assert.equal(ready.status, 200, ready.text);
      const reason = ready.json.degraded.find((r) => r.component === 'sandbox_bubblewrap');
      assert.match(reason?.message, cause);
      assert.match(reason.message, fix);
    });
  });

test('a missing bwrap is reported with the package that contains it', async () => {
  const server = new Server({ database, llm, set: ['sandbox_bubblewrap.bwrap_path=/nonexistent/bwrap'] });
  try {
    await server.start();
    assert.match(warning(server.log), /\/nonexistent\/bwrap does not exist\. Install the package bubblewrap/);
  } finally {
    await server.close();
  }
});

// A non-UTF-8 byte of bwrap must not make the JSON of /readyz invalid. JSON.parse() of a decoded text would not detect it.
test('/readyz is valid UTF-8 if bwrap prints other bytes', async () => {
  const server = new Server({ database, llm });
  const stub = path.join(server.dir, 'bwrap');
  writeFileSync(stub, "#!/bin/sh\nprintf 'bwrap: caf\\351 \\033[31m\\n' >&2\nexit 1\n");
  chmodSync(stub, 0o755);
  server.set.push(`sandbox_bubblewrap.bwrap_path=${stub}`);
  try {
    await server.start();
    const answer = await fetch(`${server.url}/readyz`);
    const text = new TextDecoder('utf-8', { fatal: true }).decode(await answer.arrayBuffer());
    const reason = JSON.parse(text).degraded.find((r) => r.component === 'sandbox_bubblewrap');
    assert.match(reason.message, /bwrap: caf\ufffd  \[31m/);
  } finally {
    await server.close();
  }
});

for (const [label, set, cause] of [
  ['another program as exec_path', 'exec_path=/bin/true', /succeeded without the expected output/],
  ['a program that prints its arguments as exec_path', 'exec_path=/bin/echo', /succeeded without the expected output/],
])
  test(`${label} does not count as a working sandbox`, async () => {
    const server = new Server({ database, llm, set: [`sandbox_bubblewrap.${set}`] });
    try {
      await server.start();
      assert.match(warning(server.log), cause);
      assert.doesNotMatch(server.log, /sandbox ready/);
    } finally {
      await server.close();
    }
  });

test('a bwrap that hangs is reported as a timeout', async () => {
  const server = new Server({ database, llm });
  const stub = path.join(server.dir, 'bwrap');
  writeFileSync(stub, '#!/bin/sh\nexec sleep 60\n');
  chmodSync(stub, 0o755);
  server.set.push(`sandbox_bubblewrap.bwrap_path=${stub}`);
  try {
    await server.start({ timeout: 60000 });
    assert.match(warning(server.log), /did not exit within 10 s.*nothing \(terminated after 10 s\)/);
  } finally {
    await server.close();
  }
});

test('without control groups commands run, and /readyz names the missing limits', async () => {
  const server = new Server({ database, llm, set: ['sandbox_bubblewrap.control_groups=off'] });
  try {
    await server.start();
    const ready = await new Client(server).get('/readyz');
    assert.equal(ready.status, 200, ready.text);
    const degraded = ready.json.degraded?.find((d) => d.component === 'sandbox_bubblewrap');
    assert.match(degraded?.message ?? ready.text, /without control groups.*Kernel memory.*account.*"off"/);
    assert.match(await (await fetch(`${server.url}/metrics`)).text(), /^runyard_sandbox_bubblewrap_control_groups 0$/m);
    const u = await server.user();
    const r = await u.start({ prompt: '[shell]' });
    const s = await u.stream(r.json.agent_run_id);
    assert.match(s.raw, /out\\n|"out/);
  } finally {
    await server.close();
  }
});

test('if control groups are required, no command runs without them', async () => {
  // The test shares its control group with other programs, so the server may not subdivide it.
  const server = new Server({ database, llm, set: ['sandbox_bubblewrap.control_groups=required'] });
  try {
    await server.start();
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    const ready = await new Client(server).get('/readyz');
    if (/^runyard_sandbox_bubblewrap_control_groups 1$/m.test(metrics)) return assert.equal(ready.status, 200, ready.text);
    assert.equal(ready.status, 200, ready.text);
    assert.match(ready.json.degraded.find((r) => r.component === 'sandbox_bubblewrap')?.message, /no control groups.*"required".*Delegate=yes/);
    const u = await server.user();
    const r = await u.start({ prompt: '[shell]' });
    const s = await u.stream(r.json.agent_run_id);
    assert.match(s.raw, /the sandbox could not run the command/);
  } finally {
    await server.close();
  }
});

test('a client is told that the sandbox is not available, without details of the system', async () => {
  await withStub('bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted', async (server, stub) => {
    const u = await server.user();
    const r = await u.start({ prompt: '[shell]', files: [{ name: 'a.txt', data: 'kept' }] });
    assert.equal(r.status, 200, r.text);
    const s = await u.stream(r.json.agent_run_id);
    assert.deepEqual(statuses(s.events).slice(-1), ['completed'], s.raw);
    assert.match(s.raw, /the sandbox could not run the command/);
    const visible = s.raw + JSON.stringify(llm.seen.map((c) => c.json.messages));
    for (const internal of [/apparmor/i, /RTM_NEWADDR/, /sysctl/, /bwrap/]) assert.doesNotMatch(visible, internal);
    assert.ok(!visible.includes(stub));
    assert.equal((await u.get(`/projects/${r.json.project_id}/files/content?path=uploads/a.txt`)).text, 'kept');
  });
});

// Masks /proc like a container runtime, without a container. Needs root, and build files that an unprivileged user can
// read.
const mask = `mount --bind /dev/null /proc/keys; mount --bind /dev/null /proc/timer_list
for d in bus fs irq sys; do mount --bind /proc/$d /proc/$d; mount -o remount,ro,bind /proc/$d; done
exec setpriv --reuid=65534 --regid=65534 --clear-groups -- "$@"`;
const masked = ['unshare', '-m', 'sh', '-ec', mask, 'sh'];
const canMask = process.getuid() === 0 &&
  spawnSync(masked[0], [...masked.slice(1), 'test', '-x', binary, '-a', '-r', path.join(build, 'modules/runs.so')]).status === 0;

test('the real bwrap under a masked /proc', { skip: canMask ? false : 'needs root and build files that other users can read' }, async () => {
  // If bwrap fails without the mask as well, the test would detect another cause than the mask.
  const plain = spawnSync('setpriv', ['--reuid=65534', '--regid=65534', '--clear-groups', '--', 'bwrap', '--unshare-all', '--ro-bind', '/', '/',
    '--proc', '/proc', 'true']);
  // Uses an embedded PostgreSQL, because another user cannot connect to the one of ./test.
  const server = new Server({ llm, wrap: masked });
  try {
    mkdirSync(path.join(server.dir, 'data'));
    execFileSync('chown', ['-R', '65534:65534', server.dir]);
    await server.start({ timeout: 90000 });
    const line = warning(server.log);
    if (plain.status !== 0) return assert.notEqual(line, '');
    assert.match(line, /Can't mount proc on \S*\/proc: Operation not permitted/);
    assert.match(line, /parts of \/proc are masked/);
    assert.match(line, /systempaths=unconfined|unmask=ALL|procMount: Unmasked/);
    const ready = await new Client(server).get('/readyz');
    assert.equal(ready.status, 200);
    assert.match(ready.text, /"degraded".*parts of \/proc are masked/);
  } finally {
    await server.close();
  }
});
