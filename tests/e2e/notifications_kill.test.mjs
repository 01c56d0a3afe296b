// The server is killed repeatedly while it sends notifications: each arrives exactly once in the inbox, and at least
// once by mail, with the same Message-ID. RY_KILLS and RY_NOTIFICATIONS make the test longer.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { notifyDuringCrashes } from './lib/notification_load.mjs';
import { startNovu } from './lib/novu.mjs';
import { Server, makeDatabase, sleep, waitFor } from './lib/server.mjs';
import { startSmtp } from './lib/smtp.mjs';

const kills = Number(process.env.RY_KILLS ?? 4);
const many = Number(process.env.RY_NOTIFICATIONS ?? 300);

test(`${kills} kills while ${many} notifications are sent`, { timeout: 60 * 60000 }, async () => {
  const smtp = await startSmtp({ starttls: false });
  const db = makeDatabase();
  const server = new Server({
    database: db,
    set: ['deployment.mode=staging', 'mail.host=127.0.0.1', `mail.port=${smtp.port}`, 'mail.security=none', 'mail.from=no-reply@runyard.test',
      'mail.per_recipient_hour=1000000', 'mail.max_attempts=1000', 'notifications.max_attempts=100'],
  });
  try {
    await server.start();
    const total = await notifyDuringCrashes(server, db, { accounts: 50, many, kills });
    await waitFor('the last mail', async () => {
      await sleep(300);
      db.sql(`update core.job set run_at = now() where kind like 'mail.send%' and state in (0, 3)`);
      return db.sql(`select count(*) from mail.message where state = 'sent'`) === String(total);
    }, 180000);

    assert.equal(db.sql(`select count(*) from notifications.notification where state <> 'sent'`), '0');
    assert.equal(db.sql(`select count(*) from notifications.inbox`), String(many), 'each is once in the inbox');
    assert.equal(db.sql(`select count(distinct payload->>'plan_name') from notifications.inbox`), String(many));
    assert.equal(db.sql(`select sum(unread) from notifications.inbox_head`), String(many));
    assert.equal(db.sql(`select count(*) from mail.message`), String(total), 'each has one message');
    assert.equal(db.sql(`select count(*) from notifications.delivery where channel = 1 and state in ('accepted', 'delivered')`), String(total));
    const ids = new Map();
    for (const m of smtp.box) ids.set(m.parsed.messageId, (ids.get(m.parsed.messageId) ?? 0) + 1);
    assert.equal(ids.size, total, 'each arrived');
    const duplicates = [...ids.values()].filter((n) => n > 1).length;
    const possibleDuplicates = Number(db.sql(`select count(*) from mail.message where maybe_duplicate`));
    assert.ok(duplicates <= possibleDuplicates, `${duplicates} duplicates, but only ${possibleDuplicates} are marked as possible`);
    console.log(`${total} notifications, ${kills} kills, ${duplicates} mails arrived twice, ${db.sql('select count(*) from notifications.notification where maybe_duplicate')} triggers were repeated`);
  } finally {
    await server.close();
    await smtp.close();
    db.drop();
  }
});

// If the peer detects duplicates by their key, delivery is exactly once, even if another node takes over immediately.
for (const nodes of [1, 2]) test(`${kills} kills while ${many} notifications are sent through Novu, nodes: ${nodes}`, { timeout: 60 * 60000 }, async () => {
  const novu = await startNovu();
  const db = makeDatabase();
  const options = { database: db, set: ['deployment.mode=staging', 'notifications.max_attempts=100'], settings: `
[modules.notify_novu]
enabled = true
[notifications]
orchestrator = "novu"
[notify_novu]
base_url = "${novu.url}"
api_key = "${novu.key}"
` };
  const server = new Server(options), other = nodes === 2 ? new Server(options) : undefined;
  try {
    await server.start();
    await other?.start();
    const total = await notifyDuringCrashes(server, db, { accounts: 20, many, kills });
    assert.equal(novu.accepted.size, total, 'none is lost');
    assert.deepEqual([...novu.accepted.values()].filter((a) => a.times !== 1).map((a) => a.event.transactionId), [], 'each exactly once');
    const repeated = db.sql('select count(*) from notifications.notification where maybe_duplicate');
    console.log(`${total} notifications, ${kills} kills, ${novu.requests.filter((r) => r.path === '/v1/events/trigger').length} requests, ${repeated} triggers were repeated`);
  } finally {
    await other?.close();
    await server.close();
    await novu.close();
    db.drop();
  }
});
