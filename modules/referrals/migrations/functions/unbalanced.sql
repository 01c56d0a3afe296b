-- ry: number 0007 compatible

-- Referrers whose counter differs from the sum of their referrals or of their ledger entries. Returns no row unless a statement
-- from outside changed one of them. Reads everything: for checks, not for requests.
create or replace function unbalanced() returns table (account_id uuid, earned int, awarded bigint, paid_micro numeric)
language sql stable as $$
  select coalesce(k.account_id, s.referrer_id), coalesce(k.earned, 0), coalesce(s.awarded, 0), coalesce(s.paid, 0)
    from referrals.counter k
    full join (select r.referrer_id, sum(r.credits_awarded) as awarded, sum(l.delta_micro) as paid
                 from referrals.referral r
                 left join accounts.ledger_entries('referral') l on l.ref = 'referral:' || r.id || ':referrer'
                where r.status = 'successful' group by r.referrer_id) s on s.referrer_id = k.account_id
   where coalesce(k.earned, 0) <> coalesce(s.awarded, 0)
      or coalesce(s.paid, 0) <> coalesce(s.awarded, 0) * 1000000::bigint
$$;
