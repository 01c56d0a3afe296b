// Starting credits are granted once per mailbox, for every spelling of the address and for parallel sign-ups; public
// routes do not reveal account ids.
import assert from 'node:assert/strict';
import { attack, regular, setUp, tearDown } from './lib/attack.mjs';
import { Client, Server, makeDatabase, waitFor } from './lib/server.mjs';

let db, server;
setUp(async () => {
  db = makeDatabase();
  server = await new Server({ database: db, settings: '[accounts]\nlocal_login = true\n[accounts.login]\nverify = "none"\nhash_memory_mib = 8\nattempts_per_network = 10000\n' }).start();
});
tearDown(async () => {
  await server?.close();
  db?.drop();
});

const balance = async (client) => (await client.get('/account')).json.balance_credits;
async function signUp(email, more = {}) {
  const r = await new Client(server).post('/auth/sign-up', { json: { email, password: 'correct horse battery', ...more } });
  assert.equal(r.status, 201, `${email}: ${r.text}`);
  return balance(new Client(server, r.json.access_token));
}
// The address in the spelling of an identity provider.
const withToken = async (email) => balance(new Client(server, server.token({ email })));

for (const [variant, addresses] of Object.entries({
  'Gmail': ['some.one@gmail.com', 'someone+1@gmail.com', 'S.o.m.e.One@GoogleMail.com'],
  'sub-addresses': ['ann@company.example', 'ann+a@company.example', 'Ann+b+c@COMPANY.example'],
  'Yahoo': ['bee@yahoo.com', 'bee-1@yahoo.com'],
  'Proton': ['cat.fish@proton.me', 'cat-fish@pm.me', 'catfish+x@protonmail.com'],
  'domains of one provider': ['dog@icloud.com', 'dog@me.com', 'dog@mac.com'],
  'international domains': ['eel@exämple.example', 'eel+2@xn--exmple-cua.example'],
})) {
  attack(`one grant per mailbox: ${variant}`, ['mailbox_grant'], async () => {
    const got = [];
    for (const address of addresses) got.push(await signUp(address));
    assert.deepEqual(got, [500, ...Array(addresses.length - 1).fill(0)]);
  });
}

attack('addresses in tokens of an identity provider count for the same mailbox', ['mailbox_grant'], async () => {
  const got = [];
  for (const address of ['fox@GMAIL.com', 'f.o.x@gmail.com.', '"fox"@gmail.com', 'ｆox@gmail.com', 'fox@ｇmail.com', 'fox＋tag@gmail.com']) got.push(await withToken(address));
  assert.deepEqual(got, [500, 0, 0, 0, 0, 0]);
  assert.deepEqual([await withToken('gnu@EXÄMPLE.example'), await withToken('gnu+1@xn--exmple-cua.example')], [500, 0]);
  assert.deepEqual([await withToken('Émile@mail.example'), await withToken('émile+1@mail.example')], [500, 0]);
});

attack('concurrent sign-ups of one mailbox get one grant', ['mailbox_grant'], async () => {
  const got = await Promise.all(Array.from({ length: 8 }, (_, i) => (i % 2 ? signUp : withToken)(`hen+${i}@mail.example`)));
  assert.deepEqual(got.toSorted((a, b) => b - a), [500, 0, 0, 0, 0, 0, 0, 0]);
});

regular('different mailboxes get separate grants', async () => {
  assert.deepEqual([await signUp('i.b@mail.example'), await signUp('ib@mail.example'), await signUp('i-b@mail.example')], [500, 500, 500]);
});

attack('many invited accounts of one domain raise a fraud signal', ['invited_domain'], async () => {
  const owner = await server.user();
  const { referral_code } = (await owner.get('/api/v1/referrals/code')).json;
  const count = (condition = '') => Number(db.sql(`select count(*) from referrals.referral where referrer_id = '${owner.id}' ${condition}`));
  for (let i = 1; i <= 5; i++) {
    await signUp(`m${i}@catch-all.example`, { referral_code });
    await waitFor('the referral', () => count() === i);
  }
  assert.equal(count(`and (signals->>'same_domain')::int >= 1`), 2);
});

attack('a referral code does not reveal its owner’s account id to anonymous clients', ['referral_alias'], async () => {
  const owner = await server.user();
  const { referral_code: code } = (await owner.get('/api/v1/referrals/code')).json;
  const response = (await new Client(server).post('/api/v1/referrals/validate', { json: { code } })).json;
  assert.equal(response.valid, true);
  assert.match(response.referrer_id, /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/);
  assert.notEqual(response.referrer_id, owner.id);
});
