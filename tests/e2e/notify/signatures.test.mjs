// Signatures of webhooks compared with the reference libraries: accepted, refused and created ones.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { test } from 'node:test';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';

const build = process.env.RY_BUILD_DIR ?? path.resolve(import.meta.dirname, '../../../build');
const check = (lines) => execFileSync(path.join(build, 'bin/webhook_check'), { input: lines.map((l) => JSON.stringify(l) + '\n').join(''), encoding: 'utf8' })
  .trim().split('\n').map((l) => JSON.parse(l));
const fresh = () => `whsec_${randomBytes(32).toString('base64')}`;
const now = Math.floor(Date.now() / 1000);
const standard = (secret, id, at, body) => new StandardWebhook(secret).sign(id, new Date(at * 1000), body);
const svix = (secret, id, at, body) => new SvixWebhook(secret).sign(id, new Date(at * 1000), body);
const headers = (family, id, at, signature) => ({ [`${family}-id`]: id, [`${family}-timestamp`]: String(at), [`${family}-signature`]: signature });
// Does the reference library take it (it checks the clock itself)?
const taken = (Library, secret, body, h) => { try { new Library(secret).verify(body, h); return true; } catch { return false; } };

const one = fresh(), two = fresh();
const body = JSON.stringify({ type: 'message.sent', text: 'ä \u{1F642} "quoted"\n' });
const cases = [
  ['valid', headers('webhook', 'msg_1', now, standard(one, 'msg_1', now, body)), body, true],
  ['valid, by svix', headers('svix', 'msg_1', now, svix(one, 'msg_1', now, body)), body, true],
  ['tampered body', headers('webhook', 'msg_1', now, standard(one, 'msg_1', now, body)), body.replace('sent', 'lost'), false],
  ['tampered id', headers('webhook', 'msg_2', now, standard(one, 'msg_1', now, body)), body, false],
  ['tampered timestamp', headers('webhook', 'msg_1', now - 1, standard(one, 'msg_1', now, body)), body, false],
  ['another secret', headers('webhook', 'msg_1', now, standard(two, 'msg_1', now, body)), body, false],
  ['two signatures while secrets change', headers('svix', 'msg_1', now, `${svix(two, 'msg_1', now, body)} ${svix(one, 'msg_1', now, body)}`), body, true],
  ['too old', headers('webhook', 'msg_1', now - 301, standard(one, 'msg_1', now - 301, body)), body, false],
  ['old', headers('webhook', 'msg_1', now - 200, standard(one, 'msg_1', now - 200, body)), body, true],
  ['from the future', headers('webhook', 'msg_1', now + 400, standard(one, 'msg_1', now + 400, body)), body, false],
  ['no signature', headers('webhook', 'msg_1', now, ''), body, false],
  ['another version only', headers('webhook', 'msg_1', now, standard(one, 'msg_1', now, body).replace('v1,', 'v2,')), body, false],
  ['no timestamp', headers('webhook', 'msg_1', '', standard(one, 'msg_1', now, body)), body, false],
];
for (const [what, h, text, good] of cases) {
  test(`${what}: ours and the reference libraries agree`, () => {
    const [ours] = check([{ secrets: [one], headers: h, body: text, now }]);
    assert.equal(ours, good ? h['webhook-id'] ?? h['svix-id'] : null);
    assert.equal(taken(SvixWebhook, one, text, h), good, 'svix');
    if (h['webhook-id']) assert.equal(taken(StandardWebhook, one, text, h), good, 'standardwebhooks');
  });
}

test('a receiver with two secrets takes messages of either', () => {
  for (const secret of [one, two]) {
    const h = headers('webhook', 'm', now, standard(secret, 'm', now, body));
    assert.deepEqual(check([{ secrets: [one, two], headers: h, body, now }]), ['m']);
  }
  assert.deepEqual(check([{ secrets: [], headers: headers('webhook', 'm', now, standard(one, 'm', now, body)), body, now }]), [null]);
});

test('stricter than the reference: a timestamp with letters behind it', () => {
  const h = headers('webhook', 'm', `${now}abc`, standard(one, 'm', now, body));
  assert.deepEqual(check([{ secrets: [one], headers: h, body, now }]), [null]);
});

test('the reference libraries accept our signatures', () => {
  for (let i = 0; i < 50; i++) {
    const secret = `whsec_${randomBytes(24 + (i % 41)).toString('base64')}`;
    const text = randomBytes(i * 7).toString('base64');
    const [mark] = check([{ secret, id: `msg_${i}`, timestamp: now, body: text }]);
    assert.equal(mark, standard(secret, `msg_${i}`, now, text));
    const payload = JSON.stringify({ text });
    const [signed] = check([{ secret, id: `msg_${i}`, timestamp: now, body: payload }]);
    assert.deepEqual(new SvixWebhook(secret).verify(payload, headers('svix', `msg_${i}`, now, signed)), { text });
  }
});
