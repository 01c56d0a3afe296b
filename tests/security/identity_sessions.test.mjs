// A password change revokes everything that an intruder created: API keys, stream tokens and open streams, on all
// nodes.
import assert from 'node:assert/strict';
import { tokenInMail, loginSettings, password, signUp } from '../e2e/lib/login.mjs';
import { startSmtp } from '../e2e/lib/smtp.mjs';
import { attack, setUp, tearDown } from './lib/attack.mjs';
import { Client, Server, makeDatabase, slow, waitFor } from './lib/server.mjs';

let db, smtp, nodes;
const shared = `[notifications]
allowed_modes = ["local"]
[auth.jwt]
hs256_secret = "${'s'.repeat(40)}"
[secrets]
key = "${'0123456789abcdef'.repeat(4)}"`;
setUp(async () => {
  smtp = await startSmtp();
  db = makeDatabase();
  nodes = [];
  for (let n = 0; n < 2; n++) nodes.push(await new Server({ database: db, settings: loginSettings(smtp, shared) }).start());
});
tearDown(async () => {
  for (const node of nodes ?? []) await node.close();
  await smtp?.close();
  db?.drop();
});

const as = (token, node = 0) => new Client(nodes[node], token);
const post = (path, json, token, node) => as(token, node).post(path, { json });
const member = () => signUp(post, smtp);
const logIn = async (email, pw = password) => (await post('/auth/log-in', { email, password: pw })).json.access_token;
async function makeKey(token) {
  const made = await post('/api-keys', { name: 'made by <someone>' }, token);
  assert.equal(made.status, 201, made.text);
  return made.json;
}
const streamToken = async (token) => (await post('/notifications/inbox/stream-token', {}, token)).json.token;
async function open(node, { token, query = '' }) {
  const r = await fetch(`${nodes[node].url}/notifications/inbox/stream${query}`, { headers: token ? { authorization: `Bearer ${token}` } : {} });
  const out = { status: r.status, ended: false };
  const reader = r.body.getReader();
  (async () => { try { while (!(await reader.read()).done); } catch { /* disconnected */ } out.ended = true; })();
  out.close = () => reader.cancel().catch(() => {});
  return out;
}
const statusOf = async (node, options) => { const s = await open(node, options); s.close(); return s.status; };
const mailTo = (email, subject) => waitFor(subject, () => smtp.to(email).find((m) => m.parsed.subject === subject), 20000);
const waitForEnd = (label, streams) => waitFor(`the end of ${label}`, () => streams.every((s) => s.ended), 15000 * slow);
async function reset(email, next) {
  assert.equal((await post('/auth/reset', { email })).status, 202);
  const token = tokenInMail(await mailTo(email, 'Choose a new password'), 'reset');
  const done = await post('/auth/reset/complete', { token, password: next });
  assert.equal(done.status, 200, done.text);
  return done.json.access_token;
}

attack('a password reset ends the keys, stream tokens and streams of the account on every node, and no others', ['key_revocation', 'session_end'], async () => {
  const me = await member(), other = await member();
  const key = await makeKey(me.access_token);
  const announced = await mailTo(me.email, 'A new API key was created');
  assert.match(announced.parsed.text, new RegExp(`"made by <someone>" \\(ry_${key.id}\\)`));
  const ticket = await streamToken(me.access_token), keyTicket = await streamToken(key.key);
  const mine = [];
  for (const node of [0, 1]) {
    for (const credential of [{ token: me.access_token }, { token: key.key }, { query: `?token=${ticket}` }, { query: `?token=${keyTicket}` }]) {
      mine.push(await open(node, credential));
      assert.equal(mine.at(-1).status, 200);
    }
  }
  const theirs = [await open(0, { token: other.access_token }), await open(1, { query: `?token=${await streamToken(other.access_token)}` })];
  const fresh = await reset(me.email, 'a quite new password');
  await waitForEnd('the streams', mine);
  for (const node of [0, 1]) {
    for (const token of [me.access_token, key.key]) assert.equal((await as(token, node).get('/account')).status, 401);
    for (const t of [ticket, keyTicket]) assert.equal(await statusOf(node, { query: `?token=${t}` }), 401);
    assert.equal((await as(fresh, node).get('/account')).status, 200);
  }
  assert.deepEqual((await as(fresh).get('/api-keys')).json.api_keys, []);
  assert.deepEqual(theirs.map((s) => s.ended), [false, false]);
  theirs.forEach((s) => s.close());
  const reported = await mailTo(me.email, 'Your password was changed');
  assert.match(reported.parsed.text, new RegExp(`were revoked.*ry_${key.id}`, 's'));
  assert.ok(!reported.parsed.html.includes('<someone>'));
});

attack('a password change ends API keys and the streams of other sessions, and keeps the keys on request', ['key_revocation', 'session_end'], async () => {
  const me = await member();
  const elsewhere = await logIn(me.email);
  const key = await makeKey(elsewhere);
  const [own, foreign, byKey] = [await open(0, { token: me.access_token }), await open(1, { token: elsewhere }), await open(1, { token: key.key })];
  const change = (current_password, new_password, more) => post('/auth/password', { current_password, new_password, ...more }, me.access_token);
  assert.equal((await change(password, 'the second password', { keep_api_keys: true })).status, 204);
  await waitForEnd('the other session’s stream', [foreign]);
  assert.deepEqual([own.ended, byKey.ended], [false, false]);
  assert.equal((await as(key.key, 1).get('/account')).status, 200);
  assert.match((await mailTo(me.email, 'Your password was changed')).parsed.text, new RegExp(`still work.*ry_${key.id}`, 's'));
  assert.equal((await change('the second password', 'the third password')).status, 204);
  await waitForEnd('the key’s stream', [byKey]);
  assert.equal((await as(key.key, 1).get('/account')).status, 401);
  assert.equal(own.ended, false);
  own.close();
});

attack('a log-out, ending one or all sessions, and revoking a key end only the affected streams', ['key_revocation', 'session_end'], async () => {
  const me = await member();
  const [second, third] = [await logIn(me.email), await logIn(me.email)];
  const key = await makeKey(me.access_token);
  const keyTicket = await streamToken(key.key);
  const streams = [await open(1, { token: me.access_token }), await open(1, { token: second }), await open(1, { token: third }), await open(1, { token: key.key })];
  const { sessions } = (await as(second).get('/auth/sessions')).json;
  assert.equal((await as(me.access_token).request('DELETE', `/auth/sessions/${sessions.find((s) => s.present).id}`)).status, 204);
  await waitForEnd('the second', [streams[1]]);
  assert.equal((await as(me.access_token).request('DELETE', `/api-keys/${key.id}`)).status, 204);
  await waitForEnd('the key’s', [streams[3]]);
  assert.equal(await statusOf(1, { query: `?token=${keyTicket}` }), 401);
  assert.deepEqual([streams[0].ended, streams[2].ended], [false, false]);
  assert.equal((await post('/auth/log-out', {}, third)).status, 204);
  await waitForEnd('the third', [streams[2]]);
  const kept = await makeKey(me.access_token);
  assert.equal((await as(me.access_token).request('DELETE', '/auth/sessions')).status, 204);
  await waitForEnd('the first', [streams[0]]);
  assert.equal((await as(kept.key).get('/account')).status, 200, 'API keys are revoked only on request');
  assert.match((await mailTo(me.email, 'You were logged out everywhere')).parsed.text, new RegExp(`still work.*ry_${kept.id}`, 's'));
  const again = await logIn(me.email);
  assert.equal((await as(again).request('DELETE', '/auth/sessions?revoke_api_keys=true')).status, 204);
  assert.equal((await as(kept.key).get('/account')).status, 401);
});

attack('API keys created during a password change are revoked', ['key_revocation'], async () => {
  const me = await member();
  const intruder = await logIn(me.email);
  const made = [];
  const making = Promise.all(Array.from({ length: 20 }, async (_, i) => {
    const r = await post('/api-keys', { name: `k${i}` }, intruder, i % 2);
    if (r.status === 201) made.push(r.json.key);
    else assert.equal(r.status, 401, r.text);
  }));
  const changed = await post('/auth/password', { current_password: password, new_password: 'another password' }, me.access_token);
  assert.equal(changed.status, 204, changed.text);
  await making;
  for (const key of made) assert.equal((await as(key, 1).get('/account')).status, 401);
});
