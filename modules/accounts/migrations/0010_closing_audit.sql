-- ry: compatible
-- Nodes read the entries of closed accounts after a restart, to refuse tokens from before the closing. Streams' tokens live for
-- eight days, so these entries are kept for nine, also with a shorter accounts.audit_days.

-- Entries that are older may be deleted; null: none.
create function audit_kept_from(p_action text) returns timestamptz language sql stable as $$
  select now() - make_interval(days => case when p_action = 'account.delete' then greatest(s.audit_days, 9) else s.audit_days end)
    from accounts.setting s where s.audit_days > 0
$$;

create or replace function refuse_early_deletion() returns trigger language plpgsql as $$
begin
  if coalesce(old.at < accounts.audit_kept_from(old.action), false) then
    return old;
  end if;
  raise exception 'accounts.audit keeps its entries for accounts.audit_days' using errcode = 'restrict_violation';
end $$;

create or replace function tidy_audit(p_most bigint) returns bigint language sql as $$
  with gone as (
    delete from accounts.audit a where a.id in (
      select o.id from accounts.audit o
       where o.at < (select accounts.audit_kept_from('')) and o.at < accounts.audit_kept_from(o.action)
       order by o.at limit p_most)
    returning 1)
  select count(*) from gone
$$;
