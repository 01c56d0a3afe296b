// Notifications that flow through a server that is killed again and again: `many` payments of `accounts` new people,
// who are welcomed, too. Returns how many notifications that makes, once each of them is sent.
import { sleep, waitFor } from './server.mjs';

export async function notifyDuringCrashes(server, db, { accounts, many, kills }) {
  db.sql(`select count(*) from (select n, gen_random_uuid() as id from generate_series(1, ${accounts}) n) u,
    lateral accounts.provision(u.id::text, u.id, 'a' || u.n || '@example.test', 'A ' || u.n, true, '', 'free', 0) p`);
  db.sql(`select count(core.event_publish('payment.succeeded', a.id::text, jsonb_build_object('account_id', a.id, 'amount', n, 'currency', 'EUR', 'plan_name', 'p' || n)))
    from generate_series(1, ${many}) n join (select id, row_number() over () as k from accounts.account) a on a.k = 1 + n % ${accounts}`);
  const total = many + accounts;
  const settled = () => Number(db.sql(`select count(*) from notifications.notification where state = 'sent'`));
  for (let n = 1; n <= kills; n++) {
    const enough = Math.floor((n * total) / (kills + 1));
    await waitFor(`${enough} of ${total}`, () => settled() >= enough, 120000);
    await server.kill();
    await server.start();
  }
  await waitFor('the last of them', async () => { await sleep(200); return settled() === total; }, 180000);
  return total;
}
