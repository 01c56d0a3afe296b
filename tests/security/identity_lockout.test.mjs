// Attempts by others with someone's e-mail address do not lock its owner out of log-in, password reset or sign-up, and one network
// cannot fill the queue of password checks.
import assert from 'node:assert/strict';
import { freshAddress, tokenInMail, loginSettings, password, signUp } from '../e2e/lib/login.mjs';
import { startSmtp } from '../e2e/lib/smtp.mjs';
import { attack, setUp, tearDown } from './lib/attack.mjs';
import { Server, makeDatabase, waitFor } from './lib/server.mjs';

let db, smtp, server;
setUp(async () => {
  smtp = await startSmtp();
  db = makeDatabase();
  server = await new Server({ database: db, settings: loginSettings(smtp, 'hash_parallel = 1'), set: ['http.trusted_proxies=["127.0.0.1"]'] }).start();
});
tearDown(async () => {
  await server?.close();
  await smtp?.close();
  db?.drop();
});

const ownerIp = '203.0.113.7';
async function post(path, body, from = ownerIp) {
  const r = await fetch(server.url + path, { method: 'POST', headers: { 'content-type': 'application/json', 'x-forwarded-for': from }, body: JSON.stringify(body) });
  return { status: r.status, wait: Number(r.headers.get('retry-after')), json: await r.json().catch(() => null) };
}
const attackers = Array.from({ length: 12 }, (_, i) => `198.51.100.${i + 1}`);
const member = async () => (await signUp(post, smtp)).email;

attack('failed log-ins from many networks do not use up the attempts of the owner', ['throttle'], async () => {
  const email = await member();
  const statuses = [];
  for (const from of attackers) for (let i = 0; i < 8; i++) statuses.push((await post('/auth/log-in', { email, password: 'wrong password' }, from)).status);
  assert.ok(statuses.filter((s) => s === 429).length >= 10, `${statuses}`);
  assert.equal((await post('/auth/log-in', { email, password })).status, 200);
  assert.equal((await post('/auth/log-in', { email, password: 'wrong password' })).status, 401);
});

attack('password resets requested by others leave the owner a valid link', ['reset_mails'], async () => {
  const email = await member();
  for (const from of attackers) assert.equal((await post('/auth/reset', { email }, from)).status, 202);
  assert.equal((await post('/auth/reset', { email })).status, 202);
  const links = () => smtp.to(email).filter((m) => m.parsed.subject === 'Choose a new password');
  await waitFor('a link', () => links().length >= 3);
  await waitFor('all jobs', () => db.sql("select count(*) from core.job where kind = 'accounts.letter' and state < 2") === '0');
  assert.equal(links().length, 3, 'the mailbox is not flooded');
  const done = await post('/auth/reset/complete', { token: tokenInMail(links().at(-1), 'reset'), password: 'a quite new password' });
  assert.equal(done.status, 200);
});

attack('sign-ups of others do not displace the pending sign-up of the owner', ['pending_sign_ups'], async () => {
  const email = freshAddress();
  const { proof } = (await post('/auth/sign-up', { email, password })).json;
  const token = tokenInMail(await smtp.mail(email), 'verify');
  for (const from of attackers) assert.equal((await post('/auth/sign-up', { email, password: 'typed by a stranger' }, from)).status, 202);
  assert.equal((await post('/auth/verify', { token, proof })).status, 200);
});

attack('many refreshes of one session store few tokens and do not affect other sessions', ['refresh_tokens', 'throttle'], async () => {
  const me = await signUp(post, smtp);
  const refresh = (token) => post('/auth/refresh', { refresh_token: token });
  const all = (await Promise.all(Array.from({ length: 100 }, () => refresh(me.refresh_token))));
  const rejected = all.filter((r) => r.status !== 200);
  assert.ok(rejected.length >= 10, `${all.length - rejected.length} tokens`);
  for (const r of rejected) assert.ok(r.status === 429 && r.wait >= 1, JSON.stringify(r));
  assert.ok(Number(db.sql(`select count(*) from accounts.refresh_token t join accounts.session s on s.id = t.session_id
    where s.account_id = '${me.account_id}' and t.used_at is null`)) <= 10);
  const other = await post('/auth/log-in', { email: me.email, password });
  assert.equal((await refresh(other.json.refresh_token)).status, 200);
});

attack('invalid reset links are rejected before the password is hashed', ['reset_token_first'], async () => {
  const answers = await Promise.all(Array.from({ length: 150 }, (_, i) =>
    post('/auth/reset/complete', { token: 'x'.repeat(43), password: 'a quite new password' }, attackers[i % 12])));
  assert.deepEqual([...new Set(answers.map((a) => a.status))], [400], 'none of them waited in the hashing queue');
});

attack('many concurrent password checks of one network do not keep others from logging in', ['hash_turns'], async () => {
  const email = await member();
  const flood = Promise.all(Array.from({ length: 300 }, (_, i) => post('/auth/log-in', { email: `n${i}@example.org`, password }, attackers[0])));
  const honest = await Promise.all(Array.from({ length: 3 }, () => post('/auth/log-in', { email, password })));
  assert.deepEqual(honest.map((r) => r.status), [200, 200, 200]);
  const refused = (await flood).filter((r) => r.status === 503);
  assert.ok(refused.length > 0, 'the flood was larger than its share');
});
