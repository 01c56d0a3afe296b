-- A recipient who unsubscribed with the link of an e-mail stays unsubscribed until the same link, or the verified owner of the address,
-- subscribes again. The preferences of the account show it: {"email": false, "unsubscribed": true}.

-- Only the verified owner of an address changes its subscriptions.
create function owns_address(p_account uuid) returns boolean language sql stable as $$
  select exists (select from accounts.contact(p_account) c where c.email <> '' and (c.verified or not accounts.can_verify(p_account)))
$$;

-- The preference for one workflow after a request for it; null: the default.
create function merged_preference(p_old jsonb, p_new jsonb, p_owner boolean) returns jsonb language sql immutable as $$
  select case
    when p_old ? 'unsubscribed' and not p_owner then
      case when jsonb_typeof(p_new) = 'object' then p_old || p_new else '{}' end || '{"email": false, "unsubscribed": true}'
    when jsonb_typeof(p_new) <> 'object' then null
    when coalesce((p_new ->> 'email')::boolean, false) then (coalesce(p_old, '{}') || p_new) - 'unsubscribed'
    else coalesce(p_old, '{}') || p_new end
$$;

-- As in 0005, with merged_preference().
create or replace function put_preferences(p_account uuid, p_zone text, p_quiet boolean, p_from time, p_to time,
                                p_workflows jsonb) returns text language plpgsql as $$
declare
  v notifications.preference;
  v_workflows jsonb;
  v_owner boolean := notifications.owns_address(p_account);
begin
  insert into notifications.preference (account_id) values (p_account) on conflict do nothing;
  select * into v from notifications.preference p where p.account_id = p_account for update;
  -- To list the zones takes its time: not for the one that is there.
  if p_zone <> v.time_zone and not exists (
       select 1 from pg_timezone_names z where z.name = p_zone and z.name not in ('localtime', 'posixrules')) then
    return 'time_zone';
  end if;
  select coalesce(jsonb_object_agg(w.key, w.value), '{}') into v_workflows
    from (select o.key, o.value from jsonb_each(v.workflows) o where not p_workflows ? o.key
          union all
          select n.key, notifications.merged_preference(v.workflows -> n.key, n.value, v_owner)
            from jsonb_each(p_workflows) n) w
   where w.value is not null;
  if (select count(*) from jsonb_object_keys(v_workflows)) > 100 then
    return 'workflows';
  end if;
  update notifications.preference p
     set time_zone = coalesce(p_zone, v.time_zone),
         quiet_from = case when p_quiet then p_from else v.quiet_from end,
         quiet_to = case when p_quiet then p_to else v.quiet_to end,
         workflows = v_workflows
   where p.account_id = p_account;
  if p_zone <> v.time_zone or (p_quiet and (p_from is distinct from v.quiet_from or p_to is distinct from v.quiet_to)) then
    perform notifications.release_waiting(p_account, null);
  end if;
  perform notifications.release_waiting(p_account, (select array_agg(w.key) from jsonb_object_keys(p_workflows) w (key)
    where coalesce((v.workflows -> w.key ->> 'digest_minutes')::int, 0) > coalesce((v_workflows -> w.key ->> 'digest_minutes')::int, 0)))
    where exists (select 1 from jsonb_object_keys(p_workflows) w (key)
    where coalesce((v.workflows -> w.key ->> 'digest_minutes')::int, 0) > coalesce((v_workflows -> w.key ->> 'digest_minutes')::int, 0));
  perform core.event_publish('notifications.mail_preference', p_account::text,
            jsonb_build_object('address', c.email, 'category', notifications.mail_category(w.key), 'wanted', true))
     from accounts.contact(p_account) c, jsonb_each(p_workflows) w
    where v_owner and case when jsonb_typeof(w.value) = 'object' then coalesce((w.value ->> 'email')::boolean, false)
                                 else not coalesce((v.workflows -> w.key ->> 'email')::boolean, true) end;
  return '';
end $$;

-- As in 0006; marks what the link turned off.
create or replace function follow_subscription(p_account uuid, p_category text, p_subscribed boolean) returns void language plpgsql as $$
begin
  insert into notifications.preference (account_id) values (p_account) on conflict do nothing;
  perform 1 from notifications.preference p where p.account_id = p_account for update;
  update notifications.preference p
     set workflows = p.workflows || coalesce((
           select jsonb_object_agg(w.name, (coalesce(p.workflows -> w.name, '{}') - 'unsubscribed')
                || case when p_subscribed then '{"email": true}' else '{"email": false, "unsubscribed": true}' end::jsonb)
             from (select unnest(array['welcome-email', 'task-completed', 'task-failed', 'payment-succeeded', 'payment-failed',
                                       'credits-low', 'referral-successful', 'promotional']) as name
                   union select jsonb_object_keys(p.workflows)
                   union (select n.workflow from notifications.notification n where n.account_id = p_account
                           order by n.id desc limit 1000)) w
            where notifications.mail_category(w.name) = p_category), '{}')
   where p.account_id = p_account;
end $$;
