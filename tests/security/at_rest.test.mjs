// The database and its backups contain no secret in plain text: every row of every table is searched, at several times,
// for values that were issued, sent by mail or stored. A lost key makes messages and devices unreadable and affects no
// others.
import assert from 'node:assert/strict';
import { createECDH, createHash, randomBytes } from 'node:crypto';
import http from 'node:http';
import { after, before, test } from 'node:test';
import { UserBrowser, answerOf, authorizationOf, startSdk } from '../e2e/lib/oauth.mjs';
import { startSmtp } from '../e2e/lib/smtp.mjs';
import { Client, Server, freePort, makeDatabase, sleep, waitFor } from '../e2e/lib/server.mjs';

const random = () => randomBytes(24).toString('hex');
const keys = [random() + random().slice(0, 16), random() + random().slice(0, 16)];
const config = { smtp: random(), webhook: `whsec_${randomBytes(32).toString('base64')}`, identity: `whsec_${randomBytes(32).toString('base64')}`,
  notify: `whsec_${randomBytes(32).toString('base64')}`, jwt: random(), provider: `sk-${random()}` };
let db, smtp, pushes, peer, port;

const settings = () => `
[mail]
host = "127.0.0.1"
port = ${smtp.port}
security = "none"
from = "runyard@example.org"
[accounts]
local_login = true
[accounts.login]
app_url = "https://app.example.org"
hash_memory_mib = 8
attempts_per_network = 10000
[accounts.identity_webhook]
secrets = ["${config.identity}"]
[notifications]
allowed_modes = ["local"]
webhook_secrets = ["${config.notify}"]
[notify_builtin]
expo_url = "${pushes.url}"
[webhooks.endpoints.own]
url = "${pushes.url}/hook"
secrets = ["${config.webhook}"]
events = ["account.*"]
[auth.jwt]
hs256_secret = "${config.jwt}"
[runs.providers.mock]
kind = "openai"
base_url = "http://127.0.0.1:1"
api_key = "${config.provider}"
`;
const start = (key, old = []) => new Server({ database: db, settings: settings(), set: [`http.listen=127.0.0.1:${port}`,
  `http.public_url=http://127.0.0.1:${port}`, `secrets.key=${key}`, `secrets.old_keys=[${old.map((k) => `"${k}"`)}]`] }).start();

before(async () => {
  smtp = await startSmtp();
  db = makeDatabase();
  port = await freePort();
  peer = await startSdk();
  pushes = { got: [] };
  const s = http.createServer((req, res) => {
    const parts = [];
    req.on('data', (c) => parts.push(c)).on('end', () => {
      const body = Buffer.concat(parts).toString();
      pushes.got.push({ path: req.url, body });
      if (!req.url.startsWith('/--/')) return res.writeHead(201).end();
      // Expo's error message contains the token.
      res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ data: JSON.parse(body).map((m) => (m.to.includes('bad')
        ? { status: 'error', message: `"${m.to}" cannot be used` } : { status: 'ok', id: `t-${pushes.got.length}` })) }));
    });
  });
  await new Promise((r) => s.listen(0, '127.0.0.1', r));
  pushes.url = `http://127.0.0.1:${s.address().port}`;
  pushes.close = () => new Promise((r) => { s.closeAllConnections(); s.close(r); });
});
after(async () => {
  await smtp?.close();
  await pushes?.close();
  peer?.close();
  db?.drop();
});

// All rows of all tables as text, one line each; bytea as hexadecimal digits.
function dump() {
  const tables = db.sql(`select quote_ident(table_schema) || '.' || quote_ident(table_name) from information_schema.tables
    where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`).split('\n');
  return db.sql(tables.map((t) => `select '${t} ' || to_jsonb(t)::text from ${t} t`).join(' union all '));
}
// Returns the encodings in which a text may be stored in a row.
function encodingsOf(secret) {
  const bytes = Buffer.from(secret), out = [secret, bytes.toString('hex'), JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)];
  // Base64 of a text that contains the secret at any offset; the characters at both ends depend on the neighbours.
  for (const skip of [0, 1, 2]) {
    const text = Buffer.concat([Buffer.alloc(skip), bytes]).toString('base64').replace(/=+$/, '').slice(skip ? 4 : 0, -2);
    out.push(text, text.replaceAll('+', '-').replaceAll('/', '_'));
  }
  // A token that was issued as base64url may be stored as bytes.
  if (/^[\w-]{20,}$/.test(secret)) out.push(Buffer.from(secret, 'base64url').toString('hex'), Buffer.from(secret, 'base64url').toString('base64').replace(/=+$/, ''));
  return out.filter((s) => s.length >= 12);
}
function found(text, secret) {
  const encodings = encodingsOf(secret);
  return text.split('\n').filter((line) => encodings.some((s) => line.includes(s))).map((line) => line.slice(0, 60));
}

function browser(path) {
  const pair = createECDH('prime256v1');
  pair.generateKeys();
  const keys = { p256dh: pair.getPublicKey('base64url'), auth: randomBytes(16).toString('base64url') };
  return { endpoint: pushes.url + path, ...keys, token: JSON.stringify({ endpoint: pushes.url + path, keys }) };
}
const expo = (name) => `ExponentPushToken[${name}${random().slice(0, 18)}]`;
const device = async (u, device_token, provider) => {
  const r = await u.post('/notifications/device-token', { json: { device_token, device_type: 'x', provider } });
  assert.equal(r.status, 200, r.text);
};
const pay = (id) => db.sql(`select core.event_publish('payment.succeeded', '${id}', '${JSON.stringify({ account_id: id, amount: 20, currency: 'usd', plan_name: 'pro' })}')`);
const mailOf = (to, subject) => waitFor(subject, () => smtp.to(to).find((m) => m.parsed.subject === subject), 20000);
const tokenInMail = (mail, name) => new RegExp(`#${name}=([\\w-]+)`).exec(mail.parsed.text)[1];
const hurry = () => db.sql(`update core.job set run_at = now() where kind like 'mail.send%' and state in (0, 3)`);
const waitForSlowly = (condition, fn, ms = 30000) => waitFor(condition, async () => { await sleep(100); return fn(); }, ms);

test('no row of the database contains a secret, from sign-up to password reset', async () => {
  const server = await start(keys[0]);
  const dumps = {}, secrets = { ...config, 'secrets.key': keys[0] };
  const addSecrets = (more) => Object.assign(secrets, more);
  try {
    const password = `first-${random()}`, next = `second-${random()}`, email = 'ann@example.org';
    const post = (path, json, token) => new Client(server, token).post(path, { json });
    // The mail relay accepts nothing, so the mails stay in the database.
    const relayDown = () => { smtp.faults.rcpt = () => [451, '4.3.0 Try again later']; };
    const relayUp = () => { delete smtp.faults.rcpt; hurry(); };
    const waiting = (n) => waitForSlowly(`${n} mails wait`, () => db.sql(`select count(*) from mail.message where state = 'queued' and attempts > 0 and not under_way`) === String(n));

    relayDown();
    addSecrets({ password, next, proof: (await post('/auth/sign-up', { email, password })).json.proof });
    await waiting(1);
    dumps['while the confirmation waits'] = dump();
    relayUp();
    addSecrets({ verify: tokenInMail(await mailOf(email, 'Confirm your e-mail address'), 'verify') });
    dumps['while the link is valid'] = dump();
    const session = (await post('/auth/verify', { token: secrets.verify, proof: secrets.proof })).json;
    addSecrets({ access: session.access_token, refresh: session.refresh_token });

    const u = new Client(server, session.access_token);
    const me = (await u.get('/account')).json;
    const key = await u.post('/api-keys', { json: { name: 'k' } });
    assert.equal(key.status, 201, key.text);
    addSecrets({ 'API key': key.json.key.split('_').at(-1) });
    addSecrets({ 'stream token': (await u.post('/notifications/inbox/stream-token', { json: {} })).json.token });

    const laptop = browser(`/push/${random()}`), good = expo('good'), bad = expo('bad');
    await device(u, laptop.token, 'web-push');
    await device(u, good, 'expo');
    await device(u, bad, 'expo');
    addSecrets({ endpoint: laptop.endpoint, p256dh: laptop.p256dh, auth: laptop.auth, good, bad });
    const account = me.id ?? me.account_id ?? db.sql(`select account_id from accounts.login where email = '${email}'`);
    pay(account);
    await waitFor('the browser', () => pushes.got.find((r) => laptop.endpoint.endsWith(r.path)));
    await waitForSlowly('the log of deliveries', () => db.sql(`select count(*) from notifications.delivery where channel = 2`) === '3');
    const log = (await u.get('/notifications/deliveries')).text;
    for (const secret of [laptop.endpoint, laptop.auth, good, bad]) assert.ok(!log.includes(secret));
    assert.match(log, /The delivery service refused the message/, 'users get an error message of the server');
    assert.match(db.sql(`select string_agg(detail, ' ') from notifications.delivery`), /Expo: "\*\*\*" cannot be used/, 'the text of the service is stored without the token');

    const agent = (await u.post('/agents', { json: { name: 'a', system_prompt: 'p' } })).json.agent_id;
    addSecrets({ header: `header-${random()}`, 'environment variable': `env-${random()}`, credentials: `cred-${random()}` });
    const put = await u.request('PUT', `/agents/${agent}/custom-mcp-tools`, { json: { custom_mcps: [
      { name: 'one', type: 'http', config: { url: `${pushes.url}/mcp`, headers: { Authorization: `Bearer ${secrets.header}` } }, enabledTools: [] }] } });
    assert.equal(put.status, 200, put.text);
    const local = await u.request('PUT', `/agents/${agent}/custom-mcp-tools`, { json: { custom_mcps: [
      { name: 'two', type: 'json', config: { command: 'true', args: [], env: { KEY: secrets['environment variable'] } }, enabledTools: [] }] } });
    assert.equal(local.status, 200, local.text);

    const profile = (await u.post('/mcp/profiles', { json: { url: peer.url, display_name: 'd', headers: { 'X-Key': secrets.credentials } } })).json?.profile_id
      ?? (await u.post('/mcp/profiles', { json: { url: peer.url, display_name: 'd' } })).json.profile_id;
    assert.ok(profile);
    const link = (await u.post(`/mcp/profiles/${profile}/connect`, { json: {} })).json.connect_url;
    const person = new UserBrowser();
    const request = new URL(await authorizationOf(link, person));
    addSecrets({ state: request.searchParams.get('state'), ticket: new URL(link).searchParams.get('ticket') ?? undefined });
    for (const cookie of person.cookies(server.url)) addSecrets({ cookie: cookie.split('=')[1] });
    dumps['while the consent waits'] = dump();
    // The test knows the PKCE verifier only by its challenge.
    const challenge = request.searchParams.get('code_challenge');
    assert.match(challenge, /^[\w-]{43}$/);
    const verifiers = (text) => (text.match(/[\w.~-]{43,128}/g) ?? []).filter((v) => createHash('sha256').update(v).digest('base64url') === challenge);
    const done = await person.browse((await answerOf(link, person)).href);
    assert.equal(done.status, 200, done.text);
    const tokens = peer.seen.tokens;
    assert.ok(tokens.length >= 2);
    tokens.forEach((t, i) => addSecrets({ [`OAuth token ${i}`]: t }));
    peer.seen.codes.forEach((c, i) => addSecrets({ [`OAuth code ${i}`]: c }));
    peer.seen.registrations.forEach((c, i) => c.client_secret && addSecrets({ [`OAuth client ${i}`]: c.client_secret }));

    const again = (await post('/auth/refresh', { refresh_token: session.refresh_token })).json;
    addSecrets({ 'next refresh': again.refresh_token, 'next access': again.access_token });
    relayDown();
    assert.equal((await post('/auth/reset', { email })).status, 202);
    await waiting(1);
    dumps['while the reset waits'] = dump();
    relayUp();
    addSecrets({ reset: tokenInMail(await mailOf(email, 'Choose a new password'), 'reset') });
    dumps['while the reset is valid'] = dump();
    assert.equal((await post('/auth/reset/complete', { token: secrets.reset, password: next })).status, 200);
    await mailOf(email, 'Your password was changed');
    dumps['at the end'] = dump();

    for (const [when, text] of Object.entries(dumps)) {
      assert.ok(text.includes(email), 'the dump contains the rows');
      assert.deepEqual(verifiers(text), [], `a PKCE verifier ${when}`);
      for (const [name, secret] of Object.entries(secrets)) {
        if (secret) assert.deepEqual(found(text, secret), [], `${name} ${when}`);
      }
    }
    assert.equal(db.sql(`select count(*) from mail.message where state = 'sent' and coalesce(body_text, body_html) is not null`), '0');

    // The search finds a secret in each encoding.
    const plain = random();
    for (const at of [plain, Buffer.from(plain).toString('base64'), Buffer.from(`x ${plain} y`).toString('base64url'), Buffer.from(plain).toString('hex')]) {
      assert.notDeepEqual(found(`${dumps['at the end']}\naccounts.account {"x": "${at}"}`, plain), [], at);
    }
  } finally { await server.close(); }
});

test('plain-text data of the previous release is encrypted at startup and remains usable', async () => {
  let server = await start(keys[0]);
  const text = `link-${random()}`, html = `<p>${random()}</p>`, token = expo('old'), gone = expo('gone'), laptop = browser(`/push/${random()}`);
  const { id, token: access } = await server.user();
  const u = () => new Client(server, access, id);
  try {
    await u().get('/account');
    await device(u(), laptop.token, 'web-push');
    await server.stop();
    db.sql(`select mail.enqueue('account', 'old@example.org', 'Old', '${text}', '${html}')`);
    db.sql(`update mail.message set state = 'dead', ended_at = now() where address = 'old@example.org'`);
    db.sql(`select notifications.put_token('${id}', 'expo', '${token}', '${token}', 'x')`);
    db.sql(`select notifications.put_token('${id}', 'web-push', '${laptop.endpoint}', '${laptop.token}', 'web')`);
    db.sql(`insert into notifications.delivery (notification_id, account_id, channel, token, state)
      select '${id}', '${id}', 2, t, 'accepted' from unnest(array['${token}', '${gone}']) t`);
    for (const secret of [text, token, gone, laptop.endpoint]) assert.notDeepEqual(found(dump(), secret), []);
    server = await start(keys[0]);
    const secrets = { text, html, token, gone, ...laptop };
    await waitForSlowly('all is encrypted', () => { const now = dump(); return Object.values(secrets).every((s) => found(now, s).length === 0); });
    assert.equal(db.sql(`select count(*) from notifications.device_token where account_id = '${id}'`), '2', 'one browser is one device');
    assert.equal(db.sql(`select count(*) from notifications.delivery where notification_id = '${id}'`), '2');
    pay(id);
    await waitFor('the phone', () => pushes.got.find((r) => r.path.endsWith('/send') && r.body.includes(token)));
    await waitFor('the browser', () => pushes.got.find((r) => laptop.endpoint.endsWith(r.path)));
    const admin = new Client(server, server.token({ subject: id, role: 'admin' }));
    const message = db.sql(`select id from mail.message where address = 'old@example.org'`);
    assert.equal((await admin.post(`/admin/mail/${message}/requeue`)).status, 200);
    const mail = await mailOf('old@example.org', 'Old');
    assert.equal(mail.parsed.text.trim(), text);
    assert.ok(mail.parsed.html.includes(html.replace(/<[^>]*>/g, '')));
    // A page can remove its device by the token or by the endpoint of its subscription.
    for (const [name, provider] of [[token, 'expo'], [laptop.endpoint, 'web-push']]) {
      assert.equal((await u().request('DELETE', `/notifications/device-token/${encodeURIComponent(name)}?provider=${provider}`)).status, 200);
    }
    assert.equal(db.sql(`select count(*) from notifications.device_token where account_id = '${id}'`), '0');
  } finally { await server.close(); }
});

test('a lost key does not stop other mail and devices, and nothing is lost when the key is restored', async () => {
  let server = await start(keys[0]);
  const { id, token: access } = await server.user({ email: 'lost@example.org' });
  const u = () => new Client(server, access, id);
  const lost = expo('lost'), fresh = expo('fresh'), password = `first-${random()}`;
  const sent = (token) => pushes.got.filter((r) => r.path.endsWith('/send') && r.body.includes(token)).length;
  const metric = async (name) => Number(new RegExp(`^${name} (\\d+)`, 'm').exec(await (await fetch(`${server.url}/metrics`)).text())?.[1]);
  const messageState = (to) => db.sql(`select state from mail.message where address = '${to}'`);
  try {
    await u().get('/account');
    await device(u(), lost, 'expo');
    smtp.faults.rcpt = ({ to }) => (to === 'bob@example.org' ? [451, '4.3.0 Try again later'] : undefined);
    const { proof } = (await new Client(server).post('/auth/sign-up', { json: { email: 'bob@example.org', password } })).json;
    await waitForSlowly('the mail waits', () => db.sql(`select count(*) from mail.message where address = 'bob@example.org' and attempts > 0 and not under_way`) === '1');
    await server.stop();
    delete smtp.faults.rcpt;

    server = await start(keys[1]);
    hurry();
    await waitForSlowly('the message is dead-lettered', () => messageState('bob@example.org') === 'dead');
    assert.match(db.sql(`select reply from mail.message where address = 'bob@example.org'`), /secrets\.old_keys/);
    assert.match(server.log, /cannot be decrypted.*secrets\.old_keys/);
    assert.equal(await metric('runyard_mail_attempts_total\\{outcome="unreadable"\\}'), 1);
    await new Client(server).post('/auth/sign-up', { json: { email: 'eve@example.org', password } });
    await mailOf('eve@example.org', 'Confirm your e-mail address');
    await device(u(), fresh, 'expo');
    pay(id);
    await waitFor('the other device', () => sent(fresh) === 1);
    await waitForSlowly('the log of deliveries', () => db.sql(`select count(*) from notifications.delivery where account_id = '${id}' and channel = 2 and state = 'refused' and detail like '%register again%'`) === '1');
    assert.equal(sent(lost), 0);
    assert.equal(await metric('runyard_notifications_unreadable_devices_total'), 1);
    assert.match(server.log, /devices that cannot be decrypted/);
    await server.stop();

    server = await start(keys[1], [keys[0]]);
    const admin = new Client(server, server.token({ subject: id, role: 'admin' }));
    const message = db.sql(`select id from mail.message where address = 'bob@example.org'`);
    assert.equal((await admin.post(`/admin/mail/${message}/requeue`)).status, 200);
    const token = tokenInMail(await mailOf('bob@example.org', 'Confirm your e-mail address'), 'verify');
    assert.equal((await new Client(server).post('/auth/verify', { json: { token, proof } })).status, 200);
    pay(id);
    await waitFor('both devices', () => sent(lost) === 1 && sent(fresh) === 2);
    await device(u(), lost, 'expo');
    await waitForSlowly('one row for each', () => db.sql(`select count(*) from notifications.device_token where account_id = '${id}'`) === '2');
  } finally { await server.close(); }
});
