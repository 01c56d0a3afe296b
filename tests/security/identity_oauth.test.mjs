// The OAuth consent of one person must not connect the profile of another account: links that are passed on, cookies
// that are missing, foreign or guessed, and pages of other sites that submit the form.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { UserBrowser, answerOf, authorizationOf, startSdk } from '../e2e/lib/oauth.mjs';
import { attack, regular, setUp, tearDown } from './lib/attack.mjs';
import { Server, freePort, makeDatabase } from './lib/server.mjs';

let database, server, peer, attacker, profile;
const email = 'attacker@example.org';
setUp(async () => {
  database = makeDatabase();
  const port = await freePort();
  server = await new Server({ database, set: [`http.listen=127.0.0.1:${port}`, `http.public_url=http://127.0.0.1:${port}`,
    `secrets.key=${'0123456789abcdef'.repeat(4)}`] }).start();
  peer = await startSdk();
  attacker = await server.user({ tier: 'pro', email });
  const made = await attacker.post('/mcp/profiles', { json: { url: peer.url, display_name: '<b>Mine</b>' } });
  assert.equal(made.status, 201, made.text);
  profile = made.json.profile_id;
});
tearDown(async () => {
  peer?.close();
  await server?.close();
  database?.drop();
});

async function link() {
  const r = await attacker.post(`/mcp/profiles/${profile}/connect`, { json: {} });
  assert.equal(r.status, 200, r.text);
  return r.json.connect_url;
}
const connected = async () => (await attacker.get('/mcp/profiles')).json.profiles[0].connected;
async function expectRejected(r, status = 400) {
  assert.equal(r.status, status, r.text);
  assert.equal(peer.seen.exchanges, 0);
  assert.equal(await connected(), false);
}
const formOf = (page) => new URL(/action="([^"]+)"/.exec(page.text)[1].replaceAll('&amp;', '&'), page.url).href;

attack('the link opens a page of this server that shows the MCP server and the account', ['consent_browser'], async () => {
  const url = new URL(await link());
  assert.equal(url.origin, server.url);
  const victim = new UserBrowser();
  const page = await victim.request(url.href);
  assert.equal(page.status, 200);
  for (const text of [peer.url, email, peer.origin]) assert.ok(page.text.includes(text), text);
  assert.ok(!page.text.includes('<b>Mine'), 'a name is not markup');
  assert.match(page.headers.get('set-cookie'), /^ry_mcp_[0-9a-f]{16}=[\w-]{43}; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax$/);
  assert.notEqual((await new UserBrowser().request(url.href)).headers.get('set-cookie'), page.headers.get('set-cookie'), 'each browser gets its own cookie');
  assert.match(page.headers.get('content-security-policy'), /frame-ancestors 'none'/);
  assert.equal(page.headers.get('cache-control'), 'no-store');
  assert.ok(!page.text.includes('code_challenge'), 'the authorization request is not disclosed before the user has confirmed');
});

attack('a forwarded authorization request cannot be completed in the browser of another person', ['consent_browser'], async () => {
  const attackerBrowser = new UserBrowser();
  const passedOn = await authorizationOf(await link(), attackerBrowser);
  await expectRejected(await new UserBrowser().browse(passedOn));
  // Not even in a browser that has opened the page, but did not confirm.
  const another = await link();
  const victim = new UserBrowser();
  await victim.request(another);
  await expectRejected(await victim.browse(await authorizationOf(another, attackerBrowser)));
});

attack('a cookie of another consent, an empty cookie, two cookies or a guessed cookie are rejected', ['consent_browser'], async () => {
  const attackerBrowser = new UserBrowser();
  const url = await link();
  const back = await answerOf(url, attackerBrowser);
  const [name, value] = attackerBrowser.cookies(server.url).find((c) => c.startsWith('ry_mcp_')).split('=');
  for (const cookie of [undefined, `${name}=`, `${name}=${'a'.repeat(43)}`, `ry_mcp_0000000000000000=${value}`,
    `${name}=${'a'.repeat(43)}; ${name}=${value}`, `x${name}=${value}`]) {
    const r = await fetch(back, { headers: cookie ? { cookie } : {} });
    await expectRejected({ status: r.status, text: await r.text() });
  }
});

attack('callbacks without a consent do not flood the log', ['warning_pace'], async () => {
  const from = server.log.length, begun = performance.now();
  for (let i = 0; i < 60; i++) {
    const name = `ry_mcp_${createHash('sha256').update(`x${i}`).digest('hex').slice(0, 16)}`;
    const r = await fetch(`${server.url}/mcp/oauth/callback?state=x${i}&code=c`, { headers: i % 2 ? { cookie: `${name}=${'a'.repeat(43)}` } : {} });
    assert.equal(r.status, 400, await r.text());
  }
  const warnings = () => server.log.slice(from).split('\n').filter((line) => /"level":"warn|\bwarn/i.test(line) && /callback|connected/.test(line));
  const maxWarnings = 2 + (performance.now() - begun) / 10000;
  assert.ok(warnings().length <= maxWarnings, warnings().join('\n'));
});

attack('a form of a foreign page cannot confirm the consent', ['consent_browser'], async () => {
  const url = await link();
  const victim = new UserBrowser();
  const page = await victim.request(url);
  // Other sites can make a browser submit the form without the cookie, or with an invented token or one of their own.
  const theirs = await new UserBrowser().request(url);
  const noCookie = await fetch(formOf(page), { method: 'POST', redirect: 'manual' });
  await expectRejected({ status: noCookie.status, text: await noCookie.text() }, 403);
  for (const form of [formOf(theirs), url, `${url}&confirm=`, `${url}&confirm=${'a'.repeat(43)}`]) {
    await expectRejected(await victim.request(form, { method: 'POST' }), 403);
  }
  await expectRejected(await victim.request(formOf(page).replace(/ticket=[^&]+/, `ticket=${'b'.repeat(43)}`), { method: 'POST' }));
});

regular('a confirmation of an older link is invalid after a newer link was created', async () => {
  const browser = new UserBrowser();
  const old = await answerOf(await link(), browser);
  await link();
  await expectRejected(await browser.request(old.href));
});

regular('the person who confirms and consents in one browser is connected', async () => {
  const done = await new UserBrowser().browse(await link());
  assert.equal(done.status, 200, done.text);
  assert.equal(await connected(), true);
});
