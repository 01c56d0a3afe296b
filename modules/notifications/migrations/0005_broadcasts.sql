-- Broadcasts that can be scheduled, paused and cancelled; e-mails that are throttled are gathered; preferences that release what
-- waits, and follow the unsubscribe links.

create table broadcast (
  id uuid primary key,
  workflow text not null,
  payload jsonb not null,                -- as the admin wrote it
  state text not null check (state in ('scheduled', 'running', 'paused', 'cancelled', 'completed')),
  created_by text not null,
  created_at timestamptz not null default clock_timestamp(),
  scheduled_at timestamptz,              -- null: at once
  started_at timestamptz,
  ended_at timestamptz,
  after uuid,                            -- the last account for which a notification was written
  written bigint not null default 0
);
create index broadcast_newest on broadcast (created_at desc, id desc);

alter table notification
  add column broadcast_id uuid,
  add column job_id bigint,              -- the only job that may deliver it; null: any
  add column left_out boolean not null default false;  -- of a digest: its thread was being viewed
create index notification_broadcast on notification (broadcast_id, state) where broadcast_id is not null;
create index notification_waiting on notification (account_id) where state = 'queued';

alter table setting add column task_email_minutes int not null default 0;

-- Whether an e-mail about a task of this duration is wanted.
create function is_long_enough(p_account uuid, p_workflow text, p_duration_ms bigint) returns boolean language sql stable as $$
  select p_duration_ms >= 60000 * coalesce((select (p.workflows -> p_workflow ->> 'min_minutes')::int from notifications.preference p
                                             where p.account_id = p_account), s.task_email_minutes)
    from notifications.setting s
$$;

create function is_transactional(p_workflow text) returns boolean language sql immutable as $$
  select p_workflow in ('welcome-email', 'task-completed', 'task-failed', 'payment-succeeded', 'payment-failed', 'credits-low',
                        'referral-successful')
$$;

-- The category of a workflow's e-mail, as the module mail knows it.
create function mail_category(p_workflow text) returns text language sql immutable as $$
  select left(regexp_replace(p_workflow, '[^a-z]', '_', 'g'), 32)
$$;

-- The number of the event that a notification is about; 0 for those of admins.
create function event_of(p_key text) returns bigint language sql immutable as $$
  select coalesce(substring(p_key from '^[^:]*:([0-9]{1,18}):')::bigint, 0)
$$;

-- As the former notify. p_details: more about the event for its e-mail (kept in the payload as "$details", not in the inbox).
-- p_broadcast: the broadcast that it is a part of; those and offers go behind what accounts wait for.
create function notify(p_key text, p_account uuid, p_workflow text, p_payload jsonb, p_asked int,
                       p_thread uuid, p_viewed boolean, p_refused text, p_title text, p_body text,
                       p_url text, p_ttl_seconds bigint,
                       p_inbox_most bigint, p_details jsonb, p_broadcast uuid)
returns table (id uuid, outcome text, reason text, inbox_version bigint, inbox_evicted bigint) language plpgsql as $$
#variable_conflict use_column
declare
  v_allowed int;
  v_rest int;
  v_minutes int := 0;
  v_at timestamptz := clock_timestamp();
  v_carrier uuid;
  v_gathering boolean := false;
begin
  reason := '';
  inbox_evicted := 0;
  v_allowed := notifications.allowed(p_account, p_workflow, p_asked);
  if p_details ? 'duration_ms' and not notifications.is_long_enough(p_account, p_workflow, (p_details ->> 'duration_ms')::bigint) then
    v_allowed := v_allowed & ~1;
  end if;
  v_rest := v_allowed & 3;
  if p_refused <> '' then
    outcome := 'failed';
    reason := p_refused;
  elsif p_thread is not null and (p_viewed or notifications.is_viewing(p_account, p_thread)) then
    outcome := 'suppressed';
    reason := 'User is actively viewing thread';
  elsif v_allowed = 0 then
    outcome := 'suppressed';
    reason := 'The account''s settings do not want it';
  elsif v_rest = 0 then
    outcome := 'sent';
  else
    outcome := 'queued';
    if not notifications.is_urgent(p_workflow) then
      select coalesce((p.workflows -> p_workflow ->> 'digest_minutes')::int, 0) into v_minutes
        from notifications.preference p where p.account_id = p_account;
    end if;
  end if;
  if outcome = 'queued' and v_minutes > 0 then
    -- Of several at once one becomes the carrier.
    perform pg_advisory_xact_lock(hashtextextended('notifications ' || p_account || ' ' || p_workflow, 0));
    select n.id into v_carrier from notifications.notification n
     where n.account_id = p_account and n.workflow = p_workflow and n.gathering for update;
    if found then
      outcome := 'gathered';
    else
      v_gathering := true;
      v_at := v_at + make_interval(mins => v_minutes);
    end if;
  end if;

  insert into notifications.notification as n
    (id, key, tid, account_id, workflow, payload, thread_id, state, reason, pending, gathering, carrier,
     ttl, expires_at, ended_at, broadcast_id)
  values (notifications.new_id(), p_key, left(encode(sha256(convert_to(p_key, 'UTF8')), 'hex'), 32),
          p_account, p_workflow,
          -- An unverified address may belong to another person, who must not receive text that the account chose.
          case when p_details is null then p_payload
               else p_payload || jsonb_build_object('$details', case when accounts.can_verify(p_account)
                 and not coalesce((select c.verified from accounts.contact(p_account) c), false)
                 then p_details - 'result' else p_details end) end, p_thread, outcome, reason,
          case when outcome in ('queued', 'gathered') then v_rest else 0 end, v_gathering, v_carrier,
          make_interval(secs => p_ttl_seconds), v_at + make_interval(secs => p_ttl_seconds), case when outcome <> 'queued' then clock_timestamp() end,
          p_broadcast)
  on conflict do nothing  -- also by the tid, which comes from the key
  returning n.id into id;
  if not found then
    select n.id, n.reason into id, reason from notifications.notification n where n.key = p_key;
    outcome := 'duplicate';
    return next;
    return;
  end if;
  if outcome in ('queued', 'gathered', 'sent') and v_allowed & 4 <> 0 then
    select a.version, a.evicted into inbox_version, inbox_evicted
      from notifications.inbox_add(p_account, id, p_workflow, p_title, p_body, p_url, p_payload, p_inbox_most) a;
    insert into notifications.delivery (notification_id, account_id, channel, state, provider)
    values (id, p_account, 4, 'delivered', 'inbox');
  end if;
  if outcome = 'queued' then
    perform core.job_enqueue('notifications.deliver', jsonb_build_object('id', id), 'notifications',
                             case when p_broadcast is not null or not notifications.is_transactional(p_workflow) then 10 else 0 end,
                             case when v_gathering then v_at end, null, 1000);
  end if;
  return next;
end $$;

-- For nodes that run the former release.
create or replace function notify(p_key text, p_account uuid, p_workflow text, p_payload jsonb, p_asked int,
                       p_thread uuid, p_viewed boolean, p_refused text, p_title text, p_body text,
                       p_url text, p_ttl_seconds bigint, p_inbox_most bigint)
returns table (id uuid, outcome text, reason text, inbox_version bigint, inbox_evicted bigint) language sql as $$
  select * from notifications.notify(p_key, p_account, p_workflow, p_payload, p_asked, p_thread, p_viewed, p_refused, p_title, p_body,
                                     p_url, p_ttl_seconds, p_inbox_most, null, null)
$$;

-- The carrier of a digest that is left out of it is not sent.
create or replace function settle(p_id uuid, p_state text, p_reason text) returns void language sql as $$
  update notifications.notification n
     set state = case when n.left_out and p_state in ('sent', 'failed', 'dead') then 'suppressed' else p_state end,
         reason = case when n.left_out and p_state in ('sent', 'failed', 'dead') then 'User is actively viewing thread' else p_reason end,
         under_way = false, gathering = false, ended_at = coalesce(n.ended_at, clock_timestamp())
   where n.id = p_id or n.carrier = p_id
$$;

-- As before; in the order of the events, and a carrier that is left out is marked.
create or replace function leave_out_viewed(v notifications.notification, out over boolean, out payload jsonb, out items jsonb)
language plpgsql as $$
#variable_conflict use_column
declare
  v_viewed boolean := v.thread_id is not null and notifications.is_viewing(v.account_id, v.thread_id);
begin
  update notifications.notification n
     set state = 'suppressed', reason = 'User is actively viewing thread', carrier = null, pending = 0
   where n.carrier = v.id and n.thread_id is not null and notifications.is_viewing(n.account_id, n.thread_id);
  update notifications.notification n set left_out = v_viewed where n.id = v.id and n.left_out <> v_viewed;
  select jsonb_agg(g.payload order by notifications.event_of(g.key), g.created_at, g.id) into items
    from notifications.notification g where g.carrier = v.id or (g.id = v.id and not v_viewed);
  over := items is null;
  payload := items -> 0;
  if jsonb_array_length(items) = 1 then
    items := null;
  end if;
end $$;

-- As the former begin_attempt, for workers that know broadcasts. broadcast: the one that it is a part of.
create function begin_attempt(p_id uuid, p_job bigint, p_fence bigint, p_served int, p_opens boolean, p_broadcasts boolean)
returns table (what text, wait_ms bigint, tid text, account_id uuid, workflow text, payload jsonb, items jsonb,
               channels int, epoch int, attempt int, expires_unix_us bigint, tokens jsonb, email text, name text,
               phone text, avatar text, broadcast uuid)
language plpgsql as $$
#variable_conflict use_column
declare
  v notifications.notification;
  v_broadcast text;
begin
  perform core.job_hold(p_job, p_fence);
  select * into v from notifications.notification n where n.id = p_id for update;
  what := 'over';
  -- Another job took its place.
  if not found or v.state <> 'queued' or v.job_id <> p_job then
    return next;
    return;
  end if;
  select b.state into v_broadcast from notifications.broadcast b where b.id = v.broadcast_id;
  if v_broadcast = 'cancelled' then
    perform notifications.settle(p_id, 'cancelled', 'The broadcast was cancelled');
    return next;
    return;
  end if;
  if v_broadcast = 'paused' then
    update notifications.notification n set expires_at = greatest(n.expires_at, clock_timestamp() + n.ttl) where n.id = p_id;
    what := 'wait';
    wait_ms := 15000;
    return next;
    return;
  end if;
  return query select b.*, v.broadcast_id from notifications.begin_attempt(p_id, p_job, p_fence, p_served, p_opens) b;
end $$;

-- As the former end_attempt. p_throttled: only its e-mail is left, and the address got too many messages: it joins another one of its
-- account and workflow that waits for the same reason, or becomes the one that others join. They go out as a digest.
create function end_attempt(p_id uuid, p_job bigint, p_fence bigint, p_results jsonb, p_pending int,
                            p_new_epoch boolean, p_counts boolean, p_throttled boolean) returns text language plpgsql as $$
declare
  v notifications.notification;
  v_carrier uuid;
  v_state text;
begin
  v_state := notifications.end_attempt(p_id, p_job, p_fence, p_results, p_pending, p_new_epoch, p_counts);
  if v_state <> 'queued' or not p_throttled then
    return v_state;
  end if;
  select * into v from notifications.notification n where n.id = p_id;
  if v.broadcast_id is not null then
    return v_state;
  end if;
  perform pg_advisory_xact_lock(hashtextextended('notifications ' || v.account_id || ' ' || v.workflow, 0));
  select n.id into v_carrier from notifications.notification n
   where n.account_id = v.account_id and n.workflow = v.workflow and n.gathering and n.id <> p_id and n.pending & 1 <> 0 for update;
  if not found then
    update notifications.notification n set gathering = true where n.id = p_id
       and not exists (select 1 from notifications.notification o
                        where o.account_id = v.account_id and o.workflow = v.workflow and o.gathering and o.id <> p_id);
    return v_state;
  end if;
  update notifications.delivery d set state = 'skipped', detail = 'It goes out together with others', at = clock_timestamp()
   where d.notification_id = p_id and d.channel = 1 and d.state = 'retry';
  update notifications.notification n set carrier = v_carrier where n.carrier = p_id;
  update notifications.notification n
     set state = 'gathered', carrier = v_carrier, pending = 0, ended_at = clock_timestamp(), under_way = false
   where n.id = p_id;
  perform core.job_complete(p_job, p_fence);
  return 'gathered';
end $$;

-- Lets notifications of an account go that wait for the end of quiet hours or of a digest: what still holds them is looked at anew.
-- p_workflows null: of all workflows.
create function release_waiting(p_account uuid, p_workflows text[]) returns void language plpgsql as $$
declare
  v record;
begin
  for v in select n.id from notifications.notification n
            where n.account_id = p_account and n.state = 'queued' and not n.under_way
              and (p_workflows is null or n.workflow = any (p_workflows))
            order by n.id limit 1000 for update loop
    update notifications.notification n
       set gathering = false,
           job_id = (select j.id from core.job_enqueue('notifications.deliver', jsonb_build_object('id', v.id), 'notifications', 0,
                                                       null, null, 1000) j)
     where n.id = v.id;
  end loop;
end $$;

-- As in 0001. A change also releases waiting notifications. Publishes renewed e-mail preferences for the module mail.
create or replace function put_preferences(p_account uuid, p_zone text, p_quiet boolean, p_from time, p_to time,
                                p_workflows jsonb) returns text language plpgsql as $$
declare
  v notifications.preference;
  v_workflows jsonb;
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
          select n.key, coalesce(v.workflows -> n.key, '{}') || n.value
            from jsonb_each(p_workflows) n where jsonb_typeof(n.value) = 'object') w;
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
    -- Only the verified owner of an address changes its subscriptions.
    where c.email <> '' and (c.verified or not accounts.can_verify(p_account)) and case when jsonb_typeof(w.value) = 'object' then coalesce((w.value ->> 'email')::boolean, false)
                                 else not coalesce((v.workflows -> w.key ->> 'email')::boolean, true) end;
  return '';
end $$;

-- The recipient used the link of an e-mail to unsubscribe from its category, or to subscribe again.
create function follow_subscription(p_account uuid, p_category text, p_subscribed boolean) returns void language plpgsql as $$
begin
  insert into notifications.preference (account_id) values (p_account) on conflict do nothing;
  perform 1 from notifications.preference p where p.account_id = p_account for update;
  update notifications.preference p
     set workflows = p.workflows || coalesce((
           select jsonb_object_agg(w.name, coalesce(p.workflows -> w.name, '{}') || jsonb_build_object('email', p_subscribed))
             from (select unnest(array['welcome-email', 'task-completed', 'task-failed', 'payment-succeeded', 'payment-failed',
                                       'credits-low', 'promotional']) as name
                   union select jsonb_object_keys(p.workflows)
                   union (select n.workflow from notifications.notification n where n.account_id = p_account
                           order by n.id desc limit 1000)) w
            where notifications.mail_category(w.name) = p_category), '{}')
   where p.account_id = p_account;
end $$;

create function broadcast_json(b notifications.broadcast) returns jsonb language sql stable as $$
  select jsonb_build_object('id', b.id, 'workflow_id', b.workflow, 'status', b.state, 'payload_template', b.payload,
    'created_by', b.created_by, 'created_at', notifications.iso(b.created_at), 'scheduled_at', notifications.iso(b.scheduled_at),
    'started_at', notifications.iso(b.started_at), 'ended_at', notifications.iso(b.ended_at), 'written', b.written)
$$;

-- How many accounts a broadcast of this workflow would reach, and on which channels, by their settings.
create function audience(p_workflow text, p_asked int) returns jsonb language sql stable as $$
  select jsonb_build_object('accounts', count(*),
    'email', count(*) filter (where a.channels & 1 <> 0 and a.email <> ''),
    'push', count(*) filter (where a.channels & 2 <> 0 and exists (select 1 from notifications.device_token t where t.account_id = a.id)),
    'in_app', count(*) filter (where a.channels & 4 <> 0))
    from (select i.id, notifications.allowed(i.id, p_workflow, p_asked) as channels,
                 (select c.email from accounts.contact(i.id) c) as email
            from accounts.ids_after(null, 1000000000) as i (id)) a
$$;

-- Writes a broadcast down with its job. p_at null: it begins at once.
create function create_broadcast(p_actor text, p_detail jsonb, p_id uuid, p_workflow text, p_payload jsonb, p_at timestamptz)
returns void language plpgsql as $$
begin
  perform notifications.act(p_actor, 'notification.trigger', p_detail);
  insert into notifications.broadcast (id, workflow, payload, state, created_by, scheduled_at)
  values (p_id, p_workflow, p_payload, case when p_at > now() then 'scheduled' else 'running' end, p_actor, p_at);
  perform core.job_enqueue('notifications.broadcast',
    jsonb_build_object('workflow_id', p_workflow, 'broadcast_id', p_id, 'payload', p_payload), 'default', 0, p_at, null, null);
end $$;

-- p_action: pause, resume or cancel. Returns the new state; '': it is over, or the action does not apply; null: there is none.
create function steer_broadcast(p_actor text, p_id uuid, p_action text) returns text language plpgsql as $$
declare
  v notifications.broadcast;
  v_new text;
begin
  select * into v from notifications.broadcast b where b.id = p_id for update;
  if not found then
    return null;
  end if;
  v_new := case
    when p_action = 'pause' and v.state in ('scheduled', 'running', 'completed') then 'paused'
    when p_action = 'resume' and v.state = 'paused' then
      case when v.ended_at is not null then 'completed' when v.scheduled_at > now() and v.started_at is null then 'scheduled' else 'running' end
    when p_action = 'cancel' and v.state <> 'cancelled' then 'cancelled' else '' end;
  if v_new = '' then
    return '';
  end if;
  update notifications.broadcast b set state = v_new, ended_at = case when v_new = 'cancelled' then clock_timestamp() else b.ended_at end
   where b.id = p_id;
  perform notifications.act(p_actor, 'notification.broadcast_' || p_action, jsonb_build_object('broadcast', p_id));
  -- E-mails that wait in an outbox are held back or withdrawn there.
  perform core.event_publish('notifications.broadcast', p_id::text, jsonb_build_object('broadcast', p_id, 'state',
    case v_new when 'paused' then 'paused' when 'cancelled' then 'cancelled' else 'released' end));
  return v_new;
end $$;

-- Records that notifications for accounts up to p_after were written. Returns the state of the broadcast.
create function broadcast_step(p_id uuid, p_after uuid, p_written bigint, p_finished boolean) returns text language plpgsql as $$
declare
  v_state text;
begin
  update notifications.broadcast b
     set after = coalesce(p_after, b.after), written = b.written + p_written,
         started_at = coalesce(b.started_at, clock_timestamp()),
         state = case when b.state in ('scheduled', 'running') then case when p_finished then 'completed' else 'running' end else b.state end,
         ended_at = case when p_finished then coalesce(b.ended_at, clock_timestamp()) else b.ended_at end
   where b.id = p_id
  returning b.state into v_state;
  return coalesce(v_state, 'running');
end $$;
