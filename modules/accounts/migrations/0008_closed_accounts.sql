-- Accounts can be closed. Accounts of anonymous users get no starting credits until they are permanent.

-- A closed account keeps its row, without anything about its owner: ledger, audit and runs in progress refer to it.
alter table account add column closed_at timestamptz;
alter table account add column anonymous boolean not null default false;

-- Subjects whose accounts were closed, as a hash. Their tokens that were issued before that are refused; with a newer one
-- they get another account, without starting credits.
create table closed_subject (
  subject_hash bytea primary key,
  closed_at timestamptz not null default clock_timestamp()
);

create function subject_hash(p_subject text) returns bytea language sql immutable as $$
  select sha256(convert_to(p_subject, 'UTF8'))
$$;

create index audit_closed on audit (at) where action = 'account.delete';

-- The mailbox of an account, as a hash; null: it has no address.
alter table account add column mailbox bytea;

create function mailbox_hash(p_address text) returns bytea language sql immutable as $$
  select sha256(convert_to(accounts.mailbox(nullif(p_address, '')), 'UTF8'))
$$;

-- The account that was first to have a mailbox owns it, also after it was closed: one mailbox is one person.
create table mailbox_owner (
  mailbox bytea primary key,
  account_id uuid not null,
  verified boolean not null  -- false: a verified account may take its place
);

create index account_mailbox on account (mailbox);

update account a set mailbox = accounts.mailbox_hash(a.email) where a.email <> '';
insert into mailbox_owner (mailbox, account_id, verified)
select distinct on (a.mailbox) a.mailbox, a.id, a.verified_at is not null from accounts.account a where a.mailbox is not null
 order by a.mailbox, a.verified_at is null, a.created_at, a.id;

-- Whether the address of an account can be confirmed: not where its owner logs in here without e-mail verification.
alter table setting add column verifies boolean not null default true;

create function can_verify(account uuid) returns boolean language plpgsql stable as $$
begin
  return (select s.verifies from accounts.setting s)
         or not exists (select from accounts.login l where l.account_id = can_verify.account);
end $$;

-- An unverified address may belong to another person, so it owns no mailbox while it can be verified. A verified account
-- replaces an unverified owner.
create function claim_mailbox(p_account uuid) returns void language sql as $$
  insert into accounts.mailbox_owner (mailbox, account_id, verified)
  select a.mailbox, a.id, true from accounts.account a
   where a.id = p_account and a.mailbox is not null and not a.anonymous
     and (a.verified_at is not null or not accounts.can_verify(a.id))
  on conflict (mailbox) do update set account_id = excluded.account_id, verified = true where not mailbox_owner.verified
$$;

-- False: another account had the mailbox before. Of unverified accounts the oldest counts.
create function owns_mailbox(account uuid) returns boolean language plpgsql stable as $$
declare
  v accounts.account;
  v_owner uuid;
begin
  select * into v from accounts.account a where a.id = owns_mailbox.account;
  if v.mailbox is null then
    return true;
  end if;
  select o.account_id into v_owner from accounts.mailbox_owner o where o.mailbox = v.mailbox;
  if found then
    return v_owner = v.id;
  end if;
  return not exists (select from accounts.account a
                      where a.mailbox = v.mailbox and (a.created_at, a.id) < (v.created_at, v.id));
end $$;

-- Nothing is added to a closed account: a request that began before waits for the closing here and is then refused.
create function require_open_account() returns trigger language plpgsql as $$
begin
  perform 1 from accounts.account a where a.id = new.account_id and a.closed_at is null for key share;
  if not found then
    raise sqlstate 'RY401' using message = 'Not authenticated';
  end if;
  return new;
end $$;
create trigger open_account before insert on session for each row execute function require_open_account();
create trigger open_account before insert on api_key for each row execute function require_open_account();
create trigger open_account before insert on login for each row execute function require_open_account();

-- Whether an account can be verified depends on its log-in, which is made after the account.
create function claim_mailbox_of_login() returns trigger language plpgsql as $$
begin
  perform accounts.claim_mailbox(new.account_id);
  return null;
end $$;
create trigger mailbox_of_login after insert on login for each row execute function claim_mailbox_of_login();

-- As the former ones, without closed accounts: nothing starts for them.
create or replace function lock_account(account uuid) returns table (tier text, balance_micro bigint)
language plpgsql as $$
begin
  return query select a.tier, a.balance_micro from accounts.account a where a.id = lock_account.account and a.closed_at is null
               for no key update;
end $$;

create or replace function try_lock_accounts(accounts uuid[], out tiers text[], out balances bigint[])
language plpgsql set plan_cache_mode = force_generic_plan as $$
begin
  select array_agg(l.tier order by w.n), array_agg(l.balance_micro order by w.n) into tiers, balances
    from unnest(try_lock_accounts.accounts) with ordinality w (account, n)
    left join lateral (select a.tier, a.balance_micro from accounts.account a
                        where a.id = w.account and a.closed_at is null for no key update skip locked) l on true;
end $$;

create or replace function try_lock_account(account uuid, out tier text, out balance_micro bigint)
language plpgsql set plan_cache_mode = force_generic_plan as $$
begin
  select a.tier, a.balance_micro into tier, balance_micro from accounts.account a
   where a.id = try_lock_account.account and a.closed_at is null for no key update skip locked;
end $$;

-- The starting grant of a new or newly permanent account: once per mailbox, and not after another account of the subject
-- was closed.
create function grant_start(p_account uuid, p_subject text, p_micro bigint, p_tier text) returns void
language plpgsql as $$
declare
  v_mailbox bytea;
begin
  perform accounts.claim_mailbox(p_account);
  if p_micro <= 0 or exists (
       select from accounts.closed_subject c where c.subject_hash = accounts.subject_hash(p_subject)) then
    return;
  end if;
  select a.mailbox into v_mailbox from accounts.account a where a.id = p_account;
  if v_mailbox is not null then
    -- Of two accounts made at once the second one waits here for the first.
    insert into accounts.granted_mailbox (mailbox) values (v_mailbox) on conflict do nothing;
    if not found then
      return;
    end if;
  end if;
  perform accounts.ledger_add(p_account, p_micro, 'grant', 'start:' || p_account, jsonb_build_object('tier', p_tier));
end $$;

-- As the former one. p_anonymous: the identity provider does not know who it is; such an account has neither starting
-- credits nor a referrer. Null: not said, as by an API key. p_issued: when the token was issued; null: not known. RY401: the account of the subject was closed.
create function provision(p_subject text, p_id uuid, p_email text, p_name text, p_verified boolean,
                          p_referral_code text, p_tier text, p_grant_micro bigint,
                          p_network text, p_phone text, p_avatar text, p_mailbox text,
                          p_anonymous boolean, p_issued timestamptz)
returns table (id uuid, subject text, tier text, role smallint, email text, display_name text,
               verified boolean, fresh boolean)
language plpgsql as $$
#variable_conflict use_column
declare
  v accounts.account;
  v_fresh boolean := false;
  v_newly_verified boolean := false;
  v_newly_permanent boolean := false;
begin
  select * into v from accounts.account a where a.subject = p_subject;
  if not found then
    if exists (select from accounts.closed_subject c where c.subject_hash = accounts.subject_hash(p_subject)
                 and coalesce(p_issued <= c.closed_at, true)) then
      raise sqlstate 'RY401' using message = 'Not authenticated';
    end if;
    insert into accounts.account as a (id, subject, tier, email, display_name, phone, avatar, verified_at, anonymous,
                                        mailbox)
    values (coalesce((select p_id where not exists (
                        select from accounts.account o where o.id = p_id and o.closed_at is not null)),
                     accounts.new_id()),
            p_subject, p_tier, p_email, p_name, p_phone, p_avatar, case when p_verified then now() end,
            coalesce(p_anonymous, false), accounts.mailbox_hash(coalesce(nullif(p_mailbox, ''), p_email)))
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

  if v.closed_at is not null then
    raise sqlstate 'RY401' using message = 'Not authenticated';
  end if;
  if v_fresh then
    v_newly_verified := p_verified;
    perform core.event_publish('account.created', v.id::text,
      jsonb_strip_nulls(jsonb_build_object('account_id', v.id, 'email', v.email, 'name', v.display_name,
        'referral_code', case when not v.anonymous then nullif(p_referral_code, '') end,
        'network', nullif(p_network, ''))));
    if not v.anonymous then
      perform accounts.grant_start(v.id, p_subject, p_grant_micro, p_tier);
    end if;
  elsif (p_verified and v.verified_at is null) or (p_email <> '' and p_email <> v.email)
        or (p_name <> '' and p_name <> v.display_name) or (p_phone <> '' and p_phone <> v.phone)
        or (p_avatar <> '' and p_avatar <> v.avatar) or (v.anonymous and p_anonymous is false) then
    -- Locked first: of two calls at once only one sees the account unverified or anonymous.
    select * into v from accounts.account a where a.subject = p_subject for no key update;
    v_newly_verified := p_verified and v.verified_at is null;
    v_newly_permanent := v.anonymous and p_anonymous is false;
    update accounts.account a
       set email = coalesce(nullif(p_email, ''), a.email),
           display_name = coalesce(nullif(p_name, ''), a.display_name),
           phone = coalesce(nullif(p_phone, ''), a.phone), avatar = coalesce(nullif(p_avatar, ''), a.avatar),
           anonymous = a.anonymous and not v_newly_permanent,
           mailbox = case when p_email <> '' and p_email <> a.email
                          then accounts.mailbox_hash(coalesce(nullif(p_mailbox, ''), p_email)) else a.mailbox end,
           -- A changed address is unverified unless the identity provider says otherwise.
           verified_at = case when v_newly_verified then now()
                              when not p_verified and p_email <> '' and lower(p_email) <> lower(a.email) then null
                              else a.verified_at end
     where a.id = v.id
     returning a.* into v;
    if v_newly_permanent then
      perform accounts.grant_start(v.id, p_subject, p_grant_micro, v.tier);
    elsif not v.anonymous then
      perform accounts.claim_mailbox(v.id);
    end if;
  end if;
  if v_newly_verified then
    perform accounts.claim_mailbox(v.id);
    perform core.event_publish('account.verified', v.id::text,
                               jsonb_build_object('account_id', v.id));
  end if;
  return query select v.id, v.subject, v.tier, v.role, v.email, v.display_name,
                      v.verified_at is not null, v_fresh;
end $$;

-- Of log-ins, and of nodes that run the former release.
create or replace function provision(p_subject text, p_id uuid, p_email text, p_name text, p_verified boolean,
                          p_referral_code text, p_tier text, p_grant_micro bigint,
                          p_network text, p_phone text, p_avatar text, p_mailbox text)
returns table (id uuid, subject text, tier text, role smallint, email text, display_name text,
               verified boolean, fresh boolean)
language plpgsql as $$
begin
  return query select * from accounts.provision(p_subject, p_id, p_email, p_name, p_verified, p_referral_code, p_tier,
                                                p_grant_micro, p_network, p_phone, p_avatar, p_mailbox, false, null);
end $$;

-- As the former one. A message about a subject whose account was closed changes nothing: messages arrive in any order.
create function identity_event(p_hook text, p_subject text, p_id uuid, p_email text, p_name text,
                               p_verified boolean, p_code text, p_network text, p_tier text,
                               p_grant_micro bigint, p_mailbox text, p_anonymous boolean)
returns boolean language plpgsql as $$
begin
  insert into accounts.webhook_seen (id) values (p_hook) on conflict do nothing;
  if not found then
    return false;
  end if;
  if exists (select from accounts.closed_subject c where c.subject_hash = accounts.subject_hash(p_subject))
     and not exists (select from accounts.account a where a.subject = p_subject) then
    return false;
  end if;
  perform accounts.provision(p_subject, p_id, p_email, p_name, p_verified, p_code, p_tier, p_grant_micro,
                             p_network, '', '', p_mailbox, p_anonymous, null);
  return true;
end $$;

create or replace function identity_event(p_hook text, p_subject text, p_id uuid, p_email text, p_name text,
                               p_verified boolean, p_code text, p_network text, p_tier text,
                               p_grant_micro bigint, p_mailbox text)
returns boolean language sql as $$
  select accounts.identity_event(p_hook, p_subject, p_id, p_email, p_name, p_verified, p_code, p_network, p_tier,
                                 p_grant_micro, p_mailbox, false)
$$;

-- Closes an account: removes what is known of its owner and how the owner logs in, ends sessions, revokes API keys.
-- Consumers of account.deleted remove the rest. False: there is no such account.
create function close_account(p_actor text, p_account uuid, p_detail jsonb) returns boolean language plpgsql as $$
declare
  v accounts.account;
begin
  select * into v from accounts.account a where a.id = p_account and a.closed_at is null for update;
  if not found then
    return false;
  end if;
  perform accounts.audit_add(p_actor, 'account.delete', p_account, p_detail);
  -- Also for an unverified account: closing and signing up again must not count as a new person.
  insert into accounts.mailbox_owner (mailbox, account_id, verified)
  select v.mailbox, p_account, false where v.mailbox is not null
  on conflict do nothing;
  insert into accounts.closed_subject (subject_hash) values (accounts.subject_hash(v.subject))
  on conflict (subject_hash) do update set closed_at = excluded.closed_at;
  update accounts.session s set ended_at = coalesce(s.ended_at, clock_timestamp()), user_agent = ''
   where s.account_id = p_account;
  update accounts.api_key k set revoked_at = coalesce(k.revoked_at, clock_timestamp()), name = ''
   where k.account_id = p_account;
  delete from accounts.sign_up s using accounts.login l where l.account_id = p_account and s.email_key = l.email_key;
  delete from accounts.reset r where r.account_id = p_account;
  delete from accounts.login l where l.account_id = p_account;
  update accounts.account a
     set subject = 'closed:' || a.id, email = '', display_name = '', phone = '', avatar = '', verified_at = null, role = 0,
         mailbox = null, closed_at = clock_timestamp()
   where a.id = p_account;
  perform core.event_publish('account.deleted', p_account::text, jsonb_build_object('account_id', p_account));
  return true;
end $$;

-- The same for the user of an identity provider, once per message. A subject that has no account yet is remembered, too:
-- its tokens are good no longer.
create function identity_deleted(p_hook text, p_subject text) returns boolean language plpgsql as $$
declare
  v_account uuid;
begin
  insert into accounts.webhook_seen (id) values (p_hook) on conflict do nothing;
  if not found then
    return false;
  end if;
  select a.id into v_account from accounts.account a where a.subject = p_subject;
  if not found then
    insert into accounts.closed_subject (subject_hash) values (accounts.subject_hash(p_subject)) on conflict do nothing;
    return false;
  end if;
  return accounts.close_account('identity_webhook', v_account, jsonb_build_object('message', p_hook));
end $$;

-- Closed accounts have no owner who could be reached.
create or replace function contact(account uuid) returns table (email text, display_name text, verified boolean)
language plpgsql stable as $$
#variable_conflict use_column
begin
  return query select a.email, a.display_name, a.verified_at is not null
                 from accounts.account a where a.id = contact.account and a.closed_at is null;
end $$;

create or replace function profile(account uuid) returns table (phone text, avatar text) language plpgsql stable as $$
#variable_conflict use_column
begin
  return query select a.phone, a.avatar from accounts.account a where a.id = profile.account and a.closed_at is null;
end $$;

create or replace function ids_after(account uuid, most bigint) returns setof uuid language plpgsql stable as $$
begin
  return query select a.id from accounts.account a
                where (ids_after.account is null or a.id > ids_after.account) and a.closed_at is null
                order by a.id limit ids_after.most;
end $$;

-- Events that an administrator published, so that a repeat of the same key publishes nothing.
create table published_event (
  kind text not null,
  key text not null,
  payload_hash bytea not null,
  event_id bigint not null,
  at timestamptz not null default now(),
  primary key (kind, key)
);

-- Ended sessions stay known for as long as a token in the address of a stream may live.
create or replace function tidy_logins() returns void language sql as $$
  delete from accounts.throttle where at < now() - interval '1 day';
  delete from accounts.sign_up where expires_at < now();
  delete from accounts.reset where expires_at < now();
  delete from accounts.refresh_token where used_at < now() - interval '1 day';
  delete from accounts.session where least(expires_at, ended_at) < now() - interval '9 days';
  delete from accounts.webhook_seen where at < now() - interval '30 days';
  delete from accounts.api_key where least(revoked_at, expires_at) < now() - interval '30 days';
  delete from accounts.published_event where at < now() - interval '90 days';
$$;

-- Publishes an event for an account. RY404: there is no such account, RY409: the key was used with another payload.
create function publish_event(p_actor text, p_kind text, p_key text, p_account uuid, p_payload jsonb)
returns table (event_id bigint, replayed boolean) language plpgsql as $$
#variable_conflict use_column
declare
  v_hash bytea := sha256(convert_to(p_payload::text, 'UTF8'));
  v accounts.published_event;
begin
  perform pg_advisory_xact_lock(hashtextextended('accounts.event:' || p_kind || ':' || p_key, 0));
  select * into v from accounts.published_event e where e.kind = p_kind and e.key = p_key;
  if found then
    if v.payload_hash <> v_hash then
      raise sqlstate 'RY409' using message = 'This key was used before with another payload',
        detail = '{"message": "This key was used before with another payload", "error_code": "IDEMPOTENCY_KEY_REUSED"}';
    end if;
    return query select v.event_id, true;
    return;
  end if;
  if not exists (select from accounts.account a where a.id = p_account and a.closed_at is null) then
    raise sqlstate 'RY404' using message = 'Account not found';
  end if;
  event_id := core.event_publish(p_kind, p_account::text, p_payload);
  replayed := false;
  insert into accounts.published_event (kind, key, payload_hash, event_id) values (p_kind, p_key, v_hash, event_id);
  perform accounts.audit_add(p_actor, 'event.publish', p_account,
                             jsonb_build_object('kind', p_kind, 'key', p_key, 'event', event_id));
  return next;
end $$;
