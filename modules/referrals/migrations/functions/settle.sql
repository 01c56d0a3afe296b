-- ry: number 0006 compatible

-- Awards the credits of the referrals that are due: qualified, held long enough, neither void nor flagged, with an active code.
-- Earlier sign-ups come first below the referrer's cap. p_qualified: all of them have just qualified; those that must wait are
-- marked as qualified. Returns a row for each decided referral: 'successful' with the referrer's credits, or 'cap_reached'.
-- Lock order: codes, referrals, counters, accounts; several of a kind in the order of their ids.
create or replace function settle(p_ids uuid[], p_qualified boolean default false)
returns table (id uuid, outcome text, credits int)
language plpgsql as $$
#variable_conflict use_column
declare
  v_bonus int;
  v_cap int;
  v_hold interval;
  v_due uuid[];
  v_waiting uuid[];
begin
  select s.bonus, s.cap, s.hold into v_bonus, v_cap, v_hold from referrals.setting s;
  perform 1 from referrals.code c
   where c.id in (select r.code_id from referrals.referral r where r.id = any (p_ids))
   order by c.id for share;
  select array_agg(d.id) filter (where d.due), array_agg(d.id) filter (where not d.due and d.qualified_at is null)
    into v_due, v_waiting
    from (select r.id, r.qualified_at,
                 r.review is distinct from 'flagged' and not r.cap_reached
                 and coalesce(coalesce(r.qualified_at, case when p_qualified then clock_timestamp() end) + v_hold
                                <= clock_timestamp(), false)
                 and exists (select 1 from referrals.code c
                              where c.id = r.code_id and c.is_active and c.suspended_at is null) as due
            from referrals.referral r
           where r.id = any (p_ids) and r.status = 'pending' and r.void_reason is null
           order by r.id for update) d;
  if p_qualified and v_waiting is not null then
    update referrals.referral r set qualified_at = clock_timestamp(), look_at = clock_timestamp()
     where r.id = any (v_waiting);
  end if;
  if v_due is null then
    return;
  end if;
  insert into referrals.counter (account_id, cap)
  select distinct r.referrer_id, v_cap from referrals.referral r where r.id = any (v_due) order by 1
  on conflict do nothing;
  perform 1 from referrals.counter k
   where k.account_id in (select r.referrer_id from referrals.referral r where r.id = any (v_due))
   order by k.account_id for update;

  return query
    with ranked as materialized (
      select r.id, r.referrer_id, r.referred_account_id, r.referred_at,
             greatest(0, least(v_bonus, k.cap - k.earned - v_bonus * (row_number() over w - 1)))::int as give
        from referrals.referral r
        join referrals.counter k on k.account_id = r.referrer_id
       where r.id = any (v_due)
      window w as (partition by r.referrer_id order by r.referred_at, r.id)
    ), counted as (
      update referrals.counter k set earned = k.earned + n.total
        from (select x.referrer_id, sum(x.give) as total from ranked x group by x.referrer_id) n
       where k.account_id = n.referrer_id and n.total > 0
    ), marked as (
      update referrals.referral r
         set status = case when x.give > 0 then 'successful' else 'pending' end,
             settled_at = case when x.give > 0 then clock_timestamp() end,
             qualified_at = coalesce(r.qualified_at, clock_timestamp()),
             credits_awarded = x.give, referee_credits = case when x.give > 0 then v_bonus else 0 end,
             cap_reached = x.give = 0
        from ranked x where r.id = x.id
    ), entries as materialized (
      select e.account, e.micro, e.ref, e.id from (
        select x.referrer_id as account, x.give::bigint * 1000000 as micro, 'referral:' || x.id || ':referrer' as ref, x.id
          from ranked x where x.give > 0
        union all
        select x.referred_account_id, v_bonus::bigint * 1000000, 'referral:' || x.id || ':referee', x.id
          from ranked x where x.give > 0) e
       order by e.account, e.ref
    ), paid as materialized (
      select accounts.ledger_add(e.account, e.micro, 'referral', e.ref, jsonb_build_object('referral_id', e.id))
        from entries e
    ), published as materialized (
      select core.event_publish(case when x.give > 0 then 'referral.successful' else 'referral.cap_reached' end,
        x.referrer_id::text, jsonb_build_object('referral_id', x.id, 'referrer_id', x.referrer_id,
          'referred_account_id', x.referred_account_id, 'credits_awarded', x.give))
        from ranked x
    )
    select x.id, case when x.give > 0 then 'successful' else 'cap_reached' end, x.give
      from ranked x, (select count(*) from paid) p, (select count(*) from published) t;
end $$;
