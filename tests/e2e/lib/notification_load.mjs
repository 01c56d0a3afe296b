// Publishes `many` payment events for `accounts` new accounts while the server is killed `kills` times. Each account is
// also sent a welcome. Waits until all notifications are sent and returns their number.
import { sleep, waitFor } from './server.mjs';

export async function notifyDuringCrashes(server, db, { accounts, many, kills }) {
  db.sql(`select count(*) from (select n, gen_random_uuid() as id from generate_series(1, ${accounts}) n) u,
    lateral accounts.provision(u.id::text, u.id, 'a' || u.n || '@example.test', 'A ' || u.n, true, '', 'free', 0) p`);
  db.sql(`select count(core.event_publish('payment.succeeded', a.id::text, jsonb_build_object('account_id', a.id, 'amount', n, 'currency', 'EUR', 'plan_name', 'p' || n)))
    from generate_series(1, ${many}) n join (select id, row_number() over () as k from accounts.account) a on a.k = 1 + n % ${accounts}`);
  const total = many + accounts;
  const sent = () => Number(db.sql(`select count(*) from notifications.notification where state = 'sent'`));
  for (let n = 1; n <= kills; n++) {
    const threshold = Math.floor((n * total) / (kills + 1));
    await waitFor(`${threshold} of ${total} notifications to be sent`, () => sent() >= threshold, 120000);
    await server.kill();
    await server.start();
  }
  await waitFor('all notifications to be sent', async () => { await sleep(200); return sent() === total; }, 180000);
  return total;
}
