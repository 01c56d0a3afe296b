// Webhook signatures, verified and created, compared with the reference libraries.
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
const newSecret = () => `whsec_${randomBytes(32).toString('base64')}`;
const now = Math.floor(Date.now() / 1000);
const standard = (secret, id, at, body) => new StandardWebhook(secret).sign(id, new Date(at * 1000), body);
const svix = (secret, id, at, body) => new SvixWebhook(secret).sign(id, new Date(at * 1000), body);
const headers = (family, id, at, signature) => ({ [`${family}-id`]: id, [`${family}-timestamp`]: String(at), [`${family}-signature`]: signature });
// True if the reference library accepts the message; the library also checks the timestamp.
const accepts = (Library, secret, body, h) => { try { new Library(secret).verify(body, h); return true; } catch { return false; } };

const secretA = newSecret(), secretB = newSecret();
const body = JSON.stringify({ type: 'message.sent', text: 'ä \u{1F642} "quoted"\n' });
const cases = [
  ['valid', headers('webhook', 'msg_1', now, standard(secretA, 'msg_1', now, body)), body, true],
  ['valid, with svix-* headers', headers('svix', 'msg_1', now, svix(secretA, 'msg_1', now, body)), body, true],
  ['tampered body', headers('webhook', 'msg_1', now, standard(secretA, 'msg_1', now, body)), body.replace('sent', 'lost'), false],
  ['tampered id', headers('webhook', 'msg_2', now, standard(secretA, 'msg_1', now, body)), body, false],
  ['tampered timestamp', headers('webhook', 'msg_1', now - 1, standard(secretA, 'msg_1', now, body)), body, false],
  ['another secret', headers('webhook', 'msg_1', now, standard(secretB, 'msg_1', now, body)), body, false],
  ['two signatures during a rotation of secrets', headers('svix', 'msg_1', now, `${svix(secretB, 'msg_1', now, body)} ${svix(secretA, 'msg_1', now, body)}`), body, true],
  ['too old', headers('webhook', 'msg_1', now - 301, standard(secretA, 'msg_1', now - 301, body)), body, false],
  ['old, but within the tolerance', headers('webhook', 'msg_1', now - 200, standard(secretA, 'msg_1', now - 200, body)), body, true],
  ['from the future', headers('webhook', 'msg_1', now + 400, standard(secretA, 'msg_1', now + 400, body)), body, false],
  ['no signature', headers('webhook', 'msg_1', now, ''), body, false],
  ['an unknown signature version only', headers('webhook', 'msg_1', now, standard(secretA, 'msg_1', now, body).replace('v1,', 'v2,')), body, false],
  ['no timestamp', headers('webhook', 'msg_1', '', standard(secretA, 'msg_1', now, body)), body, false],
];
for (const [label, h, text, valid] of cases) {
  test(`${label}: our verifier and the reference libraries agree`, () => {
    const [ours] = check([{ secrets: [secretA], headers: h, body: text, now }]);
    assert.equal(ours, valid ? h['webhook-id'] ?? h['svix-id'] : null);
    assert.equal(accepts(SvixWebhook, secretA, text, h), valid, 'svix');
    if (h['webhook-id']) assert.equal(accepts(StandardWebhook, secretA, text, h), valid, 'standardwebhooks');
  });
}

test('a receiver with two secrets accepts messages signed with either', () => {
  for (const secret of [secretA, secretB]) {
    const h = headers('webhook', 'm', now, standard(secret, 'm', now, body));
    assert.deepEqual(check([{ secrets: [secretA, secretB], headers: h, body, now }]), ['m']);
  }
  assert.deepEqual(check([{ secrets: [], headers: headers('webhook', 'm', now, standard(secretA, 'm', now, body)), body, now }]), [null]);
});

test('stricter than the reference libraries: a timestamp with trailing letters is rejected', () => {
  const h = headers('webhook', 'm', `${now}abc`, standard(secretA, 'm', now, body));
  assert.deepEqual(check([{ secrets: [secretA], headers: h, body, now }]), [null]);
});

test('the reference libraries accept our signatures', () => {
  for (let i = 0; i < 50; i++) {
    const secret = `whsec_${randomBytes(24 + (i % 41)).toString('base64')}`;
    const text = randomBytes(i * 7).toString('base64');
    const [signature] = check([{ secret, id: `msg_${i}`, timestamp: now, body: text }]);
    assert.equal(signature, standard(secret, `msg_${i}`, now, text));
    const payload = JSON.stringify({ text });
    const [signed] = check([{ secret, id: `msg_${i}`, timestamp: now, body: payload }]);
    assert.deepEqual(new SvixWebhook(secret).verify(payload, headers('svix', `msg_${i}`, now, signed)), { text });
  }
});
