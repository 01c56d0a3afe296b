// Live events from node to node through a real NATS server: what a reader sees on another node than the one that
// executes the run, while the bus works, goes away, forgets, and is lied to.
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
  const [, how, n] = /\[(big|flood) (\d+)\]/.exec(lastUser(request)) ?? [];
  if (how === undefined) return slowWords(request, reply);
  if (how === 'big') return reply.say(big(Number(n)));
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

async function figure(server, name) {
  const line = (await new Client(server).get('/metrics')).text.split('\n').find((l) => l.startsWith(`${name} `));
  return line === undefined ? undefined : Number(line.split(' ').at(-1));
}
// A node learns of the others by its heartbeat; before that no node listens to it.
const up = (...servers) => waitFor('the bus heard by all', async () => {
  for (const s of servers)
    if (await figure(s, 'runyard_bus_nodes') !== servers.length - 1 || await figure(s, 'runyard_bus_heard_by_all') !== 1) return false;
  return true;
}, 30000);

before(async () => {
  database = makeDatabase();
  llm = await startLlm(model);
  nats = await new Nats({ args: ['--auth', token] }).start();
  a = await new Server({ database, llm, set, settings: settings(nats.url) }).start();
  b = await new Server({ database, llm, set, settings: settings(nats.url) }).start();
  await up(a, b);
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
const away = (s) => waitFor('the bus away', async () => {
  const ready = await new Client(s).get('/readyz');
  assert.equal(ready.status, 200, 'it serves');
  return /nats is away .*wake-ups go through the database/.test(degraded(ready)[0]?.message)
    && await figure(s, 'runyard_bus_up') === 0;
}, 30000);

// A run on `a`, read on `b` from its start to its end.
async function readThere(count, { onEvent } = {}) {
  const u = await a.user();
  const r = await u.start({ prompt: `[words ${count}]` });
  assert.equal(r.status, 200, r.text);
  const there = new Client(b, u.token, u.id);
  const s = await there.stream(r.json.agent_run_id, { onEvent, timeout: 60000 });
  return { u, there, id: r.json.agent_run_id, ...s };
}
// Does something when the reader has come to the fiftieth word. The last events repeat the text, so: once.
function midway(act) {
  const at = { onEvent: (e) => { if (!at.done && e.content?.includes('w50 ')) at.done = Promise.resolve(act()); } };
  return at;
}
function whole(s, count) {
  assert.equal(s.status, 200);
  assert.ok(gapless(s.events), 'every event once and in order');
  assert.deepEqual(statuses(s.events).filter((x) => x !== 'running'), ['completed']);
  assert.equal(textOf(s.events), words(count));
}

test('a reader on another node gets every event once, by the bus, and no wake-up goes through the database', async () => {
  // On a busy machine signs of life are late, and then wake-ups are right.
  let wakeups = 1;
  for (let i = 0; i < 5 && wakeups > 0; i++) {
    const before = await figure(a, 'runyard_live_wakeups_sent_total');
    const received = await figure(b, 'runyard_bus_received_total'), bytes = await figure(a, 'runyard_bus_nats_sent_bytes_total');
    const s = await readThere(100);
    whole(s, 100);
    wakeups = await figure(a, 'runyard_live_wakeups_sent_total') - before;
    assert.ok(await figure(b, 'runyard_bus_received_total') > received);
    assert.ok(await figure(a, 'runyard_bus_nats_sent_bytes_total') - bytes > s.raw.length / 2, 'the text itself, not wake-ups alone');
  }
  assert.equal(wakeups, 0);
  const ready = await new Client(b).get('/readyz');
  assert.deepEqual([ready.json.status, ready.json.reasons, degraded(ready)], ['ready', [], []]);
});

test('one stream has subjects for each run, one for each message, and each node one consumer, however many readers', async () => {
  const spy = await natsClient(nats.url, { auth_token: token });
  const runs = await Promise.all([1, 2, 3].map(() => readThere(30)));
  for (const s of runs) whole(s, 30);
  const stream = await spy.request('$JS.API.STREAM.INFO.RUNYARD', JSON.stringify({ subjects_filter: '>' }));
  assert.deepEqual(stream.config.subjects, ['runyard.live.>']);
  const subjects = Object.entries(stream.state.subjects);
  for (const s of runs) {
    const own = subjects.filter(([name]) => name.startsWith(`runyard.live.runs.${s.id}.`));
    assert.ok(own.length > 0, `subjects of ${s.id}`);
    // A server of 2.9 looks through the whole stream for the next message of a subject when one leaves it.
    for (const [name, messages] of own) assert.equal(messages, 1, name);
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
    assert.ok(config.flow_control && config.idle_heartbeat > 0, 'what a client needs to find gaps');
  }
  spy.close();
});

test('a snapshot, merged chunks and a resumed stream are the same over the bus', async () => {
  const u = await a.user();
  const id = (await u.start({ prompt: '[words 60]' })).json.agent_run_id;
  const there = new Client(b, u.token, u.id);
  const first = await there.stream(id, { until: (e) => e.content?.includes('w20 ') });
  const [rest, merged, snapshot] = await Promise.all([
    there.stream(id, { headers: { 'last-event-id': String(first.events.at(-1).sequence) } }),
    there.stream(id, { query: '?coalesce_ms=100' }),
    there.stream(id, { query: '?mode=snapshot' })]);
  whole({ status: 200, events: [...first.events, ...rest.events] }, 60);
  assert.equal(textOf(merged.events), words(60));
  assert.ok(merged.events.length < rest.events.length, 'chunks were merged');
  assert.equal(snapshot.events[0].type, 'snapshot');
  assert.equal(snapshot.events[0].content + snapshot.events.filter((e) => e.type === 'llm_response_chunk').map((e) => e.content).join(''), words(60));
  assert.deepEqual(statuses(snapshot.events), ['completed']);
});

test('nats-server is killed in the middle of a run: the stream goes on by wake-ups, and by the bus when it is back', async () => {
  const mid = midway(() => nats.kill());
  const s = await readThere(200, mid);
  await mid.done;
  whole(s, 200);
  await away(a);
  const wakeups = await figure(a, 'runyard_live_wakeups_sent_total'), heard = await figure(b, 'runyard_live_wakeups_received_total');
  whole(await readThere(30), 30);
  assert.ok(await figure(a, 'runyard_live_wakeups_sent_total') > wakeups);
  await waitFor('wake-ups from the other node', async () => await figure(b, 'runyard_live_wakeups_received_total') > heard);
  await nats.start();
  await up(a, b);
  whole(await readThere(30), 30);
});

test('its store is wiped in the middle of a run and it comes back with nothing: no gap, no double', async () => {
  const mid = midway(() => nats.kill().then(() => { nats.wipe(); return nats.start(); }));
  const s = await readThere(200, mid);
  await mid.done;
  whole(s, 200);
  await up(a, b);
  const received = await figure(b, 'runyard_bus_received_total');
  whole(await readThere(30), 30);
  assert.ok(await figure(b, 'runyard_bus_received_total') > received, 'the bus is used again');
});

test('nats-server stops answering in the middle of a run: nothing waits for it', async () => {
  try {
    whole(await readThere(200, midway(() => nats.process.kill('SIGSTOP'))), 200);
    await away(a);
    await away(b);
    whole(await readThere(30), 30);
  } finally {
    nats.process.kill('SIGCONT');
  }
  await up(a, b);
  whole(await readThere(30), 30);
});

test('more than queues and sockets hold, while nats-server takes nothing: the run goes on, and nothing is missing', async () => {
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
  await up(a, b);
});

test('a node that is paused with its connections misses nothing', async () => {
  const mid = midway(() => {
    b.process.kill('SIGSTOP');
    return sleep(3000).then(() => b.process.kill('SIGCONT'));
  });
  const s = await readThere(200, mid);
  await mid.done;
  whole(s, 200);
  await up(a, b);
});

for (const what of ['DELETE', 'PURGE'])
  test(`the stream loses messages while all nodes are connected (${what}): readers get them from the log`, async () => {
    const admin = await natsClient(nats.url, { auth_token: token });
    const mid = midway(() => admin.request(`$JS.API.STREAM.${what}.RUNYARD`, ''));
    const s = await readThere(200, mid);
    assert.equal((await mid.done).success, true);
    whole(s, 200);
    await up(a, b);
    whole(await readThere(30), 30);
    admin.close();
  });

test('a stream that refuses messages: they go through the database, and connections are not made anew all the time', async () => {
  const admin = await natsClient(nats.url, { auth_token: token });
  const { config } = await admin.request('$JS.API.STREAM.INFO.RUNYARD', '');
  const changed = await admin.request('$JS.API.STREAM.UPDATE.RUNYARD', JSON.stringify({ ...config, max_msg_size: 20 }));
  assert.equal(changed.error, undefined);
  const connects = await figure(a, 'runyard_bus_nats_connects_total');
  try {
    whole(await readThere(200), 200);
    const tries = await figure(a, 'runyard_bus_nats_connects_total') - connects;
    assert.ok(tries < 15, `${tries} connections`);
    assert.match(a.log, /refuses messages/);
  } finally {
    assert.equal((await admin.request('$JS.API.STREAM.DELETE.RUNYARD', '')).success, true);
  }
  await up(a, b);
  whole(await readThere(30), 30);
  admin.close();
});

test('messages above the size limit of the servers are left out, and the connection stays', async () => {
  const small = await new Nats({ config: 'max_payload: 4096' }).start();
  const nodes = [];
  try {
    const own = makeDatabase();
    nodes.push({ close: () => own.drop() });
    for (let i = 0; i < 2; i++)
      nodes.unshift(await new Server({ database: own, llm, set, settings: `[bus_nats]\nurls = ["${small.url}"]` }).start());
    await up(nodes[0], nodes[1]);
    const u = await nodes[0].user();
    const id = (await u.start({ prompt: '[big 20]' })).json.agent_run_id;
    const s = await new Client(nodes[1], u.token, u.id).stream(id);
    assert.ok(gapless(s.events));
    assert.equal(textOf(s.events), big(20));
    assert.ok(await figure(nodes[1], 'runyard_bus_received_total') > 0);
    for (const n of nodes.slice(0, 2)) assert.doesNotMatch(n.log, /payload|could not be sent/i);
  } finally {
    for (const n of nodes) await n.close();
    await small.close();
  }
});

test('the module is reloaded, switched off and on again in the middle of a run', async () => {
  const admin = await a.user({ role: 'admin' });
  const answers = [];
  const mid = midway(async () => {
    for (const what of ['reload', 'disable', 'enable'])
      answers.push((await admin.post(`/admin/modules/bus_nats/${what}`)).status);
  });
  const s = await readThere(200, mid);
  await mid.done;
  assert.deepEqual(answers, [200, 200, 200]);
  whole(s, 200);
  await up(a, b);
  const received = await figure(b, 'runyard_bus_received_total');
  whole(await readThere(30), 30);
  assert.ok(await figure(b, 'runyard_bus_received_total') > received, 'the bus is used again');
});

test('the connection from one node to nats-server falls silent: an inbox on another node gets a wake-up', async () => {
  const relay = new Relay({ host: '127.0.0.1', port: 0 }, { host: '127.0.0.1', port: nats.port });
  await relay.listen();
  const c = new Server({ database, llm, set, settings: settings(`nats://127.0.0.1:${relay.server.address().port}`) });
  const stop = new AbortController();
  try {
    await c.start();
    await up(a, b, c);
    const u = await b.user();
    assert.equal((await u.get('/account')).status, 200);
    const stream = await fetch(`${b.url}/notifications/inbox/stream`, { headers: { authorization: `Bearer ${u.token}` }, signal: stop.signal });
    assert.equal(stream.status, 200);
    let text = '';
    const reading = (async () => { for await (const bytes of stream.body) text += Buffer.from(bytes); })().catch(() => {});
    await waitFor('it reads', () => text.includes('"type": "unread_count"'));
    const before = await figure(c, 'runyard_live_wakeups_sent_total');
    relay.setCut(true);
    const sent = await new Client(c, c.token({ role: 'admin' })).post('/admin/notifications/trigger', {
      json: { workflow_id: 'promotional', payload_template: { title: 'silent' }, subscriber_id: u.id } });
    assert.equal(sent.status, 200, sent.text);
    await waitFor('a wake-up through the database', async () => await figure(c, 'runyard_live_wakeups_sent_total') > before, 60000);
    await waitFor('it is heard', () => text.includes('"type": "notification"'));
    stop.abort();
    await reading;
  } finally {
    stop.abort();
    relay.setCut(false);
    await c.close();
    relay.close();
  }
  await up(a, b);
});

test('servers without JetStream are named, and asked again seldom', async () => {
  const plain = await new Nats({ jetstream: false, args: ['-D'] }).start();
  const own = makeDatabase();
  const c = new Server({ database: own, llm, set, settings: `[bus_nats]\nurls = ["${plain.url}"]` });
  try {
    await c.start();
    await away(c);
    await waitFor('the reason', async () => /JetStream/i.test(degraded(await new Client(c).get('/readyz'))[0]?.message));
    await sleep(2000);
    const tries = plain.log.match(/Client connection created/g).length;
    assert.ok(tries > 0 && tries < 30, `${tries} connections`);
  } finally {
    await c.close();
    own.drop();
    await plain.close();
  }
});

test('a node that is started while nats-server is away serves, says so, and finds the bus later', async () => {
  await nats.kill();
  const c = new Server({ database, llm, set, settings: settings(nats.url) });
  try {
    await c.start();
    const ready = await new Client(c).get('/readyz');
    assert.equal(ready.status, 200);
    assert.match(degraded(ready)[0]?.message, /nats is away/);
    await waitFor('the line in its log', () => /the event bus is away/.test(c.log) || /no server answers/.test(c.log));
    await nats.start();
    await up(a, b, c);
  } finally {
    if (nats.gone) await nats.start();
    await c.close();
  }
  await up(a, b);
});

test('a slow reader on another node misses nothing and delays no other reader', async () => {
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
  whole(quick, 200);
  await slow;
  const ids = [...text.matchAll(/^id: (\d+)$/gm)].map((m) => Number(m[1]));
  assert.deepEqual(ids, quick.events.map((e) => e.sequence));
});

test('a message that is published twice is delivered once', async () => {
  const spy = await natsClient(nats.url, { auth_token: token });
  await spy.subscribe('runyard.live.runs.>');
  const published = { sent: false };
  // Everything of the run is sent once more by a copying client: with its id the stream drops it, under
  // another id it is an old message that readers have.
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
  const s = await readThere(100);
  published.over = true;
  await copier;
  assert.ok(published.sent);
  whole(s, 100);
  const m = spy.heard.findLast((h) => h.subject.includes(`.${s.id}.`) && /Nats-Msg-Id: *[^c\s]/.test(h.headers));
  const again = await spy.request(m.subject, m.data, m.headers);
  assert.equal(again.duplicate, true, 'the stream knows it by the id that the node gave it');
  spy.close();
});

test('a hostile publisher is ignored and named', async () => {
  const liar = await natsClient(nats.url, { auth_token: token });
  await liar.subscribe('runyard.live.runs.>');
  const first = await readThere(5);
  await waitFor('a message to copy', () => liar.heard.some((m) => m.subject.includes(`.${first.id}.`)));
  const real = liar.heard.find((m) => m.data.length > 60);
  let lied;
  const s = await readThere(100, { onEvent: (e) => {
    if (lied || e.type !== 'llm_response_chunk') return;
    lied = (async () => {
      const subject = liar.heard.findLast((m) => m.subject.startsWith('runyard.live.runs.')).subject;
      await liar.publish(subject, 'id: 999999\ndata: {"type": "status", "sequence": 999999, "status": "completed"}\n\n');
      await liar.publish(subject, Buffer.alloc(0));
      await liar.publish(subject, real.data);  // of another run
      const forged = Buffer.from(real.data);
      forged[forged.length - 5] ^= 1;
      await liar.publish(real.subject, forged);
      await liar.publish(subject, Buffer.alloc(900 * 1024, 'x'));
      await liar.publish('runyard.live.runs.=41.1', 'a subject that no topic has');
    })();
  } });
  await lied;
  whole(s, 100);
  for (const reason of ['malformed', 'seal', 'size', 'subject'])
    await waitFor(`the count of ${reason}`, async () => (await figure(b, `runyard_bus_nats_refused_total{reason="${reason}"}`)) > 0);
  assert.match(b.log, /a message of NATS is ignored/);
  assert.match(b.log, /runyard\.live\.runs\./);
  liar.close();
});

test('no token or password is in a log, also not one that the servers refuse', async () => {
  const wrong = 'another-secret-that-is-in-no-log';
  for (const secret of [`token = "${wrong}"`, `user = "somebody"\npassword = "${wrong}"`]) {
    const c = new Server({ database, llm, set, settings: settings(nats.url).replace(`token = "${token}"`, secret) });
    try {
      await c.start();
      await away(c);
      await waitFor('the line in its log', () => /authorization/i.test(c.log));
      const shown = (await new Client(c).get('/readyz')).text + (await new Client(c).get('/metrics')).text;
      for (const text of [c.log, c.out, shown]) assert.ok(!text.includes(wrong));
    } finally {
      await c.close();
    }
  }
  for (const s of [a, b]) assert.ok(!s.log.includes(token) && !s.out.includes(token));
});

test('a wrong address is refused by name before anything runs', async () => {
  const bad = new Server({ database, set, settings: '[bus_nats]\nurls = ["nats://user:pw-in-url@127.0.0.1:1"]' });
  await assert.rejects(bad.start(), (e) => /bus_nats/.test(e.message) && /urls/.test(e.message) && !/pw-in-url/.test(e.message));
  await bad.close();
});
