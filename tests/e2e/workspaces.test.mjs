// Workspace files survive the loss of a node: two nodes with separate data directories share one database.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { lastUser, startLlm, turns } from './lib/llm.mjs';
import { Client, Server, makeDatabase, sleep, statuses, waitFor } from './lib/server.mjs';

const set = ['auth.jwt.hs256_secret=a secret of at least thirty-two bytes for this test'];
let database, llm, a, b;

// Each prompt line "$ X $ Y" makes the model call X and Y in one turn: "<PATH" is read_file, "?PATH" list_files, else a
// command. `beforeRead` is called before the first read. [flood]: a last answer of 12 MB, more than all buffers hold.
let beforeRead;
const tools = { '<': 'read_file', '?': 'list_files' };
before(async () => {
  database = makeDatabase();
  llm = await startLlm(async (request, reply) => {
    const done = turns(request).filter((m) => m.role === 'tool').length;
    let callCount = 0;
    for (const line of lastUser(request).split(/\r?\n/).filter((l) => l.startsWith('$ '))) {
      const calls = line.slice(2).split(' $ ').map((command) => ({
        id: `c${callCount++}`,
        ...(tools[command[0]] ? { name: tools[command[0]], arguments: { path: command.slice(1) } } : { name: 'shell', arguments: { command } }) }));
      if (done >= callCount) continue;
      if (calls[0].name !== 'shell') { beforeRead?.(); beforeRead = undefined; }
      return reply.tools(calls);
    }
    for (let i = 0; lastUser(request).includes('[flood]') && i < 3000 && !reply.res.destroyed; i++) {
      reply.text('x'.repeat(4000));
      if (reply.res.writableNeedDrain) await new Promise((r) => reply.res.once('drain', r));
    }
    reply.say('done');
  });
  a = await new Server({ database, llm, set }).start();
  b = await new Server({ database, llm, set }).start();
});
after(async () => {
  await a?.close();
  await b?.close();
  await llm?.close();
  database?.drop();
});

const clientOn = (node, u) => new Client(node, u.token, u.id);
const user = async (node = a) => {
  const id = randomUUID();
  return new Client(node, node.token({ subject: id }), id);
};
async function run(u, form) {
  const r = await u.start(form);
  assert.equal(r.status, 200, r.text);
  const s = await u.stream(r.json.agent_run_id, { timeout: 60000 });
  assert.deepEqual(statuses(s.events).slice(-1), ['completed'], s.raw);
  return { ...r.json, results: s.events.filter((e) => e.type === 'tool_result').map((e) => e.content) };
}
const content = async (u, project, file) => {
  const r = await u.get(`/projects/${project}/files/content?path=${encodeURIComponent(file)}`);
  assert.equal(r.status, 200, `${file}: ${r.text}`);
  return r.text;
};
// The copy of a project on a node: its files and their recorded state.
const copies = (node, project) => readdirSync(path.join(node.dir, 'data'), { recursive: true }).filter((p) => path.basename(p) === project);
const directoryOf = (project) => copies(a, project).map((p) => path.join(a.dir, 'data', p)).find((p) => statSync(p).isDirectory());
// Kills the node with SIGKILL and deletes its data directory.
async function killAndWipe(node) {
  await node.kill();
  rmSync(path.join(node.dir, 'data'), { recursive: true, force: true });
}

test('files of a run on a lost node are available on another node', async () => {
  const u = await user();
  const first = await run(u, { prompt: [
    'work',
    '$ mkdir -p src/deep && printf hello > src/deep/a.txt && printf "echo hi" > run.sh && chmod 755 run.sh && ln -s deep/a.txt src/link',
    '$ head -c 3000000 /dev/urandom > big.bin && sha256sum big.bin && printf x > gone.txt && printf "ä" > "ö ü.txt"',
    '$ rm gone.txt && printf more >> src/deep/a.txt'].join('\n'), files: [{ name: 'notes.txt', data: 'forty-two apples' }] });
  const sum = /^[0-9a-f]{64}/.exec(first.results[1])[0];
  assert.equal(database.sql(`select count(*) from runs.workspace_chunks where refs < 1`), '0');
  await killAndWipe(a);
  try {
    const ub = clientOn(b, u);
    // The files are served by a node without a copy.
    const list = await ub.get(`/projects/${first.project_id}/files`);
    assert.deepEqual(list.json.files.map((f) => `${f.kind} ${f.name} ${f.size}`.replace(/dir (\S+) \d+/, 'dir $1')),
      ['file big.bin 3000000', 'file run.sh 7', 'dir src', 'dir uploads', 'file ö ü.txt 2']);
    assert.equal(await content(ub, first.project_id, 'src/deep/a.txt'), 'hellomore');
    assert.equal(await content(ub, first.project_id, 'uploads/notes.txt'), 'forty-two apples');
    const part = await ub.get(`/projects/${first.project_id}/files/content?path=big.bin&offset=2999990&limit=100`);
    assert.equal(part.headers.get('x-file-size'), '3000000');
    assert.equal((await ub.get(`/projects/${first.project_id}/files/content?path=gone.txt`)).status, 404);
    assert.equal((await ub.get(`/projects/${first.project_id}/files?path=src/deep/a.txt`)).status, 400);
    assert.equal((await ub.get(`/projects/${first.project_id}/files?path=../x`)).status, 404);
    // The files are available to the next run of the thread.
    const next = await run(ub, { thread_id: first.thread_id, prompt: [
      'go on', '$ cat src/link; echo; sha256sum big.bin; stat -c %a run.sh; ls; cat uploads/notes.txt; printf b > from_b.txt'].join('\n') });
    assert.match(next.results[0], /^hellomore\n/);
    assert.ok(next.results[0].includes(sum), next.results[0]);
    assert.match(next.results[0], /^755$/m);
    assert.doesNotMatch(next.results[0], /gone\.txt/);
    assert.match(next.results[0], /forty-two apples/);
  } finally {
    await a.start();
  }
  // The first node restarts with an empty disk and claims the run again.
  const back = await run(clientOn(a, u), { thread_id: first.thread_id, prompt: 'again\n$ cat from_b.txt src/deep/a.txt' });
  assert.match(back.results[0], /^bhellomore/);
});

test('an older copy on a node is updated, and its stale files do not reappear', async () => {
  const u = await user();
  const one = await run(u, { prompt: 'x\n$ printf 1 > v; printf old > del; mkdir d; printf k > d/k' });
  const ub = clientOn(b, u);
  await run(ub, { thread_id: one.thread_id, prompt: 'x\n$ printf 22 > v; rm del; rm -r d; printf f > d; printf new > add' });
  const three = await run(u, { thread_id: one.thread_id, prompt: 'x\n$ cat v d add; ls; printf 333 > v' });
  assert.match(three.results[0], /^22fnew/);
  assert.doesNotMatch(three.results[0], /^del$/m);
  assert.equal(await content(ub, one.project_id, 'v'), '333');
  // Chunks that no file references are not kept.
  assert.equal(database.sql(`select count(*) from runs.workspace_chunks where project_id = '${one.project_id}'`),
    database.sql(`select count(distinct c) from runs.workspace_files, unnest(chunks) c where project_id = '${one.project_id}'`));
  assert.equal(database.sql(`select p.workspace_bytes = sum(f.size) and p.workspace_files = count(*) from runs.projects p join runs.workspace_files f on f.project_id = p.id where p.id = '${one.project_id}' group by p.id`), 't');
});

test('a run that is claimed from a dead node finds the files of its previous tool results', { timeout: 60000 }, async () => {
  const u = await user();
  const r = await u.start({ prompt: 'x\n$ printf precious > made.txt\n$ sleep 2\n$ cat made.txt' });
  assert.equal(r.status, 200, r.text);
  await u.stream(r.json.agent_run_id, { until: (e) => e.type === 'tool_result' });
  await killAndWipe(a);
  try {
    const s = await clientOn(b, u).stream(r.json.agent_run_id, { timeout: 50000 });
    const results = s.events.filter((e) => e.type === 'tool_result');
    assert.match(results.at(-1).content, /^precious/, s.raw);
    assert.deepEqual(statuses(s.events).slice(-1), ['completed']);
  } finally {
    await a.start();
  }
});

test('a worker that lost its run cannot overwrite files of its successor', { timeout: 60000 }, async () => {
  const u = await user();
  const r = await u.start({ prompt: 'x\n$ printf first > f\n$ sleep 1; printf second > f; sleep 2\n$ cat f' });
  assert.equal(r.status, 200, r.text);
  await u.stream(r.json.agent_run_id, { until: (e) => e.type === 'tool_call' && e.arguments.command.includes('second') });
  // The node is suspended until its lease has expired and the other node has continued the run; then it resumes.
  a.process.kill('SIGSTOP');
  try {
    const s = await clientOn(b, u).stream(r.json.agent_run_id, { timeout: 50000 });
    assert.deepEqual(statuses(s.events).slice(-1), ['completed'], s.raw);
    assert.match(s.events.filter((e) => e.type === 'tool_result').at(-1).content, /^first/);
    await run(clientOn(b, u), { thread_id: r.json.thread_id, prompt: 'x\n$ printf third > f' });
  } finally {
    a.process.kill('SIGCONT');
  }
  await sleep(4000);
  assert.equal(await content(clientOn(b, u), r.json.project_id, 'f'), 'third');
  const last = await run(u, { thread_id: r.json.thread_id, prompt: 'x\n$ cat f' });
  assert.match(last.results[0], /^third/);
});

test('concurrent runs of one project on two nodes keep the files of both', async () => {
  const u = await user();
  const admin = new Client(a, a.token({ role: 'admin' }));
  await u.get('/account');
  assert.equal((await admin.request('PUT', `/admin/accounts/${u.id}`, { json: { tier: 'pro' } })).status, 200);
  const first = await run(u, { prompt: 'x\n$ printf 0 > zero' });
  const both = await Promise.all([
    run(u, { project_id: first.project_id, prompt: 'x\n$ printf a > a; sleep 1\n$ printf a2 > a2' }),
    run(clientOn(b, u), { project_id: first.project_id, prompt: 'x\n$ printf b > b; sleep 1\n$ printf b2 > b2' })]);
  assert.notEqual(both[0].thread_id, both[1].thread_id);
  for (const node of [a, b]) {
    const seen = await run(clientOn(node, u), { thread_id: first.thread_id, prompt: 'x\n$ cat zero a a2 b b2' });
    assert.match(seen.results[0], /^0aa2bb2/);
  }
});

test('deleting a thread removes its stored files, and the agent is told about exceeded limits', async () => {
  const u = await user();
  const one = await run(u, { prompt: 'x\n$ printf 1 > v' });
  assert.equal((await u.request('DELETE', `/threads/${one.thread_id}`)).status, 204);
  for (const table of ['workspace_files', 'workspace_chunks'])
    assert.equal(database.sql(`select count(*) from runs.${table} where project_id = '${one.project_id}'`), '0');

  const small = await new Server({ database, llm, set, settings: '[runs]\nworkspace_file_bytes = 1048576\nworkspace_bytes = 2097152\nworkspace_files = 100\n' }).start();
  try {
    const us = clientOn(small, u);
    const r = await run(us, { prompt: 'x\n$ head -c 1500000 /dev/zero > large; printf 1 > small\n$ mkdir many; cd many; for i in $(seq 150); do echo > $i; done' });
    assert.match(r.results[0], /large is larger than 1\.0 MB/);
    assert.match(r.results[1], /more than 100 files/);
    assert.equal(database.sql(`select string_agg(path, ',') from runs.workspace_files where project_id = '${r.project_id}'`), 'small');
    const big = await us.start({ prompt: 'x', files: [1, 2, 3].map((i) => ({ name: `f${i}`, data: Buffer.alloc(1000000, i) })) });
    assert.equal(big.status, 413, big.text);
    assert.equal(big.json.detail.limit, 2097152);
    assert.equal(big.json.detail.error_code, 'UPLOAD_TOO_LARGE');
    const threadCount = database.sql(`select count(*) from runs.threads where account_id = '${u.id}'`);
    assert.equal(threadCount, '1');
  } finally {
    await small.close();
  }
});

test('deleting a thread removes the copies on all nodes', async () => {
  const u = await user();
  const one = await run(u, { prompt: 'x\n$ printf 1 > v' });
  await run(clientOn(b, u), { prompt: 'x\n$ cat v', thread_id: one.thread_id });
  const other = await run(u, { prompt: 'x\n$ printf 1 > v' });
  for (const node of [a, b]) assert.ok(copies(node, one.project_id).length >= 2, 'the files and their recorded state');
  assert.equal((await clientOn(b, u).request('DELETE', `/threads/${one.thread_id}`)).status, 204);
  assert.deepEqual(copies(b, one.project_id), []);
  database.sql(`delete from runs.projects where id = '${other.project_id}'`);
  await a.stop();
  await a.start();
  await waitFor('the first sweep', () => copies(a, one.project_id).length === 0);
  assert.ok(copies(a, other.project_id).length >= 2, 'a copy that is only missing in the database is kept: it may belong to another database');
});

test('a slow reader after the end of a run does not keep the copy of a deleted thread', { timeout: 60000 }, async () => {
  const u = await user();
  const r = await u.start({ prompt: 'x [flood]\n$ printf 1 > v' });
  const socket = net.connect(new URL(u.url).port, '127.0.0.1');
  try {
    socket.write(`GET /agent-run/${r.json.agent_run_id}/stream HTTP/1.0\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${u.token}\r\n\r\n`);
    await new Promise((begun) => socket.once('data', begun));
    socket.pause();
    await waitFor('the run to end', async () => (await u.get(`/agent-run/${r.json.agent_run_id}`)).json.status === 'completed', 40000);
    await sleep(200);
    assert.ok(copies(a, r.json.project_id).length >= 2);
    assert.equal((await u.request('DELETE', `/threads/${r.json.thread_id}`)).status, 204);
    assert.deepEqual(copies(a, r.json.project_id), []);
  } finally {
    socket.destroy();
  }
});

test('a project id that is reused after deletion starts empty on every node', async () => {
  const u = await user(), other = await user();
  const project = randomUUID(), thread = () => ({ optimistic: 'true', thread_id: randomUUID(), project_id: project });
  const one = await run(u, { ...thread(), prompt: 'x\n$ mkdir -p uploads && printf secret > hidden; printf old > uploads/n.txt' });
  await run(clientOn(b, u), { thread_id: one.thread_id, prompt: 'x\n$ cat hidden' });
  assert.equal((await u.request('DELETE', `/threads/${one.thread_id}`)).status, 204);
  const theirs = clientOn(b, other);
  const talk = await run(theirs, { ...thread(), prompt: 'just talk' });
  assert.deepEqual((await theirs.get(`/projects/${project}/files`)).json.files, []);
  assert.equal((await theirs.get(`/projects/${project}/files/content?path=hidden`)).status, 404);
  const files = await run(theirs, { thread_id: talk.thread_id, prompt: 'x\n$ ls -A . uploads; cat uploads/n.txt hidden', files: [{ name: 'n.txt', data: 'new' }] });
  assert.match(files.results[0], /new/);
  assert.doesNotMatch(files.results[0], /secret|old|n_1|^hidden$/m);
  const again = await run(clientOn(a, other), { thread_id: talk.thread_id, prompt: 'x\n$ ls -A . uploads' });
  assert.doesNotMatch(again.results[0], /hidden/);
});

test('a project id that is reused during the removal of the old copy keeps its new files', { timeout: 60000 }, async () => {
  const u = await user(), other = await user();
  const project = randomUUID(), form = () => ({ optimistic: 'true', thread_id: randomUUID(), project_id: project });
  const old = await run(u, { ...form(), prompt: 'x\n$ mkdir -p m uploads; cd m; seq 60000 | xargs touch' });
  const deletion = u.request('DELETE', `/threads/${old.thread_id}`);
  await waitFor('the deletion', () => database.sql(`select count(*) from runs.projects where id = '${project}'`) === '0');
  const fresh = await run(other, { ...form(), prompt: 'x\n$ ls -A . uploads; cat uploads/n.txt', files: [{ name: 'n.txt', data: 'new' }] });
  assert.equal((await deletion).status, 204);
  assert.match(fresh.results[0], /new/);
  assert.doesNotMatch(fresh.results[0], /^m$|outside/m);
  const next = await run(other, { thread_id: fresh.thread_id, prompt: 'x\n$ ls -A . uploads; cat uploads/n.txt' });
  assert.match(next.results[0], /new/);
  assert.doesNotMatch(next.results[0], /^m$|outside/m);
});

test('copies that are newer than a restored database are reverted to its state', async () => {
  const u = await user();
  const one = await run(u, { prompt: 'x\n$ printf kept > kept; printf lost > lost' });
  database.sql(`with f as (delete from runs.workspace_files where project_id = '${one.project_id}' and path = 'lost') update runs.projects set workspace_version = workspace_version - 1 where id = '${one.project_id}'`);
  assert.equal((await u.get(`/projects/${one.project_id}/files/content?path=lost`)).status, 404);
  const two = await run(u, { thread_id: one.thread_id, prompt: 'x\n$ cat kept; ls' });
  assert.match(two.results[0], /^kept/);
  assert.doesNotMatch(two.results[0], /lost/);
});

test('a workspace replaced during a run is restored from the stored files', { timeout: 60000 }, async () => {
  const u = await user();
  for (const replace of [(dir) => renameSync(dir, `${dir}.away`), (dir) => { renameSync(dir, `${dir}.away`); mkdirSync(dir); writeFileSync(path.join(dir, 'planted'), 'x'); }]) {
    const begun = performance.now();
    const r = await u.start({ prompt: 'x\n$ printf first > a\n$ sleep 1; printf second > b $ sleep 2; printf third > c\n$ cat a; ls -A' });
    const s = u.stream(r.json.agent_run_id, { timeout: 40000 });
    await u.stream(r.json.agent_run_id, { until: (e) => e.type === 'tool_call' && e.arguments.command.includes('third') });
    const dir = directoryOf(r.json.project_id);
    replace(dir);
    const { events, raw } = await s;
    assert.deepEqual(statuses(events).slice(-1), ['completed'], raw);
    const results = events.filter((e) => e.type === 'tool_result').map((e) => e.content);
    for (const reported of results.slice(1, 3)) assert.match(reported, /removed or replaced from outside/);
    assert.match(results[3], /^first/);
    assert.doesNotMatch(results[3], /planted/);
    assert.ok(performance.now() - begun < 15000, 'it does not keep retrying');
    assert.equal(await content(u, r.json.project_id, 'a'), 'first');
    rmSync(`${dir}.away`, { recursive: true });
  }
});

test('the removal of a workspace during a run is detected by a read call', { timeout: 60000 }, async () => {
  const u = await user();
  for (const call of ['<a', '?.']) {
    const r = await u.start({ prompt: 'x\n$ printf first > a' });
    await u.stream(r.json.agent_run_id, { timeout: 40000 });
    beforeRead = () => rmSync(directoryOf(r.json.project_id), { recursive: true });
    const { results } = await run(u, { thread_id: r.json.thread_id, prompt: `x\n$ cat a\n$ ${call}\n$ ${call}` });
    assert.equal(beforeRead, undefined);
    assert.match(results[1], /removed or replaced from outside/);
    assert.match(results[2], call === '<a' ? /^first$/ : /^a  5 B$/m);
  }
});

test('a start whose files take longer to place than the timeout of unclaimed jobs keeps its run', { timeout: 60000 }, async () => {
  const u = await user();
  // The commit is delayed, so that the lock on the files is queued after it and before the placing of the files.
  database.sql(`create function public.dawdle() returns trigger language plpgsql as 'begin perform pg_sleep(0.5); return null; end';
    create constraint trigger dawdle after insert on runs.workspace_files initially deferred for each row execute function public.dawdle()`);
  let held;
  try {
    const firstRequest = llm.seen.length, begun = performance.now();
    const start = u.start({ prompt: 'just talk', files: [{ name: 'n.txt', data: 'placed' }] });
    await waitFor('the commit', () => database.sql(`select 1 from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()`));
    held = promisify(execFile)('psql', ['-Xq', database.url, '-c', 'begin; lock table runs.workspace_files; select pg_sleep(17); commit']);
    await waitFor('the lock', () => database.sql(`select 1 from pg_locks where relation = 'runs.workspace_files'::regclass and mode = 'AccessExclusiveLock' and granted`));
    // Every 15 s, a node checks for its jobs that it has not started for 15 s: the next check must find this job.
    database.sql(`update core.job set started_at = now() - interval '1 minute' where kind = 'runs.execute' and state = 1`);
    const r = await start;
    await held;
    assert.equal(r.status, 200, r.text);
    assert.ok(performance.now() - begun > 15500, 'placing the files had to wait');
    const s = await u.stream(r.json.agent_run_id, { timeout: 20000 });
    assert.deepEqual(statuses(s.events).slice(-1), ['completed'], s.raw);
    assert.equal(llm.seen.length - firstRequest, 1, 'the model got one request');
    assert.equal(database.sql(`select fence from runs.runs where id = '${r.json.agent_run_id}'`), '1', 'no other worker claimed it');
    assert.equal(await content(u, r.json.project_id, 'uploads/n.txt'), 'placed');
  } finally {
    await held;
    database.sql('drop function public.dawdle cascade');
  }
});

test('runs without files create no workspace', async () => {
  const u = await user();
  const r = await run(u, { prompt: 'just talk' });
  assert.equal(database.sql(`select workspace_files || ':' || (sandbox_id is null) from runs.projects where id = '${r.project_id}'`), '0:true');
});
