-- A session has a limited number of unused refresh tokens: within the grace period one token has any number of successors.

alter table refresh_token add column created_at timestamptz not null default now();
create index refresh_token_unused on refresh_token (session_id, created_at) where used_at is null;

-- Keeps the newest ten.
create function trim_refresh_tokens(p_session uuid) returns void language sql as $$
  delete from accounts.refresh_token t where t.hash in (
    select o.hash from accounts.refresh_token o
     where o.session_id = p_session and o.used_at is null
     order by o.created_at desc, o.hash offset 10)
$$;

do $$
begin
  perform accounts.trim_refresh_tokens(s.id) from accounts.session s;
end $$;

-- As before, and deletes the oldest unused tokens.
create or replace function refresh(p_hash bytea, p_next bytea, p_grace_seconds int, p_days int)
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
  -- Another refresh may have deleted the token before this one had the lock.
  select t.used_at into v_used from accounts.refresh_token t where t.hash = p_hash;
  if not found then
    return;
  end if;
  if v_used < clock_timestamp() - make_interval(secs => p_grace_seconds) then
    update accounts.session s set ended_at = clock_timestamp() where s.id = v_session.id;
    return query select 'reused', v_session.id, v_session.account_id;
    return;
  end if;
  update accounts.refresh_token t set used_at = coalesce(t.used_at, clock_timestamp()) where t.hash = p_hash;
  insert into accounts.refresh_token (hash, session_id, created_at) values (p_next, v_session.id, clock_timestamp());
  perform accounts.trim_refresh_tokens(v_session.id);
  update accounts.session s
     set used_at = clock_timestamp(), expires_at = now() + make_interval(days => p_days)
   where s.id = v_session.id;
  return query select 'next', v_session.id, v_session.account_id;
end $$;
