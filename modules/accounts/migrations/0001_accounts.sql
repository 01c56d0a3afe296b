-- UUIDv7: increasing in time, so that new rows land at the end of their indexes.
create function new_id() returns uuid language sql volatile as $$
  select encode(
    set_bit(set_bit(
      overlay(uuid_send(gen_random_uuid())
              placing substring(int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3)
              from 1 for 6),
      52, 1), 53, 1), 'hex')::uuid
$$;

create function iso_time(p_at timestamptz) returns text language sql stable as $$
  select to_char(p_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$;

create function role_name(p_role int) returns text language sql immutable as $$
  select (array['user', 'admin', 'super_admin'])[p_role + 1]
$$;

-- One row. Written by the module at its start, from its settings.
create table setting (
  only_row boolean primary key default true check (only_row),
  low_percent int not null default 20 check (low_percent between 0 and 100)
);
insert into setting default values;

-- `subject` is the token's `sub`. When that is a UUID it is the id too; else the id is made once and this
-- row is the stable mapping. The fill factor leaves room for balances to move within a page.
create table account (
  id uuid primary key,
  subject text not null unique,
  tier text not null,
  role smallint not null default 0 check (role between 0 and 2),
  balance_micro bigint not null default 0,
  low_mark_micro bigint not null default 0,  -- falling below it is the crossing of credits.low
  email text not null default '',
  display_name text not null default '',
  phone text not null default '',
  avatar text not null default '',         -- URL
  verified_at timestamptz,
  created_at timestamptz not null default now()
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02);
create index account_email on account (lower(email)) where email <> '';

-- Append-only. No reference to `account`: ledger_add() is the only writer and has locked that row.
create table ledger (
  account_id uuid not null,
  id bigint generated always as identity,
  at timestamptz not null default now(),
  delta_micro bigint not null,
  balance_micro bigint not null,  -- after this entry
  kind text not null check (kind in ('grant', 'charge', 'revoke', 'referral', 'adjust')),
  ref text not null,
  note jsonb not null default '{}',
  primary key (account_id, id)
);
create unique index ledger_once on ledger (kind, ref);

-- The hash is SHA-256 of the key's secret, which has 256 bits of entropy.
create table api_key (
  id text primary key check (id ~ '^[0-9a-f]{16}$'),
  account_id uuid not null references account,
  name text not null,
  secret_hash bytea not null check (octet_length(secret_hash) = 32),
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  last_used_at timestamptz,
  revoked_at timestamptz
) with (fillfactor = 80);
create index api_key_account on api_key (account_id, created_at);

-- Who did what, and to whose account if to anybody's. Also read by all nodes to learn which remembered verdicts to drop.
create table audit (
  id bigint generated always as identity primary key,
  at timestamptz not null default clock_timestamp(),
  actor text not null,
  action text not null,
  account_id uuid,
  subject text,
  detail jsonb not null default '{}',
  event_id bigint unique,  -- of the event admin.act that told of it
  check ((account_id is null) = (subject is null))
);
create index audit_recent on audit (at);
create index audit_account on audit (account_id, id);

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'accounts.% is append-only', tg_table_name using errcode = 'restrict_violation';
end $$;
create trigger ledger_append_only before update or delete or truncate on ledger
  for each statement execute function refuse_change();
create trigger audit_append_only before update or delete or truncate on audit
  for each statement execute function refuse_change();

-- PL/pgSQL keeps the plans of these functions for the life of a connection; functions in SQL that cannot
-- be inlined would be planned at every call.

create function lock_account(account uuid) returns table (tier text, balance_micro bigint)
language plpgsql as $$
begin
  return query select a.tier, a.balance_micro from accounts.account a where a.id = lock_account.account
               for no key update;
end $$;

-- Without a lock: good for a check that may be late by one charge.
create function balance(account uuid) returns bigint language plpgsql stable as $$
begin
  return (select a.balance_micro from accounts.account a where a.id = balance.account);
end $$;

-- Without a lock. No row: unknown account.
create function contact(account uuid) returns table (email text, display_name text, verified boolean)
language plpgsql stable as $$
#variable_conflict use_column
begin
  return query select a.email, a.display_name, a.verified_at is not null
                 from accounts.account a where a.id = contact.account;
end $$;

-- What else is known of whom to tell something. No row: unknown account.
create function profile(account uuid) returns table (phone text, avatar text) language plpgsql stable as $$
#variable_conflict use_column
begin
  return query select a.phone, a.avatar from accounts.account a where a.id = profile.account;
end $$;

-- The account with this address, in any case; of several the one that confirmed it, then the oldest. Null: none.
create function find_by_email(email text) returns uuid language plpgsql stable as $$
begin
  return (select a.id from accounts.account a
           where lower(a.email) = lower(find_by_email.email) and a.email <> ''
           order by a.verified_at nulls last, a.created_at limit 1);
end $$;

-- All accounts in the order of their ids, a page at a time.
create function ids_after(account uuid, most bigint) returns setof uuid language plpgsql stable as $$
begin
  return query select a.id from accounts.account a
                where ids_after.account is null or a.id > ids_after.account order by a.id limit ids_after.most;
end $$;

-- Locks those of the accounts that nobody else has locked, without waiting. By the place of the account;
-- null: locked by another, or unknown.
create function try_lock_accounts(accounts uuid[], out tiers text[], out balances bigint[])
language plpgsql set plan_cache_mode = force_generic_plan as $$
begin
  select array_agg(l.tier order by w.n), array_agg(l.balance_micro order by w.n) into tiers, balances
    from unnest(try_lock_accounts.accounts) with ordinality w (account, n)
    left join lateral (select a.tier, a.balance_micro from accounts.account a
                        where a.id = w.account for no key update skip locked) l on true;
end $$;

-- The same for one; nulls: locked by another, or unknown.
create function try_lock_account(account uuid, out tier text, out balance_micro bigint)
language plpgsql set plan_cache_mode = force_generic_plan as $$
begin
  select a.tier, a.balance_micro into tier, balance_micro from accounts.account a
   where a.id = try_lock_account.account for no key update skip locked;
end $$;

create function ledger_add(account uuid, delta_micro bigint, kind text, ref text,
                           note jsonb default '{}') returns bigint
language plpgsql as $$
#variable_conflict use_column
declare
  v_after bigint;
  v_mark bigint;
  v_percent int;
begin
  -- The balance moves first: a repeat, which is rare, pays for moving it back.
  update accounts.account a set balance_micro = a.balance_micro + ledger_add.delta_micro
   where a.id = ledger_add.account
   returning a.balance_micro, a.low_mark_micro into v_after, v_mark;
  if not found then
    raise sqlstate 'RY404' using message = 'Account not found';
  end if;

  insert into accounts.ledger (account_id, delta_micro, balance_micro, kind, ref, note)
  values (ledger_add.account, ledger_add.delta_micro, v_after, ledger_add.kind, ledger_add.ref,
          coalesce(ledger_add.note, '{}'))
  on conflict (kind, ref) do nothing;
  if not found then
    update accounts.account a set balance_micro = a.balance_micro - ledger_add.delta_micro
     where a.id = ledger_add.account returning a.balance_micro into v_after;
    return v_after;
  end if;

  if ledger_add.kind = 'grant' then
    select s.low_percent into v_percent from accounts.setting s;
    update accounts.account a
       set low_mark_micro = (ledger_add.delta_micro::numeric * v_percent / 100)::bigint
     where a.id = ledger_add.account;
  elsif v_after < v_mark and v_after - ledger_add.delta_micro >= v_mark then
    select s.low_percent into v_percent from accounts.setting s;
    perform core.event_publish('credits.low', ledger_add.account::text,
      jsonb_build_object('account_id', ledger_add.account, 'balance_micro', v_after,
                         'threshold_percent', v_percent));
  end if;
  return v_after;
end $$;

-- The account of a subject, made at first sight with its starting grant. Empty texts say nothing: they
-- never erase what is known. `p_network`: the block of addresses that the sign-up came from. `fresh` tells that this call
-- made it.
create function provision(p_subject text, p_id uuid, p_email text, p_name text, p_verified boolean,
                          p_referral_code text, p_tier text, p_grant_micro bigint,
                          p_network text default '', p_phone text default '', p_avatar text default '')
returns table (id uuid, subject text, tier text, role smallint, email text, display_name text,
               verified boolean, fresh boolean)
language plpgsql as $$
#variable_conflict use_column
declare
  v accounts.account;
  v_fresh boolean := false;
  v_newly_verified boolean := false;
begin
  select * into v from accounts.account a where a.subject = p_subject;
  if not found then
    insert into accounts.account as a (id, subject, tier, email, display_name, phone, avatar, verified_at)
    values (coalesce(p_id, accounts.new_id()), p_subject, p_tier, p_email, p_name, p_phone, p_avatar,
            case when p_verified then now() end)
    on conflict do nothing
    returning a.* into v;
    v_fresh := found;
    if not v_fresh then
      select * into v from accounts.account a where a.subject = p_subject;
      if not found then
        raise sqlstate 'RY403' using message = 'This subject is the id of another account';
      end if;
    end if;
  end if;

  if v_fresh then
    v_newly_verified := p_verified;
    perform core.event_publish('account.created', v.id::text,
      jsonb_strip_nulls(jsonb_build_object('account_id', v.id, 'email', v.email,
        'name', v.display_name, 'referral_code', nullif(p_referral_code, ''),
        'network', nullif(p_network, ''))));
    if p_grant_micro > 0 then
      perform accounts.ledger_add(v.id, p_grant_micro, 'grant', 'start:' || v.id,
                                  jsonb_build_object('tier', p_tier));
    end if;
  elsif (p_verified and v.verified_at is null) or (p_email <> '' and p_email <> v.email)
        or (p_name <> '' and p_name <> v.display_name) or (p_phone <> '' and p_phone <> v.phone)
        or (p_avatar <> '' and p_avatar <> v.avatar) then
    -- Locked first: of two calls at once only one sees the account unverified.
    select * into v from accounts.account a where a.subject = p_subject for no key update;
    v_newly_verified := p_verified and v.verified_at is null;
    update accounts.account a
       set email = coalesce(nullif(p_email, ''), a.email),
           display_name = coalesce(nullif(p_name, ''), a.display_name),
           phone = coalesce(nullif(p_phone, ''), a.phone), avatar = coalesce(nullif(p_avatar, ''), a.avatar),
           -- Another address, of which nobody says that it was verified, was not.
           verified_at = case when v_newly_verified then now()
                              when not p_verified and p_email <> '' and lower(p_email) <> lower(a.email) then null
                              else a.verified_at end
     where a.id = v.id
     returning a.* into v;
  end if;
  if v_newly_verified then
    perform core.event_publish('account.verified', v.id::text,
                               jsonb_build_object('account_id', v.id));
  end if;
  return query select v.id, v.subject, v.tier, v.role, v.email, v.display_name,
                      v.verified_at is not null, v_fresh;
end $$;

create function audit_add(p_actor text, p_action text, p_account uuid, p_detail jsonb) returns void
language plpgsql as $$
declare
  v_subject text;
begin
  select a.subject into v_subject from accounts.account a where a.id = p_account;
  if not found then
    raise sqlstate 'RY404' using message = 'Account not found';
  end if;
  insert into accounts.audit (actor, action, account_id, subject, detail)
  values (p_actor, p_action, p_account, v_subject, p_detail);
end $$;

-- An act of an admin in a module that does not know accounts, as its event admin.act tells. Once per event.
create function audit_event(p_event bigint, p_at timestamptz, p_act jsonb) returns void language sql as $$
  insert into accounts.audit (at, actor, action, detail, event_id)
  values (p_at, p_act->>'actor', p_act->>'action', coalesce(p_act->'detail', '{}'), p_event)
  on conflict (event_id) do nothing
$$;

-- Credits as an exact decimal number.
create function credits(p_micro bigint) returns numeric language sql immutable as $$
  select trim_scale(p_micro::numeric * 0.000001)
$$;

-- An act of an admin on a balance, with its audit entry. The same `p_ref` again answers the balance that the
-- first one left; with another amount: RY409. A revoke never makes a balance negative: RY409.
create function admin_move(p_actor text, p_account uuid, p_action text, p_delta bigint, p_ref text,
                           p_note jsonb)
returns table (balance_micro bigint, replayed boolean)
language plpgsql as $$
declare
  v_balance bigint;
  v_first accounts.ledger;
begin
  -- The lock also puts two acts with one ref in order: the ref names the account.
  select l.balance_micro into v_balance from accounts.lock_account(p_account) l;
  if not found then
    raise sqlstate 'RY404' using message = 'Account not found';
  end if;
  select * into v_first from accounts.ledger l where l.kind = p_action and l.ref = p_ref;
  if found then
    if v_first.delta_micro <> p_delta then
      raise sqlstate 'RY409' using
        message = 'This ref or Idempotency-Key was used before with another amount',
        detail = json_build_object(
          'message', 'This ref or Idempotency-Key was used before with another amount',
          'credits', accounts.credits(abs(v_first.delta_micro)),
          'error_code', 'IDEMPOTENCY_KEY_REUSED');
    end if;
    return query select v_first.balance_micro, true;
    return;
  end if;
  if p_delta < 0 and v_balance + p_delta < 0 then
    raise sqlstate 'RY409' using
      message = 'A revoke cannot make the balance negative',
      detail = json_build_object('message', 'A revoke cannot make the balance negative',
                                 'balance_credits', accounts.credits(v_balance),
                                 'balance_micro', v_balance,
                                 'error_code', 'BALANCE_TOO_LOW');
  end if;
  v_balance := accounts.ledger_add(p_account, p_delta, p_action, p_ref, p_note);
  perform accounts.audit_add(p_actor, p_action, p_account,
    jsonb_build_object('delta_micro', p_delta, 'ref', p_ref, 'note', p_note));
  return query select v_balance, false;
end $$;

-- Accounts whose balance is not the sum of their ledger, or whose ledger has an entry that does not follow
-- from the one before it. Reads the whole ledger: for checks, not for requests.
create function unbalanced() returns table (account_id uuid, balance_micro bigint, ledger_micro numeric)
language sql stable as $$
  select a.id, a.balance_micro, coalesce(l.total, 0)
    from accounts.account a
    left join (
      select e.account_id, sum(e.delta_micro) as total, bool_or(e.balance_micro <> e.running) as torn
        from (select x.*, sum(x.delta_micro) over (partition by x.account_id order by x.id) as running
                from accounts.ledger x) e
       group by e.account_id) l on l.account_id = a.id
   where a.balance_micro <> coalesce(l.total, 0) or coalesce(l.torn, false)
$$;

-- A new API key as JSON without its secret, with its audit entry; null: the account has p_most already.
create function add_key(p_actor text, p_account uuid, p_id text, p_name text, p_hash bytea, p_days int,
                        p_most bigint) returns text
language plpgsql as $$
declare
  v_key accounts.api_key;
begin
  -- Counted under the account's lock: of many at once none sees room that another one takes.
  perform 1 from accounts.lock_account(p_account);
  if (select count(*) from accounts.api_key k
       where k.account_id = p_account and k.revoked_at is null
         and coalesce(k.expires_at > now(), true)) >= p_most then
    return null;
  end if;
  insert into accounts.api_key as k (id, account_id, name, secret_hash, expires_at)
  values (p_id, p_account, p_name, p_hash, now() + make_interval(days => p_days))
  returning k.* into v_key;
  perform accounts.audit_add(p_actor, 'api_key.create', p_account,
                             jsonb_build_object('key', p_id));
  return json_build_object('id', v_key.id, 'name', v_key.name,
    'created_at', accounts.iso_time(v_key.created_at),
    'expires_at', accounts.iso_time(v_key.expires_at))::text;
end $$;
