-- Sign-up and log-in without an identity provider, and the identity webhook. All tokens stand here as their
-- SHA-256 only; they have 256 random bits each.

-- Buckets of attempts. Unlogged: a crash of the database forgives.
create unlogged table throttle (
  key bytea primary key,
  level double precision not null,
  at timestamptz not null
);

-- Takes one attempt from each bucket, or from none: then how many seconds to wait. A bucket holds p_room
-- attempts and gets p_room back in p_seconds.
create function throttle_take(p_keys text[], p_room bigint[], p_seconds bigint[]) returns int
language plpgsql as $$
declare
  v_wait double precision := 0;
  b record;
begin
  -- In one order, so that two that share buckets cannot block each other.
  for b in select sha256(convert_to(k.key, 'UTF8')) as hash, k.room::double precision as room,
                  k.room::double precision / k.seconds as rate
             from unnest(p_keys, p_room, p_seconds) k (key, room, seconds) order by 1 loop
    insert into accounts.throttle as t (key, level, at) values (b.hash, 0, clock_timestamp())
    on conflict (key) do update
      set level = greatest(0, t.level - extract(epoch from clock_timestamp() - t.at) * b.rate),
          at = clock_timestamp();
    select greatest(v_wait, (t.level + 1 - b.room) / b.rate) into v_wait
      from accounts.throttle t where t.key = b.hash;
  end loop;
  if v_wait > 0 then
    return ceil(v_wait)::int;
  end if;
  update accounts.throttle t set level = t.level + 1
    from unnest(p_keys) k (key) where t.key = sha256(convert_to(k.key, 'UTF8'));
  return 0;
end $$;

-- How the owner of an account logs in. `email_key` tells addresses apart, `email` is where mail goes.
create table login (
  account_id uuid primary key references account,
  email text not null,
  email_key text not null unique,
  password_hash text not null,
  created_at timestamptz not null default now(),
  changed_at timestamptz not null default now()
);

-- Sign-ups that wait for their link. An account is made only when the link was opened by somebody who also has
-- what the form got back (`proof_hash`) or knows the password: a link alone gives nothing to whoever opens it.
create table sign_up (
  id uuid primary key,
  email text not null,
  email_key text not null,
  password_hash text not null,
  proof_hash bytea not null,
  token_hash bytea unique,  -- set when the mail is written
  display_name text not null,
  referral_code text not null,
  network text not null,    -- the block of addresses that it came from
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null
);
create index sign_up_address on sign_up (email_key, created_at);
create index sign_up_expires on sign_up (expires_at);

create table reset (
  token_hash bytea primary key,
  account_id uuid not null references account,
  expires_at timestamptz not null
);
create index reset_account on reset (account_id);

create table session (
  id uuid primary key,
  account_id uuid not null references account,
  user_agent text not null,
  created_at timestamptz not null default now(),
  used_at timestamptz not null default now(),
  expires_at timestamptz not null,
  ended_at timestamptz
);
create index session_account on session (account_id, created_at) where ended_at is null;
create index session_ended on session (ended_at) where ended_at is not null;

-- Each is good for one use; the use gives the next one.
create table refresh_token (
  hash bytea primary key,
  session_id uuid not null references session on delete cascade,
  used_at timestamptz
);
create index refresh_token_session on refresh_token (session_id);

create table webhook_seen (
  id text primary key,
  at timestamptz not null default now()
);

-- Writes down a sign-up and asks for its mail. Whether the address has an account already is not looked at
-- here, so that the answer can tell nothing, not even by its time: the job that writes the mail looks.
create function begin_sign_up(p_id uuid, p_email text, p_key text, p_password_hash text, p_proof_hash bytea,
                              p_name text, p_code text, p_network text, p_hours int) returns void
language plpgsql as $$
begin
  insert into accounts.sign_up (id, email, email_key, password_hash, proof_hash, display_name, referral_code,
                                network, expires_at)
  values (p_id, p_email, p_key, p_password_hash, p_proof_hash, p_name, p_code, p_network,
          now() + make_interval(hours => p_hours));
  delete from accounts.sign_up s using (
      select o.id from accounts.sign_up o where o.email_key = p_key order by o.created_at desc offset 4) old
   where s.id = old.id;
  perform core.job_enqueue('accounts.letter', jsonb_build_object('kind', 'confirm', 'sign_up', p_id));
end $$;

-- Makes the account of an address and its log-in. RY409: the address has one already.
create function make_login(p_account uuid, p_email text, p_key text, p_password_hash text, p_name text,
                           p_code text, p_network text, p_verified boolean, p_tier text,
                           p_grant_micro bigint) returns void
language plpgsql as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('accounts.login:' || p_key, 0));
  if exists (select from accounts.login l where l.email_key = p_key) then
    raise sqlstate 'RY409' using message = 'There is an account with this address already';
  end if;
  perform accounts.provision(p_account::text, p_account, p_email, p_name, p_verified, p_code, p_tier,
                             p_grant_micro, p_network);
  insert into accounts.login (account_id, email, email_key, password_hash)
  values (p_account, p_email, p_key, p_password_hash);
  delete from accounts.sign_up s where s.email_key = p_key;
end $$;

-- The account of a sign-up whose link was opened; null: the link is unknown, used or too old.
create function finish_sign_up(p_token_hash bytea, p_account uuid, p_tier text, p_grant_micro bigint)
returns uuid language plpgsql as $$
declare
  v accounts.sign_up;
begin
  delete from accounts.sign_up s where s.token_hash = p_token_hash and s.expires_at > now()
  returning s.* into v;
  if not found then
    return null;
  end if;
  perform accounts.make_login(p_account, v.email, v.email_key, v.password_hash, v.display_name,
                              v.referral_code, v.network, true, p_tier, p_grant_micro);
  return p_account;
end $$;

create function open_session(p_account uuid, p_id uuid, p_hash bytea, p_agent text, p_days int) returns void
language plpgsql as $$
begin
  insert into accounts.session (id, account_id, user_agent, expires_at)
  values (p_id, p_account, p_agent, now() + make_interval(days => p_days));
  insert into accounts.refresh_token (hash, session_id) values (p_hash, p_id);
  update accounts.session s set ended_at = clock_timestamp()
    from (select o.id from accounts.session o where o.account_id = p_account and o.ended_at is null
           order by o.created_at desc offset 50) old
   where s.id = old.id;
end $$;

-- Ends sessions of an account: one, or all but one. The ended ones.
create function end_sessions(p_account uuid, p_only uuid, p_but uuid) returns setof uuid
language sql as $$
  update accounts.session s set ended_at = clock_timestamp()
   where s.account_id = p_account and s.ended_at is null and (p_only is null or s.id = p_only)
     and s.id is distinct from p_but
  returning s.id
$$;

-- Gives the next refresh token for one. `outcome`: 'next', or 'reused': the token was used before, longer ago
-- than an answer takes to get lost, so two have it and its session has ended. No row: of no use.
create function refresh(p_hash bytea, p_next bytea, p_grace_seconds int, p_days int)
returns table (outcome text, session_id uuid, account_id uuid)
language plpgsql as $$
#variable_conflict use_column
declare
  v_session accounts.session;
  v_used timestamptz;
begin
  select s.* into v_session from accounts.session s
   where s.id = (select t.session_id from accounts.refresh_token t where t.hash = p_hash) for update;
  if not found or v_session.ended_at is not null or v_session.expires_at <= now() then
    return;
  end if;
  select t.used_at into v_used from accounts.refresh_token t where t.hash = p_hash;
  if v_used < clock_timestamp() - make_interval(secs => p_grace_seconds) then
    update accounts.session s set ended_at = clock_timestamp() where s.id = v_session.id;
    return query select 'reused', v_session.id, v_session.account_id;
    return;
  end if;
  update accounts.refresh_token t set used_at = coalesce(t.used_at, clock_timestamp()) where t.hash = p_hash;
  insert into accounts.refresh_token (hash, session_id) values (p_next, v_session.id);
  update accounts.session s
     set used_at = clock_timestamp(), expires_at = now() + make_interval(days => p_days)
   where s.id = v_session.id;
  return query select 'next', v_session.id, v_session.account_id;
end $$;

-- Sets the password whose reset link was opened and ends all sessions; null: the link is of no use.
create function finish_reset(p_token_hash bytea, p_password_hash text) returns uuid
language plpgsql as $$
declare
  v_account uuid;
begin
  delete from accounts.reset r where r.token_hash = p_token_hash and r.expires_at > now()
  returning r.account_id into v_account;
  if not found then
    return null;
  end if;
  perform accounts.set_password(v_account, p_password_hash, null);
  return v_account;
end $$;

-- Also ends the account's sessions but one, and the reset links that are under way. The ended sessions.
create function set_password(p_account uuid, p_password_hash text, p_keep uuid) returns setof uuid
language plpgsql as $$
begin
  update accounts.login l set password_hash = p_password_hash, changed_at = now()
   where l.account_id = p_account;
  delete from accounts.reset r where r.account_id = p_account;
  perform accounts.audit_add(p_account::text, 'password', p_account, '{}');
  perform core.job_enqueue('accounts.letter', jsonb_build_object('kind', 'changed', 'account', p_account));
  return query select e from accounts.end_sessions(p_account, null, p_keep) e;
end $$;

-- What an identity provider's webhook tells about somebody. False: this message was taken before.
create function identity_event(p_hook text, p_subject text, p_id uuid, p_email text, p_name text,
                               p_verified boolean, p_code text, p_network text, p_tier text,
                               p_grant_micro bigint)
returns boolean language plpgsql as $$
begin
  insert into accounts.webhook_seen (id) values (p_hook) on conflict do nothing;
  if not found then
    return false;
  end if;
  perform accounts.provision(p_subject, p_id, p_email, p_name, p_verified, p_code, p_tier, p_grant_micro,
                             p_network);
  return true;
end $$;

-- What is of no use any more.
create function tidy_logins() returns void language sql as $$
  delete from accounts.throttle where at < now() - interval '1 day';
  delete from accounts.sign_up where expires_at < now();
  delete from accounts.reset where expires_at < now();
  delete from accounts.refresh_token where used_at < now() - interval '1 day';
  delete from accounts.session where least(expires_at, ended_at) < now() - interval '1 day';
  delete from accounts.webhook_seen where at < now() - interval '30 days';
$$;
