-- A new password revokes the account's API keys: an intruder who knew the old password may have created one.

-- Each node reads the revoked keys and ends the sessions and stream tokens that were created with them.
create index api_key_revoked on api_key (revoked_at) where revoked_at is not null;

-- The keys of an account that work, as a mail lists them.
create function usable_keys(p_account uuid) returns jsonb language sql stable as $$
  select coalesce(jsonb_agg(jsonb_build_object('id', k.id, 'name', k.name,
           'last_used_at', to_char(k.last_used_at at time zone 'utc', 'YYYY-MM-DD HH24:MI "UTC"'))
           order by k.created_at, k.id), '[]')
    from accounts.api_key k
   where k.account_id = p_account and k.revoked_at is null and coalesce(k.expires_at > now(), true)
$$;

-- Revokes them. They are the same that usable_keys() lists, if the account is locked.
create function revoke_keys(p_actor text, p_account uuid) returns void language plpgsql as $$
declare
  v_key text;
begin
  for v_key in
    update accounts.api_key k set revoked_at = clock_timestamp()
     where k.account_id = p_account and k.revoked_at is null and coalesce(k.expires_at > now(), true)
    returning k.id
  loop
    perform accounts.audit_add(p_actor, 'api_key.revoke', p_account, jsonb_build_object('key', v_key));
  end loop;
end $$;

-- Sets the password, ends the account's sessions except p_keep, invalidates pending reset links and, unless p_keep_keys, revokes
-- the API keys. The e-mail lists the keys in both cases. Returns the ended sessions.
create function set_password(p_account uuid, p_password_hash text, p_keep uuid, p_keep_keys boolean)
returns setof uuid language plpgsql as $$
declare
  v_keys jsonb;
begin
  -- No key is made meanwhile: add_key() takes this lock, and then finds its session ended.
  perform 1 from accounts.lock_account(p_account);
  update accounts.login l set password_hash = p_password_hash, changed_at = now()
   where l.account_id = p_account;
  delete from accounts.reset r where r.account_id = p_account;
  perform accounts.audit_add(p_account::text, 'password', p_account, '{}');
  v_keys := accounts.usable_keys(p_account);
  if not p_keep_keys then
    perform accounts.revoke_keys(p_account::text, p_account);
  end if;
  perform core.job_enqueue('accounts.letter', jsonb_build_object('kind', 'changed', 'account', p_account,
    'keys', v_keys, 'keys_kept', p_keep_keys));
  return query select e from accounts.end_sessions(p_account, null, p_keep) e;
end $$;

create or replace function set_password(p_account uuid, p_password_hash text, p_keep uuid) returns setof uuid
language sql as $$
  select accounts.set_password(p_account, p_password_hash, p_keep, false)
$$;

-- Ends all sessions of an account and, if wanted, revokes its API keys. When it has keys a mail lists them.
create function end_all_sessions(p_account uuid, p_revoke_keys boolean) returns void language plpgsql as $$
declare
  v_keys jsonb;
begin
  perform 1 from accounts.lock_account(p_account);
  v_keys := accounts.usable_keys(p_account);
  if p_revoke_keys then
    perform accounts.revoke_keys(p_account::text, p_account);
  end if;
  if v_keys <> '[]' then
    perform core.job_enqueue('accounts.letter', jsonb_build_object('kind', 'ended', 'account', p_account,
      'keys', v_keys, 'keys_kept', not p_revoke_keys));
  end if;
  perform accounts.end_sessions(p_account, null, null);
end $$;

-- As before, announced by a mail. p_session: that of the caller, when it has one; RY401: it has ended meanwhile.
create function add_key(p_actor text, p_account uuid, p_id text, p_name text, p_hash bytea, p_days int,
                        p_most bigint, p_session uuid) returns text
language plpgsql as $$
declare
  v_key text;
begin
  perform 1 from accounts.lock_account(p_account);
  if exists (select from accounts.session s
              where s.id = p_session and s.account_id = p_account and s.ended_at is not null) then
    raise sqlstate 'RY401' using message = 'Not authenticated';
  end if;
  v_key := accounts.add_key(p_actor, p_account, p_id, p_name, p_hash, p_days, p_most);
  if v_key is not null then
    perform core.job_enqueue('accounts.letter',
      jsonb_build_object('kind', 'key', 'account', p_account, 'key', p_id, 'name', p_name));
  end if;
  return v_key;
end $$;

-- Deletes expired rows. The audit log keeps a record of deleted keys.
create or replace function tidy_logins() returns void language sql as $$
  delete from accounts.throttle where at < now() - interval '1 day';
  delete from accounts.sign_up where expires_at < now();
  delete from accounts.reset where expires_at < now();
  delete from accounts.refresh_token where used_at < now() - interval '1 day';
  delete from accounts.session where least(expires_at, ended_at) < now() - interval '1 day';
  delete from accounts.webhook_seen where at < now() - interval '30 days';
  delete from accounts.api_key where least(revoked_at, expires_at) < now() - interval '30 days';
$$;
