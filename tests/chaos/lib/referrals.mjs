// Load of concurrent sign-ups on a server whose PostgreSQL connections and processes are killed, and the checks
// afterwards.
import { createHmac, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Server, sleep, waitFor } from '../../e2e/lib/server.mjs';
import { Postgres } from './postgres.mjs';
import { seeded } from './random.mjs';

const secret = 'a secret of at least thirty-two bytes for this test';
export const cap = 2550;  // 25 full awards and half an award

function sign(claims) {
  const part = (o) => Buffer.from(JSON.stringify(o)).toString('base64url');
  const text = `${part({ alg: 'HS256', typ: 'JWT' })}.${part({ exp: Math.floor(Date.now() / 1000) + 3600, ...claims })}`;
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
}

// Each must count 0 rows.
const invariants = {
  cap: `select count(*) from (
          select r.referrer_id, sum(r.credits_awarded) as total from referrals.referral r group by r.referrer_id) t
          left join referrals.counter k on k.account_id = t.referrer_id
         where t.total > ${cap} or t.total <> coalesce(k.earned, 0)`,
  'one referral per referee': `select count(*) from (
          select referred_account_id from referrals.referral group by 1 having count(*) > 1) t`,
  'ledger balanced': `select count(*) from referrals.referral r,
          lateral (select coalesce(sum(l.delta_micro) filter (where l.account_id = r.referrer_id), 0) as referrer,
                          coalesce(sum(l.delta_micro) filter (where l.account_id = r.referred_account_id), 0) as referee
                     from accounts.ledger l where l.kind = 'referral' and l.note->>'referral_id' = r.id::text) l
         where r.void_reason is null
           and (l.referrer <> r.credits_awarded * 1000000::bigint or l.referee <> r.referee_credits * 1000000::bigint
                or (r.status = 'successful' and r.referee_credits <> 100))`,
  'balances equal ledger': 'select count(*) from accounts.unbalanced()',
  'voided never credited': `select count(*) from referrals.referral r
         where r.void_reason is not null
           and (select coalesce(sum(l.delta_micro), 0) from accounts.ledger l
                 where l.kind = 'referral' and l.note->>'referral_id' = r.id::text) <> 0`,
};

// Removes the locks from the module's functions and tables, and delays each award, so that some overlap.
export async function removeLocks(postgres) {
  for (const name of ['settle', 'attach', 'refresh', 'review', 'lock_pending', 'postpone', 'qualify']) {
    const text = await postgres.value(`select pg_get_functiondef('referrals.${name}'::regproc)`);
    const unlocked = text.replaceAll(/\s+for (share|update|no key update)\b/g, '').replaceAll('on conflict on constraint referral_once do nothing', '')
      .replace('from entries e\n', 'from entries e, pg_sleep(1.5)\n');
    if (unlocked === text) throw new Error(`referrals.${name} has no lock of the expected form`);
    await postgres.rows(unlocked);
  }
  await postgres.rows('alter table referrals.counter drop constraint counter_cap, drop constraint counter_revoked');
  await postgres.rows('alter table referrals.referral drop constraint referral_once');
}

export class ReferralLoad {
  constructor({ seed, signUps = 300, clients = 64, faults = true, report = () => {} }) {
    Object.assign(this, { signUps, clients, faults, report, random: seeded(seed), codes: [], statusCounts: {} });
  }
  async open() {
    this.postgres = await new Postgres().make();
    this.server = new Server({
      database: { url: this.postgres.url },
      set: [`auth.jwt.hs256_secret=${secret}`, 'database.connections=16', 'jobs.poll_seconds=0.25', 'log.level=error'],
      settings: `[referrals]\ncap_credits = ${cap}\nflag_score = 0\nrefreshes_per_day = 1000\n`,
    });
    await this.server.start();
    this.admin = sign({ sub: randomUUID(), role: 'super_admin' });
    this.referrers = [];
    for (let i = 0; i < 5; i++) {
      const sub = randomUUID();
      this.referrers.push({ id: sub, token: sign({ sub, email: `referrer${i}@example.test`, email_verified: true }) });
      this.codes.push([(await this.call('GET', '/api/v1/referrals/code', this.referrers[i].token)).json.referral_code]);
    }
  }
  async close() {
    await this.server?.close().catch(() => {});
    await this.postgres?.drop();
  }

  // Repeats the request until the response is not a server error.
  async call(method, path, token, json, tries = 200) {
    for (let i = 0; ; i++) {
      try {
        const r = await fetch(this.server.url + path, { method, headers: { authorization: `Bearer ${token}`, ...(json ? { 'content-type': 'application/json' } : {}) },
          body: json ? JSON.stringify(json) : undefined, signal: AbortSignal.timeout(20000) });
        const text = await r.text();
        this.statusCounts[r.status] = (this.statusCounts[r.status] ?? 0) + 1;
        if (r.status < 500 || i >= tries) return { status: r.status, json: JSON.parse(text) };
      } catch (e) {
        if (i >= tries) throw e;
      }
      await sleep(50 + this.random.between(0, 100));
    }
  }
  randomCode(random) {
    // Most sign-ups use a code of the first referrer, who reaches the cap; some use an old code.
    const codes = this.codes[random.chance(0.6) ? 0 : random.between(1, this.codes.length - 1)];
    return random.chance(0.9) ? codes.at(-1) : random.pick(codes);
  }

  async signUp(n) {
    const random = this.random.fork();
    const sub = randomUUID();
    const claims = (code, verified) => ({ sub, email: `friend${n}@example.test`, email_verified: verified, user_metadata: { referral_code: random.chance(0.5) ? code.toLowerCase() : code } });
    const verified = random.chance(0.6);
    const first = this.randomCode(random);
    // The same person signs up several times concurrently, sometimes with another referrer's code.
    const times = random.chance(0.3) ? random.between(2, 4) : 1;
    await Promise.all(Array.from({ length: times }, (_, i) =>
      this.call('GET', '/account', sign(claims(i > 0 && random.chance(0.5) ? this.randomCode(random) : first, verified)))));
    if (random.chance(0.2)) {
      // The event is delivered a second time, with the code of another referrer.
      const event = JSON.stringify({ account_id: sub, email: `friend${n}@example.test`, referral_code: this.randomCode(random) });
      await this.rowsWithRetry(`select core.event_publish('account.created', '${sub}', '${event}')`);
    }
    if (!verified) {
      await sleep(random.between(0, 400));
      // Same effect as a token with a verified address, but immediate, and twice.
      await Promise.all([1, 2].map(() => this.rowsWithRetry(`select accounts.provision('${sub}', '${sub}', '', '', true, '', 'free', 0)`)));
    }
    if (random.chance(0.3))
      await this.call('POST', `/admin/accounts/${sub}/grant`, this.admin, { credits: 7, ref: `g${n}` });
  }
  // Runs SQL of the test, with retries while PostgreSQL is unavailable.
  async rowsWithRetry(sql) {
    for (;;) {
      try { return await this.postgres.rows(sql); } catch (e) { if (!/psql|connection|recovery|starting up|shutting down|terminat/.test(String(e))) throw e; }
      await sleep(100);
    }
  }

  async run() {
    let finished = false;
    const repeat = (pause, act) => (async () => {
      const random = this.random.fork();
      while (!finished) { await sleep(random.between(pause / 2, pause * 1.5)); if (!finished) await act(random); }
    })();
    const background = [
      repeat(700, async (random) => {  // code refreshes, mostly of the referrers that are not near the cap
        const i = random.chance(0.15) ? 0 : random.between(1, this.referrers.length - 1);
        const r = await this.call('POST', '/api/v1/referrals/refresh', this.referrers[i].token);
        if (r.json.new_code) this.codes[i].push(r.json.new_code);
      }),
      repeat(150, async (random) => {  // admins
        const rows = await this.rowsWithRetry(`select id from referrals.referral where void_reason is null order by random() limit 1`);
        if (rows.length === 0) return;
        await this.call('POST', `/admin/referrals/${rows[0][0]}/${random.weighted([[2, 'revoke'], [2, 'flag'], [3, 'release']])}`, this.admin, { reason: 'storm' });
      }),
      repeat(30, async (random) => {  // billing on the same accounts
        const referrer = random.pick(this.referrers);
        await this.call('POST', `/admin/accounts/${referrer.id}/${random.pick(['grant', 'revoke'])}`, this.admin, { credits: 1 });
      }),
    ];
    if (this.faults) {
      background.push(repeat(200, async () => {
        if (this.postgres.up) await this.postgres.rows(`select pg_terminate_backend(pid) from pg_stat_activity
          where backend_type = 'client backend' and pid <> pg_backend_pid() order by random() limit 2`).catch(() => {});
      }));
    }
    let next = 0, finishedSignUps = 0, crashed = false;
    const crash = async () => {
      crashed = true;
      await this.postgres.stop('immediate');
      await sleep(500);
      await this.postgres.start();
    };
    let crashing;
    await Promise.all(Array.from({ length: this.clients }, async () => {
      while (next < this.signUps) {
        await this.signUp(next++);
        if (++finishedSignUps >= this.signUps / 2 && !crashed && this.faults) crashing = crash();
      }
    }));
    await crashing;
    finished = true;
    await Promise.all(background);
    // Release the flagged referrals, then wait until the pending ones are settled.
    for (const [id] of await this.rowsWithRetry(`select id from referrals.referral where review = 'flagged' and void_reason is null`))
      await this.call('POST', `/admin/referrals/${id}/release`, this.admin);
    await waitFor('all events are handled', async () => {
      await this.rowsWithRetry(`update core.job set run_at = now() where state = 3 and kind like 'event.%'`);
      return (await this.rowsWithRetry(`select count(*) from core.job where kind like 'event.%'`))[0][0] === '0';
    }, 60000);
  }

  // Returns descriptions of the violations.
  async violations() {
    const found = [];
    for (const [name, sql] of Object.entries(invariants)) {
      const n = await this.postgres.value(sql);
      if (n !== '0') found.push(`${name}: ${n} rows`);
    }
    return found;
  }
  async summary() {
    const [[successful, pending, voided, hot]] = await this.postgres.rows(`
      select count(*) filter (where status = 'successful' and void_reason is null), count(*) filter (where status = 'pending' and void_reason is null),
             count(*) filter (where void_reason is not null), (select coalesce(max(earned), 0) from referrals.counter where account_id = '${this.referrers[0].id}')
        from referrals.referral`);
    const deadlocks = (readFileSync(`${this.postgres.dir}/server.log`, 'utf8').match(/deadlock detected/g) ?? []).length;
    return { successful: Number(successful), pending: Number(pending), voided: Number(voided), hotReferrerEarned: Number(hot), deadlocks, statusCounts: this.statusCounts };
  }
}
