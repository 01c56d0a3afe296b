// Rate limits by address and by account on two nodes, stream permits, and trusted sources of the client address.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { lastUser, startLlm } from './lib/llm.mjs';
import { Client, Server, makeDatabase, sleep, waitFor } from './lib/server.mjs';

const secret = 'auth.jwt.hs256_secret=a secret of at least thirty-two bytes for this test';
let database, llm, a, b;

before(async () => {
  database = makeDatabase();
  llm = await startLlm(async (request, reply) => {
    reply.text('begun ');
    if (!lastUser(request).includes('[hang]')) reply.end({ input: 1, output: 1 });
  });
  // One request per minute, so that refilled tokens do not affect the counts.
  const set = [secret, 'http.limits.account_per_minute=1', 'http.limits.account_burst=40',
    'http.limits.address_per_minute=1', 'http.limits.address_burst=300', 'http.limits.account_streams=2',
    'http.trusted_proxies=["127.0.0.0/8"]'];
  a = await new Server({ database, llm, set }).start();
  b = await new Server({ database, llm, set: [...set, 'http.trusted_proxies=[]'] }).start();
});
after(async () => {
  await a?.close();
  await b?.close();
  await llm?.close();
  database?.drop();
});

const from = (address) => ({ headers: { 'x-forwarded-for': address } });
async function countAdmitted(client, tries, options) {
  let n = 0, refused;
  for (let i = 0; i < tries; i++) {
    const r = await client.get('/threads', options);
    if (r.status === 429) refused = r; else n++;
  }
  return { n, refused };
}

test('responses contain the remaining requests of an account, and a refusal the time to wait', async () => {
  const u = await a.user();
  const first = await u.get('/threads');
  assert.equal(first.status, 200);
  assert.equal(first.headers.get('ratelimit-limit'), '40');
  assert.equal(first.headers.get('ratelimit-remaining'), '39');
  assert.equal(first.headers.get('ratelimit-reset'), '60');
  const { n, refused } = await countAdmitted(u, 50);
  assert.equal(n, 39);
  assert.deepEqual(refused.json, { detail: 'Too many requests' });
  assert.equal(refused.headers.get('ratelimit-remaining'), '0');
  const wait = Number(refused.headers.get('retry-after'));
  assert.ok(wait >= 1 && wait <= 60, `retry-after ${wait}`);
  // Other accounts and the routes of the host are not limited.
  assert.equal((await (await a.user()).get('/threads')).status, 200);
  const health = await fetch(`${a.url}/healthz`);
  assert.equal(health.status, 200);
  assert.equal(health.headers.get('ratelimit-limit'), null);
});

test('the nodes share the rate limit: requests admitted by one node count on the other', async () => {
  const u = await a.user();
  const reported = (n) => waitFor(`${n} requests to be reported`, () => database.sql(
    `select ceil(extract(epoch from busy_until - now()) / 60) from core.rate where key = 'account ${u.id}'`) === String(n));
  assert.equal((await countAdmitted(u, 35)).n, 35);
  await reported(35);
  const onNodeB = new Client(b, u.token, u.id);
  await onNodeB.get('/threads');
  await reported(36);
  await onNodeB.get('/threads');
  await reported(37);  // node a reported the 36 previous requests
  assert.equal((await countAdmitted(onNodeB, 20)).n, 3);
});

test('forwarded headers are accepted from trusted proxies only', async () => {
  const anonymous = new Client(a);  // the limit by address applies to requests without a token
  let refused = 0;
  for (let i = 0; i < 330; i++) if ((await anonymous.get('/threads', from('203.0.113.7'))).status === 429) refused++;
  assert.ok(refused > 10, `${refused} refused`);
  assert.equal((await anonymous.get('/threads', from('203.0.113.8'))).status, 401, 'another client of the proxy');
  // Node b trusts no proxy: all of these requests count for one address, whatever their headers.
  const spoofing = new Client(b);
  refused = 0;
  for (let i = 0; i < 330; i++) if ((await spoofing.get('/threads', from(`198.51.100.${i % 250}`))).status === 429) refused++;
  assert.ok(refused > 10, `${refused} refused`);
});

test('an account can have two concurrent streams; a stream that ends releases its permit', async () => {
  const u = await a.user();
  const options = from('192.0.2.1');
  const id = (await u.start({ prompt: '[hang]' }, options.headers)).json.agent_run_id;
  const stops = [];
  const open = async () => {
    const stop = new AbortController();
    const r = await fetch(`${a.url}/agent-run/${id}/stream`, { headers: { authorization: `Bearer ${u.token}`, ...options.headers }, signal: stop.signal });
    if (r.status === 200) stops.push(stop); else await r.text();
    return r;
  };
  assert.equal((await open()).status, 200);
  assert.equal((await open()).status, 200);
  const third = await open();
  assert.equal(third.status, 429);
  assert.ok(Number(third.headers.get('retry-after')) > 0);
  stops.shift().abort();
  let again;
  for (let i = 0; i < 30 && again !== 200; i++) {
    again = (await open()).status;
    if (again !== 200) await sleep(500);
  }
  assert.equal(again, 200);
  for (const s of stops) s.abort();
});
