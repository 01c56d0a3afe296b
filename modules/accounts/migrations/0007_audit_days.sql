-- Entries of the audit are kept for a limited time; no entry is deleted before it.

alter table setting add column audit_days int not null default 365 check (audit_days >= 0);  -- 0: without end

create function refuse_early_deletion() returns trigger language plpgsql as $$
begin
  if coalesce(old.at < now() - make_interval(days => (select nullif(s.audit_days, 0) from accounts.setting s)), false) then
    return old;
  end if;
  raise exception 'accounts.audit keeps its entries for accounts.audit_days' using errcode = 'restrict_violation';
end $$;

drop trigger audit_append_only on audit;
create trigger audit_append_only before update or truncate on audit
  for each statement execute function refuse_change();
create trigger audit_kept before delete on audit
  for each row execute function refuse_early_deletion();

-- Deletes at most p_most of the entries that are too old, the oldest first. Returns how many there were.
create function tidy_audit(p_most bigint) returns bigint language sql as $$
  with gone as (
    delete from accounts.audit a where a.id in (
      select o.id from accounts.audit o
       where o.at < now() - make_interval(days => (select nullif(s.audit_days, 0) from accounts.setting s))
       order by o.at limit p_most)
    returning 1)
  select count(*) from gone
$$;

-- Revokes a key of an account, with an audit entry the first time. False: the account has no such key.
create function revoke_key(p_actor text, p_account uuid, p_id text) returns boolean language plpgsql as $$
begin
  update accounts.api_key k set revoked_at = now()
   where k.id = p_id and k.account_id = p_account and k.revoked_at is null;
  if found then
    perform accounts.audit_add(p_actor, 'api_key.revoke', p_account, jsonb_build_object('key', p_id));
    return true;
  end if;
  return exists (select from accounts.api_key k where k.id = p_id and k.account_id = p_account);
end $$;
