// The driver `novu` against a fake of Novu: its requests are compared with the official client and with Novu's API
// description, and its triggers go through every fault.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { Novu } from '@novu/api';
import Ajv from 'ajv';
import { startNovu } from '../lib/novu.mjs';
import { Channel, Driver, Result, Status } from './driver.mjs';

const description = JSON.parse(readFileSync(path.join(import.meta.dirname, 'novu-openapi.json'), 'utf8'));
const txn = (name) => createHash('sha256').update(name).digest('hex').slice(0, 32);
const account = '018f4c1e-0000-7000-8000-000000000001';
const ann = { account_id: account, email: 'ann@example.org', name: 'Ann Lee', first_name: 'Ann', phone: '+4711', avatar: 'https://x.test/a.png' };
const annAtNovu = { subscriberId: account, email: 'ann@example.org', firstName: 'Ann', lastName: 'Lee', phone: '+4711', avatar: 'https://x.test/a.png' };
const expo = [{ provider: 'expo', token: 'ExponentPushToken[a]', device_type: 'mobile' }, { provider: 'expo', token: 'ExponentPushToken[b]', device_type: 'mobile' }];
const completed = (name, more = {}) => ({ workflow: 'task-completed', key: txn(name), to: ann, tokens: expo,
  payload: { first_name: 'Ann', task_name: 'Report', task_url: 'https://x.test/t/1' }, ...more });
const event = (name, more = {}) => ({ workflowId: 'task-completed', to: annAtNovu, transactionId: txn(name),
  payload: { first_name: 'Ann', task_name: 'Report', task_url: 'https://x.test/t/1' }, ...more });

let novu;
const drivers = [];
const driver = (settings = {}) => {
  const d = new Driver('notify_novu', { base_url: novu.url, api_key: novu.key, timeout_seconds: 5, ...settings });
  drivers.push(d);
  return d;
};
before(async () => { novu = await startNovu(); });
after(async () => {
  for (const d of drivers) await d.close();
  await novu.close();
});

const ajv = new Ajv({ strict: false, allErrors: true });
ajv.addSchema(description, 'novu');
function findOperation(r) {
  const [, methods] = Object.entries(description.paths).find(([template, methods]) =>
    methods[r.method.toLowerCase()] && new RegExp(`^${template.replace(/\{[^}]+\}/g, '[^/]+')}$`).test(r.path)) ?? [];
  return methods?.[r.method.toLowerCase()];
}
// Returns how a request violates Novu's API description.
function violations(r) {
  const operation = findOperation(r);
  if (!operation) return ['no such operation'];
  const out = [];
  const known = new Set(operation.parameters.map((p) => `${p.in} ${p.name}`));
  for (const name of r.query.keys()) if (!known.has(`query ${name}`)) out.push(`unknown parameter ${name}`);
  if (!/^ApiKey /.test(r.headers.authorization ?? '')) out.push('no API key');
  const schema = operation.requestBody?.content['application/json'].schema;
  if (schema && !ajv.validate({ $ref: `novu${schema.$ref}` }, r.body)) out.push(...ajv.errors.map((e) => `${e.instancePath} ${e.message}`));
  if (!schema && r.body !== undefined) out.push('an unexpected body');
  return out;
}
const shape = (r) => ({ method: r.method, path: r.path, query: Object.fromEntries(r.query), body: r.body, authorization: r.headers.authorization,
  key: r.headers['idempotency-key'] });

test('each operation: the driver sends the same request as the official client, and it is valid by the API description', async (t) => {
  const d = driver();
  const withConditions = driver({ step_conditions: true });
  const withIntegration = driver({ integrations: { fcm: 'fcm-eu' } });
  const withBulk = driver({ bulk_size: 3, bulk_wait_ms: 1000 });
  const sdk = new Novu({ secretKey: novu.key, serverURL: novu.url, retryConfig: { strategy: 'none' } });
  novu.subscribers.set(account, { subscriberId: account, channels: {} });
  const operations = [
    ['trigger', () => d.call({ trigger: completed('g1') }), () => sdk.trigger(event('g1'), `${txn('g1')}.0`)],
    ['trigger, later epoch', () => d.call({ trigger: completed('g2', { epoch: 3, attempt: 4 }) }), () => sdk.trigger(event('g2'), `${txn('g2')}.3`)],
    ['trigger on some of the channels', () => withConditions.call({ trigger: completed('g3', { channels: Channel.email }) }),
      () => sdk.trigger(event('g3', { payload: { ...event('g3').payload, channels: { email: true, push: false, in_app: false } } }), `${txn('g3')}.0`)],
    ['trigger for a subscriber with only an id', () => d.call({ trigger: completed('g4', { to: { account_id: account, first_name: 'User' }, tokens: [], workflow: 'promotional', payload: { title: 'T', message: 'M', action_url: 'https://x.test' } }) }),
      () => sdk.trigger({ workflowId: 'promotional', transactionId: txn('g4'), to: { subscriberId: account, firstName: 'User' }, payload: { title: 'T', message: 'M', action_url: 'https://x.test' } }, `${txn('g4')}.0`)],
    ['bulk', () => withBulk.call({ triggers: ['b1', 'b2', 'b3'].map((n) => completed(n)) }),
      () => sdk.triggerBulk({ events: ['b1', 'b2', 'b3'].map((n) => event(n)) }, `${txn('b1')}.0.bulk`)],
    ['withdraw', () => d.call({ withdraw: txn('g1') }), () => sdk.cancel(txn('g1'))],
    ['put_subscriber', () => d.call({ put_subscriber: ann }), () => sdk.subscribers.create(annAtNovu)],
    ['put_tokens', () => d.call({ put_tokens: { account_id: account, provider: 'expo', tokens: expo } }),
      () => sdk.subscribers.credentials.update({ providerId: 'expo', credentials: { deviceTokens: expo.map((x) => x.token) } }, account)],
    ['put_tokens for one integration', () => withIntegration.call({ put_tokens: { account_id: account, provider: 'fcm', tokens: [{ provider: 'fcm', token: 'a:b' }] } }),
      () => sdk.subscribers.credentials.update({ providerId: 'fcm', integrationIdentifier: 'fcm-eu', credentials: { deviceTokens: ['a:b'] } }, account)],
    ['put_tokens, empty list', () => d.call({ put_tokens: { account_id: account, provider: 'expo', tokens: [] } }), () => sdk.subscribers.credentials.delete(account, 'expo')],
    ['follow', () => d.call({ follow: [{ key: txn('g1') }] }), () => sdk.messages.retrieve({ transactionId: [txn('g1')], limit: 100 })],
    ['follow a notification without messages', () => d.call({ follow: [{ key: txn('g4') }] }), async () => {
      await sdk.messages.retrieve({ transactionId: [txn('g4')], limit: 100 });
      await sdk.notifications.list({ transactionId: txn('g4') });
    }],
    ['forget', () => d.call({ forget: account }), () => sdk.subscribers.delete(account)],
  ];
  const called = new Set();
  for (const [name, ours, theirs] of operations) {
    await t.test(name, async () => {
      if (name === 'forget') novu.subscribers.set(account, { subscriberId: account, channels: {} });
      novu.requests.length = 0;
      const a = await ours();
      const sent = novu.requests.splice(0);
      assert.equal((a[0] ?? a).status, Status.ok, JSON.stringify(a));
      if (name === 'forget') novu.subscribers.set(account, { subscriberId: account, channels: {} });
      novu.forgetAnswers(); // another order of the members counts as a different body
      await theirs();
      const reference = novu.requests.splice(0);
      assert.deepEqual(sent.length, reference.length);
      for (const [i, r] of sent.entries()) {
        const [x, y] = [shape(r), shape(reference[i])];
        // The client generates a key if none is given; the driver sends one only if a repeat has an effect.
        if (x.key === undefined) y.key = undefined;
        if (x.body === undefined && Object.keys(y.body ?? {}).length === 0) y.body = undefined;
        // The client also sends parameters that have their default value.
        for (const name of ['page', 'limit']) if (x.query[name] === undefined) delete y.query[name];
        assert.deepEqual(x, y);
        assert.deepEqual(violations(r), []);
        called.add(findOperation(r).operationId);
      }
    });
  }
  assert.deepEqual([...called].sort(), Object.values(description.paths).flatMap((p) => Object.values(p).map((o) => o.operationId)).sort(), 'every operation of the description is tested');
});

test('the API description rejects invalid requests', () => {
  const r = (method, p, body, q = '') => ({ method, path: p, query: new URLSearchParams(q), body, headers: { authorization: 'ApiKey x' } });
  assert.notDeepEqual(violations(r('POST', '/v1/events/trigger', { workflowId: 'x', to: 'y' })), []);
  assert.notDeepEqual(violations(r('POST', '/v1/events/trigger', { name: 'x', to: { email: 'a@b.c' } })), []);
  assert.notDeepEqual(violations(r('PUT', '/v1/subscribers/a/credentials', { providerId: 'webpush', credentials: {} })), []);
  assert.notDeepEqual(violations(r('GET', '/v1/messages', undefined, 'transaction=1')), []);
  assert.notDeepEqual(violations(r('GET', '/v1/other')), []);
});

// Retries like the outbox of the module: with the same key and epoch after RETRY, the next epoch after RETRY_NEW.
async function deliver(d, name, more = {}) {
  const seen = [];
  for (let attempt = 1, epoch = 0; attempt <= 6; attempt++) {
    const a = await d.call({ trigger: completed(name, { attempt, epoch, timeout_ms: 3000, ...more }) });
    assert.equal(a.status, Status.ok);
    const { result, detail } = a.results[0];
    seen.push(result);
    if (result === Result.retryNew) epoch++;
    else if (result !== Result.retry) return { seen, detail };
  }
  return { seen };
}

for (const [label, faults, expected, sends] of [
  ['no fault', [], [Result.accepted], 1],
  ['a time-out after Novu accepted it', ['time-out'], [Result.retry, Result.accepted], 1],
  ['a lost request', ['lost'], [Result.retry, Result.accepted], 1],
  ['a reset within the response', ['reset'], [Result.retry, Result.accepted], 1],
  ['409', [409], [Result.retry, Result.accepted], 1],
  ['422', [422], [Result.refused], 0],
  ['429', [429], [Result.retry, Result.accepted], 1],
  ['500 then ok', [500], [Result.retryNew, Result.accepted], 1],
  ['500, a time-out, 429, a reset', [500, 'time-out', 429, 'reset'], [Result.retryNew, Result.retry, Result.retry, Result.accepted], 1],
  ['201 with trigger_not_active', ['trigger_not_active'], [Result.refused], 0],
  ['201 with no_workflow_steps_defined', ['no_workflow_steps_defined'], [Result.refused], 0],
]) {
  test(`a trigger with faults: ${label}`, async () => {
    const name = `fault ${label}`;
    novu.script(txn(name), faults);
    const out = await deliver(driver(), name);
    assert.deepEqual(out.seen, expected);
    assert.equal(novu.accepted.get(txn(name))?.times ?? 0, sends, 'accepted once');
    const keys = novu.of(txn(name)).map((r) => r.headers['idempotency-key']);
    assert.ok(keys.every((k) => k.startsWith(`${txn(name)}.`)));
    if (expected.at(-1) === Result.refused) assert.match(out.detail, /workflow_not_found|trigger_not_active|no_workflow_steps_defined/);
  });
}

test('an error that Novu stores for an idempotency key is retried with a new key', async () => {
  novu.script(txn('stored error'), [500]);
  const d = driver();
  const trigger = (epoch, attempt) => d.call({ trigger: completed('stored error', { epoch, attempt }) });
  assert.equal((await trigger(0, 1)).results[0].result, Result.retryNew);
  assert.equal((await trigger(0, 2)).results[0].result, Result.retryNew, 'the same key only repeats the failure');
  assert.equal((await trigger(1, 3)).results[0].result, Result.accepted);
});

test('a bulk response is read item by item, and the triggers of a failed bulk request are retried one by one', async () => {
  const d = driver({ bulk_size: 4, bulk_wait_ms: 1000 });
  const batch = (names, more) => names.map((n) => completed(n, n.endsWith('?') ? { ...more, workflow: 'unknown' } : more));
  const a = await d.call({ triggers: batch(['p1', 'p2?', 'p3', 'p4'], { attempt: 1 }) });
  assert.deepEqual(a.map((x) => x.results[0].result), [Result.accepted, Result.refused, Result.accepted, Result.accepted]);
  assert.match(a[1].results[0].detail, /workflow_not_found/);
  assert.equal(novu.of(txn('p1')).length, 1);
  assert.equal(novu.of(txn('p1'))[0].path, '/v1/events/trigger/bulk');

  const names = ['q1', 'q2', 'q3', 'q4'];
  novu.script(txn('q1'), ['reset']);
  const b = await d.call({ triggers: batch(names, { attempt: 1 }) });
  assert.deepEqual(b.map((x) => x.results[0].result), Array(4).fill(Result.retry));
  const c = await d.call({ triggers: batch(names, { attempt: 2 }) });
  assert.deepEqual(c.map((x) => x.results[0].result), Array(4).fill(Result.accepted));
  for (const n of names) assert.equal(novu.sent(txn(n)), 1);
  // A bulk request that is not full is sent after bulk_wait_ms.
  const begin = Date.now();
  const one = await driver({ bulk_size: 50, bulk_wait_ms: 50 }).call({ trigger: completed('single', { attempt: 1 }) });
  assert.equal(one.results[0].result, Result.accepted);
  assert.equal(novu.of(txn('single'))[0].path, '/v1/events/trigger');
  assert.ok(Date.now() - begin < 5000);
});

test('five concurrent triggers of one notification: Novu accepts it once', async () => {
  const all = await driver().call({ triggers: Array.from({ length: 5 }, () => completed('five')) });
  assert.ok(all.every((a) => [Result.accepted, Result.retry].includes(a.results[0].result)));
  assert.equal(novu.accepted.get(txn('five')).times, 1, 'the idempotency key was the same');
});

test('channels without an address are reported, not sent', async () => {
  const d = driver();
  const a = await d.call({ trigger: completed('noaddress', { to: { account_id: account, first_name: 'User' }, tokens: [] }) });
  assert.deepEqual(a.results.map((r) => [r.channels, r.result]), [[Channel.inApp, Result.accepted], [Channel.email | Channel.push, Result.skipped]]);
  novu.script(txn('conflict'), [409]);
  const conflict = { ...completed('conflict'), tokens: [] };
  const c = await d.call({ trigger: conflict });
  assert.deepEqual(c.results.map((r) => [r.channels, r.result]), [[7, Result.retry]], 'all channels are retried, because the request must be the same');
  const b = await d.call({ trigger: completed('no email', { channels: Channel.email, to: { account_id: account, first_name: 'User' } }) });
  assert.deepEqual(b.results.map((r) => [r.channels, r.result]), [[Channel.email, Result.skipped]]);
  assert.equal(novu.of(txn('no email')).length, 0);
});

test('disabled channels are never sent: without step conditions in Novu the driver sends no trigger', async () => {
  const d = driver();
  for (const [name, channels] of [['part1', Channel.email], ['part2', Channel.email | Channel.push], ['part3', Channel.push | Channel.inApp]]) {
    const a = await d.call({ trigger: completed(name, { channels }) });
    assert.deepEqual(a.results.map((r) => [r.channels, r.result]), [[channels, Result.skipped]]);
    assert.match(a.results[0].detail, /a channel is disabled.*notify_novu\.step_conditions is not set/);
    assert.equal(novu.of(txn(name)).length, 0);
  }
  assert.equal(d.err.match(/step_conditions/g).length, 1, 'it is logged once');
  const welcome = await d.call({ trigger: completed('part4', { workflow: 'welcome-email', channels: Channel.email, payload: {} }) });
  assert.deepEqual(welcome.results.map((r) => r.result), [Result.accepted], 'the workflow has no other channel');
});

test('a wrong key pauses all sends and is never shown', async () => {
  const d = driver({ api_key: 'wrong-secret' });
  const a = await d.call({ trigger: completed('wrong') });
  assert.equal(a.results[0].result, Result.paused);
  assert.ok(a.results[0].retry_after_s > 0);
  assert.match(a.results[0].detail, /401: API Key not found/);
  const put = await d.call({ put_subscriber: ann });
  assert.equal(put.status, Status.unauthenticated);
  assert.ok(!JSON.stringify([a, put, d.err]).includes('wrong-secret'));
  const none = await driver({ api_key: '' }).call({ trigger: completed('none') });
  assert.equal(none.results[0].result, Result.paused);
  assert.match(none.results[0].detail, /notify_novu\.api_key is not set/);
});

test('devices: each update sends the complete list, an empty list deletes, an unknown subscriber is reported', async () => {
  const d = driver();
  const put = (tokens, provider = 'expo', id = account) => d.call({ put_tokens: { account_id: id, provider, tokens } });
  await d.call({ put_subscriber: ann });
  await put(expo);
  assert.deepEqual(novu.subscribers.get(account).channels.expo, expo.map((t) => t.token));
  await put(expo.slice(1));
  assert.deepEqual(novu.subscribers.get(account).channels.expo, ['ExponentPushToken[b]']);
  await put([]);
  assert.equal(novu.subscribers.get(account).channels.expo, undefined);
  assert.equal((await put([])).status, Status.ok, 'idempotent');
  assert.equal((await put(expo, 'expo', 'unknown')).status, Status.notFound);
  const none = await put([{ provider: 'apns', token: 'x' }], 'apns');
  assert.equal(none.status, Status.invalid);
  assert.match(none.message, /active apns integration/);
  assert.equal((await d.call({ accepts: expo[0] })).status, Status.ok);
  const rejected = await d.call({ accepts: { provider: 'web-push', token: '{}' } });
  assert.equal(rejected.status, Status.invalid);
  assert.match(rejected.message, /expo, fcm, apns/);
});

test('an old Novu without /v2/subscribers is detected once', async () => {
  const old = await startNovu({ v2: false });
  try {
    const d = new Driver('notify_novu', { base_url: old.url, api_key: old.key });
    drivers.push(d);
    assert.equal((await d.call({ put_subscriber: ann })).status, Status.ok);
    assert.equal((await d.call({ put_subscriber: ann })).status, Status.ok);
    assert.deepEqual(old.requests.map((r) => r.path), ['/v2/subscribers', '/v1/subscribers', '/v1/subscribers']);
    assert.equal((await d.call({ forget: account })).status, Status.ok);
    assert.ok(!old.subscribers.has(account));
    assert.equal((await d.call({ forget: account })).status, Status.ok, 'it was deleted before');
    const fresh = new Driver('notify_novu', { base_url: old.url, api_key: old.key });
    drivers.push(fresh);
    old.requests.length = 0;
    await fresh.call({ forget: account });
    assert.deepEqual(old.requests.map((r) => r.path), [`/v2/subscribers/${account}`, `/v1/subscribers/${account}`]);
  } finally {
    await old.close();
  }
});

test('the driver respects the rate limit of Novu', async () => {
  const limited = await startNovu();
  try {
    let remaining = 3;
    limited.rate = () => ({ 'ratelimit-remaining': String(Math.max(--remaining, 0)), 'ratelimit-reset': '1' });
    const d = new Driver('notify_novu', { base_url: limited.url, api_key: limited.key, timeout_seconds: 5 });
    drivers.push(d);
    for (let i = 0; i < 3; i++) await d.call({ trigger: completed(`rate ${i}`) });
    remaining = 100;
    const last = await d.call({ trigger: completed('rate 3') });
    assert.equal(last.results[0].result, Result.accepted);
    assert.ok(limited.requests[3].at - limited.requests[2].at >= 900, 'waited for the reset');
    limited.rate = () => ({ 'ratelimit-remaining': '0', 'ratelimit-reset': '30' });
    await d.call({ trigger: completed('rate 4') });
    const begin = Date.now();
    const none = await d.call({ trigger: completed('rate 5', { timeout_ms: 2000 }) });
    assert.equal(none.results[0].result, Result.retry);
    assert.ok(none.results[0].retry_after_s >= 25, 'the result has the time until the reset');
    assert.ok(Date.now() - begin < 2000);
    assert.equal(limited.of(txn('rate 5')).length, 0);
  } finally {
    await limited.close();
  }
});

test('the delivery status is read from the messages, or from the activity feed if there are none', async () => {
  const d = driver();
  await d.call({ trigger: completed('f1') });
  await d.call({ trigger: completed('f2', { to: { account_id: account, first_name: 'User' }, tokens: [] }) });
  novu.message({ transactionId: txn('f3'), channel: 'push', status: 'error', errorText: 'DeviceNotRegistered' });
  const a = await d.call({ follow: ['f1', 'f2', 'f3', 'f4'].map((n) => ({ key: txn(n), channels: n === 'f1' ? Channel.email : 7 })) });
  assert.deepEqual(a.results.map((r) => r.result), [Result.accepted, Result.refused, Result.refused, Result.accepted]);
  assert.match(a.results[1].detail, /no step/);
  assert.match(a.results[2].detail, /DeviceNotRegistered/);
});

test('webhooks of Novu are read in both payload formats', async () => {
  const d = driver();
  const read = async (body) => d.call({ read_report: typeof body === 'string' ? body : JSON.stringify(body) });
  const flat = await read({ type: 'notification.sent', transactionId: 't', subscriberId: account });
  assert.deepEqual(flat.reports, [{ type: 'notification.sent', key: 't', account_id: account, channels: 0, result: Result.accepted, token: '' }]);
  const failed = await read({ id: 'evt', type: 'message.failed', object: 'message', data: { object: { transactionId: 't', channel: 'push', subscriber: { subscriberId: account } },
    error: { message: 'x', push: { isInvalidToken: true, deviceToken: 'ExponentPushToken[a]' } } } });
  assert.deepEqual(failed.reports, [{ type: 'notification.failed', key: 't', account_id: account, channels: Channel.push, result: Result.gone, token: 'ExponentPushToken[a]' }]);
  assert.equal((await read('nonsense')).status, Status.invalid);
});

test('a trigger is retried while Novu is unreachable', async () => {
  const a = await driver({ base_url: 'http://127.0.0.1:1' }).call({ trigger: completed('unreachable') });
  assert.equal(a.results[0].result, Result.retry);
});
