-- One row. Written by the module at its start, from its settings.
create table setting (
  only_row boolean primary key default true check (only_row),
  cap int not null default 10000,            -- platform credits that one account may earn as a referrer
  bonus int not null default 100,            -- for each side
  qualify text not null default 'email_verified' check (qualify in ('signup', 'email_verified', 'first_run')),
  hold interval not null default '0',        -- between qualification and award
  flag_score int not null default 3,         -- 0: nothing is flagged
  velocity int not null default 50,          -- referrals of one referrer within a day that are no signal yet
  disposable text[] not null default '{}',   -- domains of throw-away addresses
  refreshes int not null default 10,         -- of one code within a day
  invites_hour int not null default 20,
  invites_day int not null default 100,
  reinvite interval not null default '7 days'
);
insert into setting default values;

-- Codes are never given to anybody else: rows of old ones stay.
create table code (
  id uuid primary key default gen_random_uuid(),
  account_id uuid not null,
  code text not null unique check (code ~ '^[A-HJKMNP-Z2-9]{8}$'),
  is_active boolean not null default true,
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  suspended_at timestamptz
) with (fillfactor = 80);
create unique index code_of_account on code (account_id) where is_active;
create index code_by_account on code (account_id, created_at);

-- A void referral earns nothing any more: it was pending when it became void, or what it earned was taken
-- back. What was awarded stays written down.
create table referral (
  id uuid primary key default gen_random_uuid(),
  referrer_id uuid not null,
  referred_account_id uuid not null,
  code_id uuid not null references code,
  status text not null default 'pending' check (status in ('pending', 'successful')),
  credits_awarded int not null default 0,   -- to the referrer
  referee_credits int not null default 0,
  referred_at timestamptz not null default clock_timestamp(),
  qualified_at timestamptz,
  settled_at timestamptz,
  void_reason text check (void_reason in ('code_refreshed', 'self_referral', 'disposable_address', 'revoked')),
  voided_at timestamptz,
  review text check (review in ('flagged', 'released')),
  signals jsonb not null default '{}',
  network text,                             -- digest of the network that the sign-up came from
  cap_reached boolean not null default false,
  look_at timestamptz not null default clock_timestamp() + interval '1 minute',
  constraint referral_once unique (referred_account_id),
  constraint referral_not_self check (referrer_id <> referred_account_id),
  constraint referral_settled check ((status = 'successful') = (settled_at is not null)),
  constraint referral_pending_earns_nothing
    check (status = 'successful' or (credits_awarded = 0 and referee_credits = 0)),
  constraint referral_void check ((void_reason is null) = (voided_at is null)
                                  and (status = 'pending' or coalesce(void_reason, 'revoked') = 'revoked'))
) with (fillfactor = 70);
create index referral_of_referrer on referral (referrer_id, referred_at desc, id desc);
create index referral_of_code on referral (code_id) where status = 'pending' and void_reason is null;
create index referral_network on referral (referrer_id, network) where network is not null;
create index referral_open on referral (look_at)
  where status = 'pending' and void_reason is null and review is distinct from 'flagged' and not cap_reached;
create index referral_flagged on referral (referred_at desc, id desc) where review = 'flagged';

-- What an account earned as a referrer, gross: a revocation frees no room below the cap.
create table counter (
  account_id uuid primary key,
  earned int not null default 0,
  revoked int not null default 0,
  cap int not null,
  constraint counter_cap check (earned between 0 and cap),
  constraint counter_revoked check (revoked between 0 and earned)
) with (fillfactor = 50);

-- Where accounts signed up from, as a digest: a friend from there is a signal.
create table origin (account_id uuid primary key, network text not null);

-- Accounts that finished a run, for the qualification 'first_run'.
create table first_run (account_id uuid primary key);

create table invitation (
  account_id uuid not null,
  address text not null,                    -- without case
  at timestamptz not null default clock_timestamp(),
  mail_id uuid not null
);
create index invitation_by_account on invitation (account_id, at);

create function iso_time(p_at timestamptz) returns text language sql stable as $$
  select to_char(p_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$;

-- An address as its owner receives it: without case, tag and, at Gmail, dots.
create function plain_address(p_address text) returns text language sql immutable as $$
  select case when domain in ('gmail.com', 'googlemail.com') then replace(local, '.', '') || '@gmail.com'
              else local || '@' || domain end
    from (select split_part(split_part(lower(p_address collate "C"), '@', 1), '+', 1) as local,
                 split_part(lower(p_address collate "C"), '@', 2) as domain) a
$$;

-- The neighbourhood of an address: offices share /24, homes a /64. Null for what is no address or block.
create function network_of(p_ip text) returns text language plpgsql immutable as $$
begin
  return encode(sha256(convert_to(network(set_masklen(p_ip::inet,
    case family(p_ip::inet) when 4 then 24 else 64 end))::text, 'UTF8')), 'hex');
exception when invalid_text_representation then
  return null;
end $$;

-- The account's code, made of the first candidate that nobody ever had.
create function ensure_code(p_account uuid, p_candidates text[]) returns text language plpgsql as $$
declare
  v_code text;
begin
  select c.code into v_code from referrals.code c where c.account_id = p_account and c.is_active;
  if found then
    return v_code;
  end if;
  foreach v_code in array p_candidates loop
    -- Of two calls at once one waits here and then finds the other's.
    insert into referrals.code (account_id, code) values (p_account, v_code) on conflict do nothing;
    select c.code into v_code from referrals.code c where c.account_id = p_account and c.is_active;
    if found then
      return v_code;
    end if;
  end loop;
  raise exception 'no free referral code among % candidates', cardinality(p_candidates);
end $$;

-- Lock order, here and below: codes, referrals, counters, accounts; several of a kind in order of their ids.

-- Pays for those of the referrals that are due: qualified, held long enough, neither void nor flagged, their code
-- active. Older sign-ups come first below the cap. p_qualified: they have all just qualified; what has to wait is
-- marked so. A row for each that was decided: 'successful' with the referrer's credits, or 'cap_reached'.
create function settle(p_ids uuid[], p_qualified boolean default false)
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
    ), told as materialized (
      select core.event_publish(case when x.give > 0 then 'referral.successful' else 'referral.cap_reached' end,
        x.referrer_id::text, jsonb_build_object('referral_id', x.id, 'referrer_id', x.referrer_id,
          'referred_account_id', x.referred_account_id, 'credits_awarded', x.give))
        from ranked x
    )
    select x.id, case when x.give > 0 then 'successful' else 'cap_reached' end, x.give
      from ranked x, (select count(*) from paid) p, (select count(*) from told) t;
end $$;

-- What the program itself knows of a referee's progress.
create function qualifies(p_account uuid) returns boolean language plpgsql stable as $$
declare
  v_rule text;
begin
  select s.qualify into v_rule from referrals.setting s;
  return case v_rule
    when 'signup' then true
    when 'email_verified' then coalesce((select c.verified from accounts.contact(p_account) c), false)
    else exists (select 1 from referrals.first_run f where f.account_id = p_account) end;
end $$;

-- What speaks against a sign-up, each with its weight; none of it blocks.
create function signals_of(p_referrer uuid, p_address text, p_network text) returns jsonb
language plpgsql stable as $$
declare
  v jsonb := '{}';
begin
  if position('+' in split_part(p_address, '@', 1)) > 0 then
    v := v || '{"tagged_address": 1}';
  end if;
  if p_network is not null and (select count(*) from (select from referrals.referral r
       where r.referrer_id = p_referrer and r.network = p_network limit 2) two) = 2 then
    v := v || '{"same_network": 2}';
  end if;
  if exists (select from referrals.origin o where o.account_id = p_referrer and o.network = p_network) then
    v := v || '{"network_of_referrer": 1}';
  end if;
  if (select count(*) from (select from referrals.referral r
       where r.referrer_id = p_referrer and r.referred_at > now() - interval '1 day'
       limit (select s.velocity from referrals.setting s)) most)
     >= (select s.velocity from referrals.setting s) then
    v := v || '{"velocity": 3}';
  end if;
  if exists (select 1 from referrals.counter k, referrals.setting s
              where k.account_id = p_referrer and k.revoked >= 3 * s.bonus and k.revoked * 3 >= k.earned) then
    v := v || '{"revoked_before": 3}';
  end if;
  return v;
end $$;

-- Writes down that an account signed up with a code, and pays at once when it qualifies already. With a code that was
-- refreshed meanwhile the referral is void from the start, with one that is suspended it waits: the referrer sees
-- either. Outcome: 'successful', 'cap_reached', 'pending', 'flagged', 'void', or why there is no referral:
-- 'unknown_code', 'self', 'already_referred'. p_network: an address or a block of them, for the signals.
create function attach(p_account uuid, p_code text, p_network text) returns text language plpgsql as $$
declare
  v_code referrals.code;
  v_mail text;
  v_network text;
  v_signals jsonb;
  v_void text;
  v_id uuid;
  v_outcome text;
begin
  -- A refresh of this code waits for us, or we see that it is no longer active.
  select * into v_code from referrals.code c
   where c.code = upper(p_code collate "C") and coalesce(c.expires_at > now(), true) for share;
  if not found then
    return 'unknown_code';
  end if;
  if v_code.account_id = p_account then
    return 'self';
  end if;
  select c.email into v_mail from accounts.contact(p_account) c;
  v_network := referrals.network_of(p_network);
  v_signals := referrals.signals_of(v_code.account_id, v_mail, v_network);
  if v_mail <> '' and referrals.plain_address(v_mail)
       = (select referrals.plain_address(c.email) from accounts.contact(v_code.account_id) c) then
    v_void := 'self_referral';
  elsif not v_code.is_active then
    v_void := 'code_refreshed';
  elsif split_part(lower(v_mail collate "C"), '@', 2)
        = any (select unnest(s.disposable) from referrals.setting s) then
    v_void := 'disposable_address';
  end if;
  insert into referrals.referral as r (referrer_id, referred_account_id, code_id, qualified_at, void_reason,
                                       voided_at, review, signals, network)
  select v_code.account_id, p_account, v_code.id,
         case when referrals.qualifies(p_account) then clock_timestamp() end,
         v_void, case when v_void is not null then clock_timestamp() end,
         case when s.flag_score > 0 and v_void is null
                   and (select coalesce(sum(e.value::int), 0) from jsonb_each_text(v_signals) e) >= s.flag_score
              then 'flagged' end,
         v_signals, v_network
    from referrals.setting s
  on conflict on constraint referral_once do nothing
  returning r.id, case when r.void_reason is not null then 'void' else coalesce(r.review, 'pending') end
  into v_id, v_outcome;
  if not found then
    return 'already_referred';
  end if;
  perform core.event_publish('referral.pending', v_code.account_id::text,
    jsonb_build_object('referral_id', v_id, 'referrer_id', v_code.account_id,
                       'referred_account_id', p_account, 'state', v_outcome));
  return coalesce((select s.outcome from referrals.settle(array[v_id]) s), v_outcome);
end $$;

-- These referees have qualified. In a transaction of its own before settle(), which locks the code first. How many
-- referrals may be due now.
create function qualify(p_accounts uuid[]) returns int language plpgsql as $$
declare
  v_n int;
begin
  update referrals.referral r
     set qualified_at = coalesce(r.qualified_at, clock_timestamp()), look_at = clock_timestamp()
    from (select p.id from referrals.referral p
           where p.referred_account_id = any (p_accounts) and p.status = 'pending' and p.void_reason is null
           order by p.id for update) q
   where r.id = q.id;
  get diagnostics v_n = row_count;
  return v_n;
end $$;

-- qualify() and settle() in one transaction.
create function award(p_accounts uuid[]) returns void language plpgsql as $$
begin
  perform referrals.settle((select array_agg(r.id) from referrals.referral r
    where r.referred_account_id = any (p_accounts) and r.status = 'pending' and r.void_reason is null), true);
end $$;

-- Referrers whose counter is not what their referrals and the ledger say: none, unless somebody wrote past this
-- module. Reads everything: for checks, not for requests.
create function unbalanced() returns table (account_id uuid, earned int, awarded bigint, paid_micro numeric)
language sql stable as $$
  select coalesce(k.account_id, s.referrer_id), coalesce(k.earned, 0), coalesce(s.awarded, 0), coalesce(s.paid, 0)
    from referrals.counter k
    full join (select r.referrer_id, sum(r.credits_awarded) as awarded, sum(l.delta_micro) as paid
                 from referrals.referral r
                 left join accounts.ledger l on l.kind = 'referral' and l.ref = 'referral:' || r.id || ':referrer'
                where r.status = 'successful' group by r.referrer_id) s on s.referrer_id = k.account_id
   where coalesce(k.earned, 0) <> coalesce(s.awarded, 0)
      or coalesce(s.paid, 0) <> coalesce(s.awarded, 0) * 1000000::bigint
$$;

-- Open referrals whose time to be looked at has come.
create function due(p_most int) returns uuid[] language plpgsql as $$
begin
  return (
    select array_agg(o.id)
      from (select r.id from referrals.referral r
             where r.status = 'pending' and r.void_reason is null and r.review is distinct from 'flagged'
               and not r.cap_reached and r.look_at <= clock_timestamp()
             order by r.look_at limit p_most) o);
end $$;

-- After settle(), in a transaction of its own: those that are still open are looked at again when their hold
-- ends, at once when they have qualified without our hearing of it, else after as long as they have waited,
-- at most a day.
create function postpone(p_ids uuid[]) returns void language plpgsql as $$
declare
  v_hold interval;
begin
  select s.hold into v_hold from referrals.setting s;
  update referrals.referral r
     set qualified_at = coalesce(r.qualified_at, case when q.yes then clock_timestamp() end),
         look_at = case
           when q.yes then clock_timestamp() + v_hold
           when r.qualified_at + v_hold > clock_timestamp() then r.qualified_at + v_hold
           else clock_timestamp()
                + least(interval '1 day', greatest(interval '1 minute', clock_timestamp() - r.referred_at))
         end
    from (select p.id, p.qualified_at is null and referrals.qualifies(p.referred_account_id) as yes
            from referrals.referral p
           where p.id = any (p_ids) and p.status = 'pending' and p.void_reason is null
             and not p.cap_reached and p.look_at <= clock_timestamp()
           order by p.id for update) q
   where r.id = q.id;
end $$;

-- Locks what is pending of a code whose row the caller has locked.
create function lock_pending(p_code uuid) returns void language plpgsql as $$
begin
  perform 1 from referrals.referral r
   where r.code_id = p_code and r.status = 'pending' and r.void_reason is null order by r.id for update;
end $$;

-- Another cap for everybody. What somebody has earned already stays; what waited for room is looked at again.
create function set_cap(p_cap int) returns void language plpgsql as $$
begin
  if p_cap = (select s.cap from referrals.setting s) then
    return;
  end if;
  perform 1 from referrals.referral r where r.cap_reached order by r.id for update;
  update referrals.referral r set cap_reached = false, look_at = clock_timestamp() where r.cap_reached;
  perform 1 from referrals.counter k order by k.account_id for update;
  update referrals.counter k set cap = greatest(k.earned, p_cap);
  update referrals.setting s set cap = p_cap;
end $$;

-- A new code in place of the old one, whose pending referrals become void.
create function refresh(p_account uuid, p_candidates text[]) returns table (old_code text, new_code text)
language plpgsql as $$
#variable_conflict use_column
declare
  v_old referrals.code;
  v_new text;
begin
  perform referrals.ensure_code(p_account, p_candidates[2:]);
  -- Not found: another refresh came first and its code is the one to replace, or one that came before that does.
  -- Each turn follows a refresh that was committed meanwhile, and their number in a day is limited.
  loop
    select * into v_old from referrals.code c where c.account_id = p_account and c.is_active for update;
    exit when found;
  end loop;
  if v_old.suspended_at is not null then
    raise sqlstate 'RY403' using message = 'This referral code is suspended';
  end if;
  if (select count(*) from referrals.code c
       where c.account_id = p_account and not c.is_active and c.created_at > now() - interval '1 day')
     >= (select s.refreshes from referrals.setting s) then
    raise sqlstate 'RY429' using message = 'This code was refreshed too often today';
  end if;
  update referrals.code c set is_active = false where c.id = v_old.id;
  perform referrals.lock_pending(v_old.id);
  update referrals.referral r set void_reason = 'code_refreshed', voided_at = clock_timestamp()
   where r.code_id = v_old.id and r.status = 'pending' and r.void_reason is null;
  foreach v_new in array p_candidates loop
    insert into referrals.code (account_id, code) values (p_account, v_new) on conflict do nothing;
    if found then
      old_code := v_old.code;
      new_code := v_new;
      return next;
      return;
    end if;
  end loop;
  raise exception 'no free referral code among % candidates', cardinality(p_candidates);
end $$;

-- ---- acts of admins, each with its entry in the audit of accounts -------------------------------------------

-- 'flag' and 'release' of what is pending, 'revoke' of anything that is not void. A revocation takes back what
-- both sides got; their balances may go below zero by it.
create function review(p_actor text, p_id uuid, p_act text, p_reason text) returns void
language plpgsql as $$
declare
  v referrals.referral;
begin
  perform 1 from referrals.code c
   where c.id = (select r.code_id from referrals.referral r where r.id = p_id) for share;
  if not found then
    raise sqlstate 'RY404' using message = 'Referral not found';
  end if;
  select * into v from referrals.referral r where r.id = p_id for update;
  if v.void_reason is not null or (p_act <> 'revoke' and v.status <> 'pending')
     or (p_act = 'release' and v.review is distinct from 'flagged') then
    raise sqlstate 'RY409' using message = 'The state of this referral does not allow that';
  end if;
  if p_act = 'revoke' then
    if v.status = 'successful' then
      update referrals.counter k set revoked = k.revoked + v.credits_awarded
       where k.account_id = v.referrer_id;
      perform accounts.ledger_add(e.account, e.micro, 'referral', e.ref, jsonb_build_object('referral_id', p_id))
         from (select * from (values
                 (v.referrer_id, -v.credits_awarded::bigint * 1000000, 'referral:' || p_id || ':referrer:revoked'),
                 (v.referred_account_id, -v.referee_credits::bigint * 1000000, 'referral:' || p_id || ':referee:revoked'))
                 w (account, micro, ref) order by w.account) e;
    end if;
    update referrals.referral r set void_reason = 'revoked', voided_at = clock_timestamp(), review = null
     where r.id = p_id;
    perform core.event_publish('referral.revoked', v.referrer_id::text,
      jsonb_build_object('referral_id', p_id, 'referrer_id', v.referrer_id,
                         'referred_account_id', v.referred_account_id, 'credits_revoked', v.credits_awarded));
  else
    update referrals.referral r
       set review = case p_act when 'flag' then 'flagged' else 'released' end, look_at = clock_timestamp()
     where r.id = p_id;
  end if;
  perform accounts.audit_add(p_actor, 'referral.' || p_act, v.referrer_id,
    jsonb_build_object('referral_id', p_id, 'reason', p_reason, 'credits', v.credits_awarded));
  if p_act = 'release' then
    perform referrals.settle(array[p_id]);
  end if;
end $$;

create function suspend(p_actor text, p_code text, p_suspended boolean, p_reason text) returns void
language plpgsql as $$
declare
  v referrals.code;
begin
  update referrals.code c set suspended_at = case when p_suspended then coalesce(c.suspended_at, now()) end
   where c.code = upper(p_code collate "C") and c.is_active returning c.* into v;
  if not found then
    raise sqlstate 'RY404' using message = 'Referral code not found';
  end if;
  if not p_suspended then
    perform referrals.lock_pending(v.id);
    update referrals.referral r set look_at = clock_timestamp()
     where r.code_id = v.id and r.status = 'pending' and r.void_reason is null;
  end if;
  perform accounts.audit_add(p_actor, case when p_suspended then 'referral.suspend' else 'referral.resume' end,
    v.account_id, jsonb_build_object('code', v.code, 'reason', p_reason));
end $$;

-- ---- invitations ---------------------------------------------------------------------------------------------

-- Writes invitations to the outbox of mail/1, as far as the account's limits reach. Per address, in order:
-- 'queued' with the mail's id, 'own', 'invited', 'limit', or what mail.enqueue answers.
create function invite(p_account uuid, p_addresses text[], p_subject text, p_text text, p_html text)
returns table (address text, outcome text, mail_id uuid, wait_s int)
language plpgsql as $$
#variable_conflict use_column
declare
  v referrals.setting;
  v_hour int;
  v_day int;
  v_wait int;
  v_own text;
begin
  -- Counted by one at a time: of many at once none sees room that another one takes.
  perform pg_advisory_xact_lock(hashtextextended('referrals.invite:' || p_account, 0));
  select * into v from referrals.setting;
  select count(*) filter (where i.at > clock_timestamp() - interval '1 hour'), count(*),
         ceil(extract(epoch from coalesce(min(i.at) filter (where i.at > clock_timestamp() - interval '1 hour')
                                            + interval '1 hour', clock_timestamp()) - clock_timestamp()))
    into v_hour, v_day, v_wait
    from referrals.invitation i
   where i.account_id = p_account and i.at > clock_timestamp() - interval '1 day';
  if v_day >= v.invites_day then
    select ceil(extract(epoch from min(i.at) + interval '1 day' - clock_timestamp())) into v_wait
      from referrals.invitation i
     where i.account_id = p_account and i.at > clock_timestamp() - interval '1 day';
  end if;
  select referrals.plain_address(c.email) into v_own from accounts.contact(p_account) c;
  foreach address in array p_addresses loop
    mail_id := null;
    wait_s := null;
    if referrals.plain_address(address) = v_own then
      outcome := 'own';
    elsif exists (select 1 from referrals.invitation i
                   where i.account_id = p_account and i.at > clock_timestamp() - v.reinvite
                     and i.address = lower(invite.address collate "C")) then
      outcome := 'invited';
    elsif v_hour >= v.invites_hour or v_day >= v.invites_day then
      outcome := 'limit';
      wait_s := greatest(1, v_wait);
    else
      select e.id, e.outcome into mail_id, outcome
        from mail.enqueue('invitation', address, p_subject, p_text, p_html, true) e;
      if outcome = 'queued' then
        insert into referrals.invitation (account_id, address, mail_id)
        values (p_account, lower(address collate "C"), mail_id);
        v_hour := v_hour + 1;
        v_day := v_day + 1;
        if v_wait = 0 then
          v_wait := 3600;
        end if;
      end if;
    end if;
    return next;
  end loop;
end $$;

-- An invitation that never reached its address does not count.
create function uninvite(p_mails uuid[]) returns void language sql as $$
  delete from referrals.invitation i where i.mail_id = any (p_mails)
$$;
