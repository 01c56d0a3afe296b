// Propagation of trace context from a request to runs, jobs, models, MCP servers and SQL, and the export of spans.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { startCollector } from './lib/collector.mjs';
import { lastUser, startLlm, turns } from './lib/llm.mjs';
import { callingModel, node } from './lib/mcp.mjs';
import { waitingSandboxes } from './lib/processes.mjs';
import { Server, makeDatabase, sleep, statuses, waitFor } from './lib/server.mjs';

let database, llm, collector, server;
const parentOf = (flags = '01') => {
  const trace = randomBytes(16).toString('hex'), span = randomBytes(8).toString('hex');
  return { trace, span, header: `00-${trace}-${span}-${flags}` };
};
const settings = (more = '') => `
[tracing]
endpoint = "${collector.url}"
headers = ["Authorization: Bearer secret-of-the-collector"]
interval_seconds = 0.1
${more}
[log]
format = "json"
`;

async function defaultAnswer(request, reply) {
  const done = turns(request).filter((m) => m.role === 'tool');
  if (lastUser(request).includes('[shell]') && done.length === 0)
    return reply.tools([{ name: 'shell', arguments: { command: 'echo one' } }]);
  if (lastUser(request).includes('[slow]'))
    for (let i = 0; i < 400 && !reply.res.destroyed; i++) { reply.text(`w${i} `); await sleep(50); }
  reply.say('Hello');
}
async function run(u, prompt, headers) {
  const r = await u.start({ prompt }, headers);
  assert.equal(r.status, 200, r.text);
  return { r, s: await u.stream(r.json.agent_run_id) };
}

before(async () => {
  collector = await startCollector();
  database = makeDatabase();
  llm = await startLlm(defaultAnswer);
  server = await new Server({ database, llm, settings: settings() }).start();
});
after(async () => {
  await server?.close();
  await llm?.close();
  await collector?.close();
  database?.drop();
});

test('one trace covers the request, the job, the model calls and the database', async () => {
  const u = await server.user();
  await u.get('/account');
  const parent = parentOf();
  const firstCall = llm.seen.length;
  const { r, s } = await run(u, 'a [shell] please, my password is tangerine-42',
    { traceparent: parent.header, tracestate: 'vendor=abc, other=1' });
  assert.deepEqual(statuses(s.events).slice(-1), ['completed']);
  const spans = await waitFor('the spans of the run', () => {
    // Parent spans end, and are exported, after their children.
    const all = collector.of(parent.trace);
    const ids = new Set([parent.span, ...all.map((x) => x.spanId)]);
    return all.some((x) => x.name === 'job runs.execute') && all.every((x) => ids.has(x.parentSpanId)) && all;
  });
  assert.deepEqual(collector.faults, []);

  const request = spans.find((x) => x.name === 'POST /agent/start');
  assert.equal(request.parentSpanId, parent.span);
  assert.equal(request.kind, 2);
  assert.equal(request.flags & 0x300, 0x300, 'its parent is marked as remote');
  assert.equal(request.attributes['http.response.status_code'], 200);
  assert.equal(request.attributes['runyard.module'], 'runs');
  assert.equal(request.attributes['runyard.request_id'], r.headers.get('x-request-id'));
  assert.equal(request.resource['service.name'], 'runyard');
  assert.equal(request.traceState, 'vendor=abc, other=1');

  const job = spans.find((x) => x.name === 'job runs.execute');
  assert.equal(job.parentSpanId, request.spanId);
  assert.equal(job.kind, 5);

  // Both model calls have a span of this trace as their parent, and that span belongs to the job.
  const calls = llm.seen.slice(firstCall);
  assert.equal(calls.length, 2);
  for (const call of calls) {
    const [, trace, span, flags] = call.headers.traceparent.split('-');
    assert.equal(trace, parent.trace);
    assert.equal(flags, '01');
    assert.equal(call.headers.tracestate, 'vendor=abc, other=1');
    const client = await waitFor('the span of the call', () => collector.of(trace).find((x) => x.spanId === span));
    assert.equal(client.kind, 3);
    assert.equal(client.parentSpanId, job.spanId);
    assert.equal(client.attributes['server.address'], '127.0.0.1');
    assert.equal(client.attributes['http.response.status_code'], 200);
  }

  const sql = spans.filter((x) => x.attributes['db.system.name'] === 'postgresql');
  assert.ok(sql.some((x) => x.parentSpanId === request.spanId), 'the request has database spans');
  assert.ok(sql.some((x) => x.parentSpanId === job.spanId), 'the job has database spans');
  for (const x of sql) assert.ok(BigInt(x.endTimeUnixNano) >= BigInt(x.startTimeUnixNano));
  assert.equal(spans.length, new Set(spans.map((x) => x.spanId)).size);
});

test('exported spans contain no secrets', () => {
  const all = collector.seen.map((x) => x.body).join('\n');
  for (const secret of ['tangerine', 'sk-test-secret-value', 'secret-of-the-collector', 'Bearer', server.dir])
    assert.ok(!all.includes(secret), secret);
  assert.equal(collector.seen[0].headers.authorization, 'Bearer secret-of-the-collector');
  assert.equal(collector.seen[0].url, '/v1/traces');
  assert.equal(collector.seen[0].headers['content-type'], 'application/json');
  assert.equal(collector.seen[0].headers.traceparent, undefined);
});

test('log lines contain their trace id', async () => {
  const u = await server.user();
  const parent = parentOf();
  await u.get('/account', { headers: { traceparent: parent.header } });
  const line = await waitFor('the log line of the request',
    () => server.log.split('\n').find((l) => l.includes(parent.trace)));
  const { msg, trace_id: id } = JSON.parse(line);
  assert.equal(msg, 'request');
  assert.equal(id, parent.trace);
});

test('concurrent runs stay in their own traces', async () => {
  const users = await Promise.all(Array.from({ length: 12 }, () => server.user()));
  const firstCall = llm.seen.length;
  const parents = users.map(() => parentOf());
  await Promise.all(users.map((u, i) => run(u, `run ${i}`, { traceparent: parents[i].header })));
  const calls = llm.seen.slice(firstCall);
  assert.equal(calls.length, users.length);
  for (const call of calls) {
    const i = Number(/run (\d+)/.exec(JSON.stringify(call.json.messages))[1]);
    assert.equal(call.headers.traceparent.split('-')[1], parents[i].trace);
  }
  for (const p of parents) {
    const spans = await waitFor('the span of its job', () => collector.of(p.trace).some((x) => x.name === 'job runs.execute') && collector.of(p.trace));
    assert.equal(spans.filter((x) => x.name === 'POST /agent/start').length, 1);
    assert.equal(spans.filter((x) => x.name === 'job runs.execute').length, 1);
  }
});

test('a warm local MCP program works in the trace of the run that calls it', async () => {
  const other = makeDatabase();
  const calling = await startLlm(callingModel);
  const otherServer = await new Server({ database: other, llm: calling, set: ['http.threads=1', 'sandbox_bubblewrap.warm=1'],
    settings: `${settings()}\n[mcp.json]\nreadable = ["${import.meta.dirname}"]\n` }).start();
  try {
    const stubborn = path.join(import.meta.dirname, 'lib/stubborn.mjs');
    const users = await Promise.all([0, 1, 2].map(() => otherServer.user({ tier: 'pro' })));
    for (const u of users) {
      const agent = (await u.get('/agents')).json.agents[0].agent_id;
      const r = await u.request('PUT', `/agents/${agent}/custom-mcp-tools`, { json: { custom_mcps: [
        { name: 'talker', type: 'json', config: { command: node, args: [stubborn, 'chatty'] }, enabledTools: ['echo'] }] } });
      assert.equal(r.status, 200, r.text);
    }
    const parents = users.map(() => parentOf());
    const warm = () => waitingSandboxes(otherServer.process.pid);
    for (const [i, u] of users.entries()) {
      if (i > 0) await waitFor('a warm sandbox', () => warm().length > 0, 20000);
      const warmBefore = warm();
      await run(u, `[call talker__echo {"by":"user-${i}"}]`, { traceparent: parents[i].header });
      assert.ok(i === 0 || warmBefore.some((pid) => !warm().includes(pid)), 'the warm sandbox was used');
      // The client sees the end of the run before its job has ended. The next run must begin after that: see the end of the test.
      await waitFor('the span of its job', () => collector.of(parents[i].trace).some((x) => x.name === 'job runs.execute'));
    }
    for (const [i, p] of parents.entries()) {
      const line = await waitFor('the log line of the program', () => otherServer.log.split('\n').find((l) => l.includes(`user-${i}`) && l.includes('standard error of a local MCP server')));
      assert.equal(JSON.parse(line).trace_id, p.trace, `of user ${i}`);
      const spans = await waitFor('the span of its job', () => {
        const all = collector.of(p.trace), ids = new Set([p.span, ...all.map((x) => x.spanId)]);
        return all.some((x) => x.name === 'job runs.execute') && all.every((x) => ids.has(x.parentSpanId)) && all;
      });
      assert.equal(spans.filter((x) => x.name === 'job runs.execute').length, 1);
    }
    // A trace is complete when its run has ended; later spans belong to other traces.
    for (const [i, p] of parents.entries()) {
      const ends = collector.of(p.trace).map((x) => BigInt(x.endTimeUnixNano));
      const next = i + 1 < parents.length && collector.of(parents[i + 1].trace).find((x) => x.name === 'job runs.execute');
      if (next) assert.ok(ends.every((end) => end < BigInt(next.startTimeUnixNano)), `user ${i}`);
    }
  } finally {
    await otherServer.close();
    await calling.close();
    other.drop();
  }
});

test('a trace that a client does not sample is not recorded, and the flag is propagated', async () => {
  const u = await server.user();
  const parent = parentOf('00');
  const firstCall = llm.seen.length;
  await run(u, 'quietly', { traceparent: parent.header });
  const [, trace, , flags] = llm.seen[firstCall].headers.traceparent.split('-');
  assert.equal(trace, parent.trace);
  assert.equal(flags, '00');
  await sleep(500);
  assert.deepEqual(collector.of(parent.trace), []);
});

test('a malformed trace context starts a new trace', async () => {
  const u = await server.user();
  for (const bad of ['00-zz-zz-01', parentOf().header.toUpperCase(), parentOf().header + '-x', 'ff' + parentOf().header.slice(2)]) {
    const firstCall = llm.seen.length;
    await run(u, 'new trace', { traceparent: bad, tracestate: 'vendor=abc' });
    const { traceparent, tracestate } = llm.seen[firstCall].headers;
    assert.match(traceparent, /^00-[0-9a-f]{32}-[0-9a-f]{16}-03$/);
    assert.ok(!bad.toLowerCase().includes(traceparent.split('-')[1]));
    assert.equal(tracestate, undefined);
  }
  const valid = parentOf();
  const firstCall = llm.seen.length;
  await run(u, 'half', { traceparent: valid.header, tracestate: 'UPPER=1' });
  assert.equal(llm.seen[firstCall].headers.traceparent.split('-')[1], valid.trace);
  assert.equal(llm.seen[firstCall].headers.tracestate, undefined);
});

test('a run that is claimed by another process continues its trace', async () => {
  const u = await server.user();
  const parent = parentOf();
  const r = await u.start({ prompt: '[slow] one' }, { traceparent: parent.header });
  assert.equal(r.status, 200, r.text);
  await waitFor('the stored trace', () => database.sql(`select trace from core.job where kind = 'runs.execute' and trace like '00-${parent.trace}-%'`), 20000);
  await server.kill();
  llm.answer = (request, reply) => reply.say('after all');
  const firstCall = llm.seen.length;
  await server.start();
  await waitFor('the next model request', () => llm.seen.length > firstCall, 30000);
  llm.answer = defaultAnswer;
  assert.equal(llm.seen[firstCall].headers.traceparent.split('-')[1], parent.trace);
  const again = await waitFor('the second attempt',
    () => collector.of(parent.trace).find((x) => x.name === 'job runs.execute' && x.attributes['runyard.job.attempt'] === 2));
  assert.notEqual(again.parentSpanId, parent.span, 'its parent is a span of the request');
});

test('metrics count the exported spans', async () => {
  const text = await (await fetch(`${server.url}/metrics`)).text();
  const value = (name) => Number(new RegExp(`^${name} (\\d+)`, 'm').exec(text)[1]);
  assert.ok(value('runyard_tracing_spans_total') > 0);
  assert.ok(value('runyard_tracing_exported_total') > 0);
  assert.equal(value('runyard_tracing_dropped_total'), 0);
  assert.equal(value('runyard_tracing_failed_total'), 0);
});

test('without a collector, a trace context is propagated unchanged and no new one is started', async () => {
  const other = makeDatabase();
  const untraced = await new Server({ database: other, llm }).start();
  try {
    const u = await untraced.user();
    const parent = parentOf();
    let firstCall = llm.seen.length;
    await run(u, 'one', { traceparent: parent.header, tracestate: 'vendor=abc' });
    assert.equal(llm.seen[firstCall].headers.traceparent, parent.header);
    assert.equal(llm.seen[firstCall].headers.tracestate, 'vendor=abc');
    firstCall = llm.seen.length;
    await run(u, 'two');
    assert.equal(llm.seen[firstCall].headers.traceparent, undefined);
  } finally {
    await untraced.close();
    other.drop();
  }
});

test('an unavailable collector is harmless, and settings control accepted and propagated headers', async () => {
  const other = makeDatabase();
  const failingCollector = await startCollector({ answer: () => [503, '{}'] });
  const otherServer = await new Server({ database: other, llm, settings: `
[tracing]
endpoint = "${failingCollector.url}"
interval_seconds = 0.05
max_queue = 16
accept = "none"
propagate = "none"
` }).start();
  try {
    const u = await otherServer.user();
    const parent = parentOf();
    const firstCall = llm.seen.length;
    for (let i = 0; i < 5; ++i) await run(u, `run ${i}`, { traceparent: parent.header });
    assert.ok(llm.seen.slice(firstCall).every((x) => !x.headers.traceparent));
    const text = await (await fetch(`${otherServer.url}/metrics`)).text();
    assert.ok(Number(/^runyard_tracing_dropped_total (\d+)/m.exec(text)[1]) > 0);
    assert.ok(failingCollector.seen.length > 0);
    assert.ok(failingCollector.seen.every((x) => !x.body.includes(parent.trace)));
    const begun = Date.now();
    await otherServer.stop();
    assert.ok(Date.now() - begun < 10000);
  } finally {
    await otherServer.close();
    await failingCollector.close();
    other.drop();
  }
});
