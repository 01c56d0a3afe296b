#!/usr/bin/env bash
# Measures awards per second: referrals that the server pays, with one referrer and with 1000. Compares them with
# pgbench, which makes equivalent writes in plain SQL, one durable transaction per award: lock the code, insert the paid
# referral, raise the referrer's capped counter, two ledger entries, two balances, one outbox row. Both use the server's
# embedded PostgreSQL, alternately. `events`: account.verified is published for each referee, and the server pays;
# `backlog`: all referrals are due at the same time. Needs pgbench.
set -euo pipefail
# shellcheck source=bench/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
rounds=${ROUNDS:-3} awards=${AWARDS:-10000} clients=${CLIENTS:-32} seconds=${SECONDS_PER_ROUND:-4}
serve_bench "${PORT:-18197}" 'referrals = { enabled = true }
[referrals]
cap_credits = 1000000000
flag_score = 0'
sql() { psql -XqAt -v ON_ERROR_STOP=1 "$url" -c "$1"; }
sql "create schema raw
  create table code (id int primary key, is_active boolean)
  create table referral (id bigint generated always as identity primary key, referrer int, referee int unique, status text default 'pending', credits int default 0)
  create table counter (account int primary key, earned int check (earned <= 1000000000))
  create table account (id int primary key, balance bigint)
  create table ledger (id bigint generated always as identity primary key, account int, delta bigint, kind text, ref text, unique (kind, ref))
  create table outbox (id bigint generated always as identity primary key, body jsonb)"
cat >"$work/raw.sql" <<'SQL'
\set referrer random(1, :referrers)
begin;
select is_active from raw.code where id = :referrer for share;
with next as (select nextval('raw.referral_id_seq') as n)
insert into raw.referral (id, referrer, referee, status, credits) overriding system value select n, :referrer, n, 'successful', 100 from next returning id as referral \gset
update raw.counter set earned = earned + 100 where account = :referrer and earned + 100 <= 1000000000;
insert into raw.ledger (account, delta, kind, ref) values (:referrer, 100000000, 'referral', concat(:referral::bigint, 'a')), (:referral::bigint % 1000 + 1000, 100000000, 'referral', concat(:referral::bigint, 'b'));
update raw.account set balance = balance + 100000000 where id = :referrer;
update raw.account set balance = balance + 100000000 where id = :referral::bigint % 1000 + 1000;
insert into raw.outbox (body) values (jsonb_build_object('referral', :referral::bigint));
commit;
SQL
sql "insert into raw.code select n, true from generate_series(1, 1000) n; insert into raw.counter select n, 0 from generate_series(1, 1000) n;
     insert into raw.account select n, 0 from generate_series(1, 2000) n"
raw() { pgbench -n -M prepared -c "$clients" -j 2 -T "$seconds" -D referrers="$1" -f "$work/raw.sql" "$url" 2>"$work/pgbench.err" | awk '/^tps/{print $3}' || { cat "$work/pgbench.err" >&2; return 1; }; }

# prepare REFERRERS: creates AWARDS pending referrals of that many referrers.
prepare() {
  sql "truncate referrals.referral, referrals.counter, referrals.code, core.event;
       insert into referrals.code (account_id, code)
       select gen_random_uuid(), translate(lpad(upper(to_hex(n)), 8, 'Z'), '01', 'XY') from generate_series(1, $1) n;
       insert into accounts.account (id, subject, tier) select account_id, account_id::text, 'free' from referrals.code;
       with friend as (
         insert into accounts.account (id, subject, tier)
         select g, g::text, 'free' from (select gen_random_uuid() as g from generate_series(1, $awards)) x returning id),
       numbered as (select id, row_number() over () as n from friend),
       owner as (select id, account_id, row_number() over () as n from referrals.code)
       insert into referrals.referral (referrer_id, referred_account_id, code_id, look_at)
       select o.account_id, f.id, o.id, 'infinity' from numbered f join owner o on o.n = f.n % $1 + 1"
  sql 'vacuum analyze referrals.referral'
  sql 'vacuum analyze accounts.account'
}
# The rate from the end of the first tenth to the last award, by the database's clock.
measured() {
  for _ in $(seq 300); do [[ $(sql "select count(*) from referrals.referral where status = 'pending'") == 0 ]] && break; sleep 0.2; done
  sql "select round(((count(*) * 0.9) / extract(epoch from max(settled_at) - percentile_disc(0.1) within group (order by settled_at)))::numeric) from referrals.referral"
}
events() {
  prepare "$1"
  sql "select count(core.event_publish('account.verified', referred_account_id::text, '{}')) from referrals.referral" >/dev/null
  measured
}
backlog() {
  prepare "$1"
  sql "update referrals.referral set qualified_at = now(), look_at = now();
       select core.job_enqueue('referrals.settle', '{}')" >/dev/null
  measured
}
for referrers in ${REFERRERS:-1 1000}; do
  for i in $(seq "$rounds"); do
    r=$(raw "$referrers"); e=$(events "$referrers"); b=$(backlog "$referrers")
    echo "$referrers referrers, round $i: raw SQL $r/s, events $e/s, backlog $b/s"
    echo "$r" >>"$work/r$referrers"; echo "$e" >>"$work/e$referrers"; echo "$b" >>"$work/b$referrers"
    awk -v a="$e" -v b="$r" 'BEGIN{print a/b}' >>"$work/q$referrers"
    awk -v a="$b" -v b="$r" 'BEGIN{print a/b}' >>"$work/p$referrers"
  done
  echo "$referrers referrers, median: raw SQL $(median <"$work/r$referrers")/s, events $(median <"$work/e$referrers")/s (ratio $(median <"$work/q$referrers")), backlog $(median <"$work/b$referrers")/s (ratio $(median <"$work/p$referrers"))"
done
echo "accounts out of balance: $(sql 'select count(*) from accounts.unbalanced()')"
