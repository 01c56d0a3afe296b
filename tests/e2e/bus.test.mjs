// Live events between nodes through a real NATS server: what clients receive on a node that does not execute the run,
// while the bus works, is unreachable, loses its data, or receives forged messages.
import assert from 'node:assert/strict';
import net from 'node:net';
import { after, before, test } from 'node:test';
import { Relay } from '../chaos/lib/relay.mjs';
import { slowWords, words } from './lib/reader.mjs';
import { lastUser, startLlm } from './lib/llm.mjs';
import { Nats, natsClient } from './lib/nats.mjs';
import { Client, Server, gapless, makeDatabase, sleep, statuses, textOf, waitFor } from './lib/server.mjs';

const token = 'bus-test-token-that-is-in-no-log';
const big = (n) => Array.from({ length: n }, (_, i) => `${i}`.padEnd(8000, 'x')).join('');
const model = (request, reply) => {
  const [, mode, n] = /\[(big|flood) (\d+)\]/.exec(lastUser(request)) ?? [];
  if (mode === undefined) return slowWords(request, reply);
  if (mode === 'big') return reply.say(big(Number(n)));
  for (let i = 0; i < Number(n); i++) reply.text(`${i}`.padEnd(8000, 'x'));
  reply.end();
};
let database, llm, nats, a, b;

const settings = (url) => `
[bus_nats]
urls = ["${url}"]
token = "${token}"
storage = "file"
queue_bytes = 262144
`;
const set = ['auth.jwt.hs256_secret=a secret of at least thirty-two bytes for this test', 'modules.bus_nats.enabled=true',
  'notifications.allowed_modes=["local"]'];

async function metric(server, name) {
  const line = (await new Client(server).get('/metrics')).text.split('\n').find((l) => l.startsWith(`${name} `));
  return line === undefined ? undefined : Number(line.split(' ').at(-1));
}
// Nodes discover each other through heartbeats; before that, no node receives the messages of another.
const waitForBus = (...servers) => waitFor('all nodes to receive from the bus', async () => {
  for (const s of servers)
    if (await metric(s, 'runyard_bus_nodes') !== servers.length - 1 || await metric(s, 'runyard_bus_received_by_all') !== 1) return false;
  return true;
}, 30000);

before(async () => {
  database = makeDatabase();
  llm = await startLlm(model);
  nats = await new Nats({ args: ['--auth', token] }).start();
  a = await new Server({ database, llm, set, settings: settings(nats.url) }).start();
  b = await new Server({ database, llm, set, settings: settings(nats.url) }).start();
  await waitForBus(a, b);
});
after(async () => {
  await a?.close();
  await b?.close();
  await nats?.close();
  await llm?.close();
  database?.drop();
});

// The degraded components, without the sandbox, which reports missing control groups.
const degraded = (ready) => (ready.json.degraded ?? []).filter(({ room }) => room !== 'sandbox_bubblewrap');
const waitForBusFailure = (s) => waitFor('the bus to be reported as unavailable', async () => {
  const ready = await new Client(s).get('/readyz');
  assert.equal(ready.status, 200, 'the node is ready without the bus');
  return /nats is unavailable .*wake-ups go through the database/.test(degraded(ready)[0]?.message)
    && await metric(s, 'runyard_bus_up') === 0;
}, 30000);

// Starts a run on `a` and reads its complete stream on `b`.
async function readOnOtherNode(count, { onEvent } = {}) {
  const u = await a.user();
  const r = await u.start({ prompt: `[words ${count}]` });
  assert.equal(r.status, 200, r.text);
  const onB = new Client(b, u.token, u.id);
  const s = await onB.stream(r.json.agent_run_id, { onEvent, timeout: 60000 });
  return { u, onB, id: r.json.agent_run_id, ...s };
}
// Runs `act` when the reader receives the fiftieth word; only once, because the last events repeat the text.
function midway(act) {
  const options = { onEvent: (e) => { if (!options.done && e.content?.includes('w50 ')) options.done = Promise.resolve(act()); } };
  return options;
}
function assertComplete(s, count) {
  assert.equal(s.status, 200);
  assert.ok(gapless(s.events), 'every event once and in order');
  assert.deepEqual(statuses(s.events).filter((x) => x !== 'running'), ['completed']);
  assert.equal(textOf(s.events), words(count));
}

test('a reader on another node gets every event once over the bus, and no wake-up goes through the database', async () => {
  // Retried, because heartbeats may be late on a busy machine, and the nodes then send wake-ups rightly.
  let wakeups = 1;
  for (let i = 0; i < 5 && wakeups > 0; i++) {
    const before = await metric(a, 'runyard_live_wakeups_sent_total');
    const received = await metric(b, 'runyard_bus_received_total'), bytes = await metric(a, 'runyard_bus_nats_sent_bytes_total');
    const s = await readOnOtherNode(100);
    assertComplete(s, 100);
    wakeups = await metric(a, 'runyard_live_wakeups_sent_total') - before;
    assert.ok(await metric(b, 'runyard_bus_received_total') > received);
    assert.ok(await metric(a, 'runyard_bus_nats_sent_bytes_total') - bytes > s.raw.length / 2, 'the bus carries the text, not only wake-ups');
  }
  assert.equal(wakeups, 0);
  const ready = await new Client(b).get('/readyz');
  assert.deepEqual([ready.json.status, ready.json.reasons, degraded(ready)], ['ready', [], []]);
});

test('one stream has a subject per message of each run, and each node has one consumer, however many readers', async () => {
  const spy = await natsClient(nats.url, { auth_token: token });
  const runs = await Promise.all([1, 2, 3].map(() => readOnOtherNode(30)));
  for (const s of runs) assertComplete(s, 30);
  const stream = await spy.request('$JS.API.STREAM.INFO.RUNYARD', JSON.stringify({ subjects_filter: '>' }));
  assert.deepEqual(stream.config.subjects, ['runyard.live.>']);
  const subjects = Object.entries(stream.state.subjects);
  for (const s of runs) {
    const ofRun = subjects.filter(([name]) => name.startsWith(`runyard.live.runs.${s.id}.`));
    assert.ok(ofRun.length > 0, `subjects of ${s.id}`);
    // NATS 2.9 scans the complete stream for the next message of a subject whenever one is removed.
    for (const [name, messages] of ofRun) assert.equal(messages, 1, name);
  }
  const { consumers } = await waitFor('two consumers', async () => {
    const list = await spy.request('$JS.API.CONSUMER.LIST.RUNYARD', '{}');
    return list.total === 2 && list;
  });
  for (const { config } of consumers) {
    assert.equal(config.durable_name, undefined);
    assert.equal(config.ack_policy, 'none');
    assert.equal(config.deliver_policy, 'by_start_sequence');
    assert.equal(config.max_deliver, 1);
    assert.ok(config.flow_control && config.idle_heartbeat > 0, 'clients need flow control and heartbeats to detect gaps');
  }
  spy.close();
});

test('snapshots, merged chunks and resumed streams work over the bus', async () => {
  const u = await a.user();
  const id = (await u.start({ prompt: '[words 60]' })).json.agent_run_id;
  const onB = new Client(b, u.token, u.id);
  const first = await onB.stream(id, { until: (e) => e.content?.includes('w20 ') });
  const [rest, merged, snapshot] = await Promise.all([
    onB.stream(id, { headers: { 'last-event-id': String(first.events.at(-1).sequence) } }),
    onB.stream(id, { query: '?coalesce_ms=100' }),
    onB.stream(id, { query: '?mode=snapshot' })]);
  assertComplete({ status: 200, events: [...first.events, ...rest.events] }, 60);
  assert.equal(textOf(merged.events), words(60));
  assert.ok(merged.events.length < rest.events.length, 'chunks were merged');
  assert.equal(snapshot.events[0].type, 'snapshot');
  assert.equal(snapshot.events[0].content + snapshot.events.filter((e) => e.type === 'llm_response_chunk').map((e) => e.content).join(''), words(60));
  assert.deepEqual(statuses(snapshot.events), ['completed']);
});

test('after nats-server is killed during a run, the stream continues through wake-ups, and over the bus after its return', async () => {
  const mid = midway(() => nats.kill());
  const s = await readOnOtherNode(200, mid);
  await mid.done;
  assertComplete(s, 200);
  await waitForBusFailure(a);
  const wakeups = await metric(a, 'runyard_live_wakeups_sent_total'), wakeupsReceived = await metric(b, 'runyard_live_wakeups_received_total');
  assertComplete(await readOnOtherNode(30), 30);
  assert.ok(await metric(a, 'runyard_live_wakeups_sent_total') > wakeups);
  await waitFor('wake-ups from the other node', async () => await metric(b, 'runyard_live_wakeups_received_total') > wakeupsReceived);
  await nats.start();
  await waitForBus(a, b);
  assertComplete(await readOnOtherNode(30), 30);
});

test('nats-server restarts with an empty store during a run: events have neither gaps nor duplicates', async () => {
  const mid = midway(() => nats.kill().then(() => { nats.wipe(); return nats.start(); }));
  const s = await readOnOtherNode(200, mid);
  await mid.done;
  assertComplete(s, 200);
  await waitForBus(a, b);
  const received = await metric(b, 'runyard_bus_received_total');
  assertComplete(await readOnOtherNode(30), 30);
  assert.ok(await metric(b, 'runyard_bus_received_total') > received, 'the bus is used again');
});

test('a frozen nats-server does not block a run', async () => {
  try {
    assertComplete(await readOnOtherNode(200, midway(() => nats.process.kill('SIGSTOP'))), 200);
    await waitForBusFailure(a);
    await waitForBusFailure(b);
    assertComplete(await readOnOtherNode(30), 30);
  } finally {
    nats.process.kill('SIGCONT');
  }
  await waitForBus(a, b);
  assertComplete(await readOnOtherNode(30), 30);
});

test('a run that exceeds queues and socket buffers while nats-server is frozen continues and loses no events', async () => {
  nats.process.kill('SIGSTOP');
  try {
    const u = await a.user();
    const id = (await u.start({ prompt: '[flood 1500]' })).json.agent_run_id;
    const s = await new Client(b, u.token, u.id).stream(id, { timeout: 120000 });
    assert.ok(gapless(s.events));
    assert.equal(textOf(s.events), big(1500));
  } finally {
    nats.process.kill('SIGCONT');
  }
  await waitForBus(a, b);
});

test('a node that is suspended with open connections misses no events', async () => {
  const mid = midway(() => {
    b.process.kill('SIGSTOP');
    return sleep(3000).then(() => b.process.kill('SIGCONT'));
  });
  const s = await readOnOtherNode(200, mid);
  await mid.done;
  assertComplete(s, 200);
  await waitForBus(a, b);
});

for (const operation of ['DELETE', 'PURGE'])
  test(`readers get messages that the stream lost (${operation}) from the event log`, async () => {
    const admin = await natsClient(nats.url, { auth_token: token });
    const mid = midway(() => admin.request(`$JS.API.STREAM.${operation}.RUNYARD`, ''));
    const s = await readOnOtherNode(200, mid);
    assert.equal((await mid.done).success, true);
    assertComplete(s, 200);
    await waitForBus(a, b);
    assertComplete(await readOnOtherNode(30), 30);
    admin.close();
  });

test('messages that the stream rejects go through the database, without constant reconnects', async () => {
  const admin = await natsClient(nats.url, { auth_token: token });
  const { config } = await admin.request('$JS.API.STREAM.INFO.RUNYARD', '');
  const changed = await admin.request('$JS.API.STREAM.UPDATE.RUNYARD', JSON.stringify({ ...config, max_msg_size: 20 }));
  assert.equal(changed.error, undefined);
  const connects = await metric(a, 'runyard_bus_nats_connects_total');
  try {
    assertComplete(await readOnOtherNode(200), 200);
    const tries = await metric(a, 'runyard_bus_nats_connects_total') - connects;
    assert.ok(tries < 15, `${tries} connections`);
    assert.match(a.log, /refuses messages/);
  } finally {
    assert.equal((await admin.request('$JS.API.STREAM.DELETE.RUNYARD', '')).success, true);
  }
  await waitForBus(a, b);
  assertComplete(await readOnOtherNode(30), 30);
  admin.close();
});

test('messages above the size limit of nats-server are skipped, and the connection stays open', async () => {
  const small = await new Nats({ config: 'max_payload: 4096' }).start();
  const nodes = [];
  try {
    const database = makeDatabase();
    nodes.push({ close: () => database.drop() });
    for (let i = 0; i < 2; i++)
      nodes.unshift(await new Server({ database, llm, set, settings: `[bus_nats]\nurls = ["${small.url}"]` }).start());
    await waitForBus(nodes[0], nodes[1]);
    const u = await nodes[0].user();
    const id = (await u.start({ prompt: '[big 20]' })).json.agent_run_id;
    const s = await new Client(nodes[1], u.token, u.id).stream(id);
    assert.ok(gapless(s.events));
    assert.equal(textOf(s.events), big(20));
    assert.ok(await metric(nodes[1], 'runyard_bus_received_total') > 0);
    for (const n of nodes.slice(0, 2)) assert.doesNotMatch(n.log, /payload|could not be sent/i);
  } finally {
    for (const n of nodes) await n.close();
    await small.close();
  }
});

test('reloading, disabling and enabling the module during a run loses no events', async () => {
  const admin = await a.user({ role: 'admin' });
  const answers = [];
  const mid = midway(async () => {
    for (const action of ['reload', 'disable', 'enable'])
      answers.push((await admin.post(`/admin/modules/bus_nats/${action}`)).status);
  });
  const s = await readOnOtherNode(200, mid);
  await mid.done;
  assert.deepEqual(answers, [200, 200, 200]);
  assertComplete(s, 200);
  await waitForBus(a, b);
  const received = await metric(b, 'runyard_bus_received_total');
  assertComplete(await readOnOtherNode(30), 30);
  assert.ok(await metric(b, 'runyard_bus_received_total') > received, 'the bus is used again');
});

test('if the connection of a node to nats-server is silently lost, an inbox stream on another node gets a wake-up', async () => {
  const relay = new Relay({ host: '127.0.0.1', port: 0 }, { host: '127.0.0.1', port: nats.port });
  await relay.listen();
  const c = new Server({ database, llm, set, settings: settings(`nats://127.0.0.1:${relay.server.address().port}`) });
  const stop = new AbortController();
  try {
    await c.start();
    await waitForBus(a, b, c);
    const u = await b.user();
    assert.equal((await u.get('/account')).status, 200);
    const stream = await fetch(`${b.url}/notifications/inbox/stream`, { headers: { authorization: `Bearer ${u.token}` }, signal: stop.signal });
    assert.equal(stream.status, 200);
    let text = '';
    const reading = (async () => { for await (const bytes of stream.body) text += Buffer.from(bytes); })().catch(() => {});
    await waitFor('the first event of the inbox stream', () => text.includes('"type": "unread_count"'));
    const before = await metric(c, 'runyard_live_wakeups_sent_total');
    relay.setCut(true);
    const sent = await new Client(c, c.token({ role: 'admin' })).post('/admin/notifications/trigger', {
      json: { workflow_id: 'promotional', payload_template: { title: 'silent' }, subscriber_id: u.id } });
    assert.equal(sent.status, 200, sent.text);
    await waitFor('a wake-up through the database', async () => await metric(c, 'runyard_live_wakeups_sent_total') > before, 60000);
    await waitFor('the notification to arrive', () => text.includes('"type": "notification"'));
    stop.abort();
    await reading;
  } finally {
    stop.abort();
    relay.setCut(false);
    await c.close();
    relay.close();
  }
  await waitForBus(a, b);
});

test('NATS servers without JetStream are reported, and retried rarely', async () => {
  const plain = await new Nats({ jetstream: false, args: ['-D'] }).start();
  const otherDatabase = makeDatabase();
  const c = new Server({ database: otherDatabase, llm, set, settings: `[bus_nats]\nurls = ["${plain.url}"]` });
  try {
    await c.start();
    await waitForBusFailure(c);
    await waitFor('the reason in /readyz', async () => /JetStream/i.test(degraded(await new Client(c).get('/readyz'))[0]?.message));
    await sleep(2000);
    const tries = plain.log.match(/Client connection created/g).length;
    assert.ok(tries > 0 && tries < 30, `${tries} connections`);
  } finally {
    await c.close();
    otherDatabase.drop();
    await plain.close();
  }
});

test('a node started while nats-server is down serves, reports it, and uses the bus later', async () => {
  await nats.kill();
  const c = new Server({ database, llm, set, settings: settings(nats.url) });
  try {
    await c.start();
    const ready = await new Client(c).get('/readyz');
    assert.equal(ready.status, 200);
    assert.match(degraded(ready)[0]?.message, /nats is unavailable/);
    await waitFor('the log line', () => /the event bus is unavailable/.test(c.log) || /no server answers/.test(c.log));
    await nats.start();
    await waitForBus(a, b, c);
  } finally {
    if (nats.gone) await nats.start();
    await c.close();
  }
  await waitForBus(a, b);
});

test('a slow reader on another node misses no events and does not delay other readers', async () => {
  const u = await a.user();
  const id = (await u.start({ prompt: '[words 200]' })).json.agent_run_id;
  const { hostname, port } = new URL(b.url);
  let text = '';
  const slow = new Promise((resolve, reject) => {
    const socket = net.connect({ host: hostname, port, readableHighWaterMark: 1024 });
    socket.write(`GET /agent-run/${id}/stream HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${u.token}\r\nConnection: close\r\n\r\n`);
    socket.setEncoding('utf8');
    socket.on('data', (d) => { text += d; socket.pause(); setTimeout(() => socket.resume(), 50); });
    socket.on('end', resolve);
    socket.on('error', reject);
  });
  const quick = await new Client(b, u.token, u.id).stream(id);
  assertComplete(quick, 200);
  await slow;
  const ids = [...text.matchAll(/^id: (\d+)$/gm)].map((m) => Number(m[1]));
  assert.deepEqual(ids, quick.events.map((e) => e.sequence));
});

test('a message that is published twice is delivered once', async () => {
  const spy = await natsClient(nats.url, { auth_token: token });
  await spy.subscribe('runyard.live.runs.>');
  const published = { sent: false };
  // A client republishes all messages of the run: the stream drops those with the same message id, and readers ignore
  // those with another id, because they already have the events.
  const copier = (async () => {
    for (let done = 0; !published.over; await sleep(5)) {
      for (; done < spy.heard.length && !published.over; done++) {
        const m = spy.heard[done];
        const id = /Nats-Msg-Id: *(\S+)/.exec(m.headers)?.[1];
        if (!id || id.startsWith('copy')) continue;
        await spy.publish(m.subject, m.data, `NATS/1.0\r\nNats-Msg-Id: ${id}\r\n\r\n`);
        await spy.publish(m.subject, m.data, `NATS/1.0\r\nNats-Msg-Id: copy${id}\r\n\r\n`);
        published.sent = true;
      }
    }
  })();
  const s = await readOnOtherNode(100);
  published.over = true;
  await copier;
  assert.ok(published.sent);
  assertComplete(s, 100);
  const m = spy.heard.findLast((h) => h.subject.includes(`.${s.id}.`) && /Nats-Msg-Id: *[^c\s]/.test(h.headers));
  const again = await spy.request(m.subject, m.data, m.headers);
  assert.equal(again.duplicate, true, 'the stream recognises the message id that the node assigned');
  spy.close();
});

test('forged messages are ignored and counted by reason', async () => {
  const attacker = await natsClient(nats.url, { auth_token: token });
  await attacker.subscribe('runyard.live.runs.>');
  const first = await readOnOtherNode(5);
  await waitFor('a message to copy', () => attacker.heard.some((m) => m.subject.includes(`.${first.id}.`)));
  const real = attacker.heard.find((m) => m.data.length > 60);
  let forgeries;
  const s = await readOnOtherNode(100, { onEvent: (e) => {
    if (forgeries || e.type !== 'llm_response_chunk') return;
    forgeries = (async () => {
      const subject = attacker.heard.findLast((m) => m.subject.startsWith('runyard.live.runs.')).subject;
      await attacker.publish(subject, 'id: 999999\ndata: {"type": "status", "sequence": 999999, "status": "completed"}\n\n');
      await attacker.publish(subject, Buffer.alloc(0));
      await attacker.publish(subject, real.data);  // of another run
      const forged = Buffer.from(real.data);
      forged[forged.length - 5] ^= 1;
      await attacker.publish(real.subject, forged);
      await attacker.publish(subject, Buffer.alloc(900 * 1024, 'x'));
      await attacker.publish('runyard.live.runs.=41.1', 'a subject that no topic has');
    })();
  } });
  await forgeries;
  assertComplete(s, 100);
  for (const reason of ['malformed', 'seal', 'size', 'subject'])
    await waitFor(`the count of ${reason}`, async () => (await metric(b, `runyard_bus_nats_refused_total{reason="${reason}"}`)) > 0);
  assert.match(b.log, /a message from NATS is ignored/);
  assert.match(b.log, /runyard\.live\.runs\./);
  attacker.close();
});

test('no token or password is logged, not even one that the servers reject', async () => {
  const wrong = 'another-secret-that-is-in-no-log';
  for (const secret of [`token = "${wrong}"`, `user = "someone"\npassword = "${wrong}"`]) {
    const c = new Server({ database, llm, set, settings: settings(nats.url).replace(`token = "${token}"`, secret) });
    try {
      await c.start();
      await waitForBusFailure(c);
      await waitFor('the log line', () => /authorization/i.test(c.log));
      const shown = (await new Client(c).get('/readyz')).text + (await new Client(c).get('/metrics')).text;
      for (const text of [c.log, c.out, shown]) assert.ok(!text.includes(wrong));
    } finally {
      await c.close();
    }
  }
  for (const s of [a, b]) assert.ok(!s.log.includes(token) && !s.out.includes(token));
});

test('an invalid server URL is rejected by setting name at startup', async () => {
  const bad = new Server({ database, set, settings: '[bus_nats]\nurls = ["nats://user:pw-in-url@127.0.0.1:1"]' });
  await assert.rejects(bad.start(), (e) => /bus_nats/.test(e.message) && /urls/.test(e.message) && !/pw-in-url/.test(e.message));
  await bad.close();
});
