-- ry: compatible
-- Entries of a digest do not depend on its carrier: if the carrier is not sent, another entry becomes the carrier. Entries share a
-- carrier only if they go out on the same channels.

-- Pending channels do not change while a notification gathers.
drop index notification_gathering;
create unique index notification_gathering on notification (account_id, workflow, pending) where gathering;

create function digest_minutes(p_account uuid, p_workflow text) returns int language sql stable as $$
  select case when notifications.is_urgent(p_workflow) then 0
              else coalesce((select (p.workflows -> p_workflow ->> 'digest_minutes')::int from notifications.preference p
                              where p.account_id = p_account), 0) end
$$;

-- The job of a notification. Broadcasts and offers go behind what accounts wait for.
create function enqueue_delivery(n notifications.notification, p_at timestamptz) returns bigint language sql as $$
  select j.id from core.job_enqueue('notifications.deliver', jsonb_build_object('id', n.id), 'notifications',
    case when n.broadcast_id is not null or not notifications.is_transactional(n.workflow) then 10 else 0 end, p_at, null, 1000) j
$$;

-- The provider has accepted a part of it.
create function has_arrived(p_id uuid) returns boolean language sql stable as $$
  select exists (select 1 from notifications.delivery d where d.notification_id = p_id and d.channel <> 4
                                                          and d.state in ('accepted', 'delivered'))
$$;

-- The provider has accepted it on one of these channels, or an attempt is in progress that may still reach it. Then the entries of its digest
-- may have arrived with it on these channels, and must not be sent again.
create function may_have_arrived(n notifications.notification, p_channels int) returns boolean language sql stable as $$
  select n.under_way or exists (select 1 from notifications.delivery d
                                 where d.notification_id = n.id and d.channel & p_channels <> 0 and d.state in ('accepted', 'delivered'))
$$;

create function is_viewed(n notifications.notification) returns boolean language sql stable as $$
  select n.thread_id is not null and notifications.is_viewing(n.account_id, n.thread_id) and not notifications.has_arrived(n.id)
$$;

-- An entry of a digest gets its own job. p_pending: its channels; null: those that it had. p_at: until then others can join it; null: it goes
-- out at once.
create function leave_digest(n notifications.notification, p_pending int, p_expires timestamptz, p_at timestamptz) returns void
language sql as $$
  update notifications.notification u
     set state = 'queued', reason = '', carrier = null, ended_at = null, attempts = 0, under_way = false,
         pending = coalesce(p_pending, n.pending), gathering = p_at is not null, expires_at = greatest(n.expires_at, p_expires),
         job_id = notifications.enqueue_delivery(n, p_at)
   where u.id = n.id
$$;

-- The carrier p_id is not sent (yet): its first entry that is still in time carries the others. p_expires: their time is not over before;
-- null: each has its own. p_gathers: the digest goes on gathering; the caller holds the lock of notify().
create function hand_over(p_id uuid, p_pending int, p_expires timestamptz, p_gathers boolean) returns void language plpgsql as $$
declare
  v_next notifications.notification;
  v_at timestamptz;
begin
  select * into v_next from notifications.notification n
   where n.carrier = p_id and n.state = 'gathered' and greatest(n.expires_at, p_expires) > clock_timestamp()
   order by notifications.event_of(n.key), n.created_at, n.id limit 1 for update;
  if not found then
    return;
  end if;
  update notifications.notification n set carrier = v_next.id
   where n.carrier = p_id and n.state = 'gathered' and n.id <> v_next.id and greatest(n.expires_at, p_expires) > clock_timestamp();
  update notifications.notification n set gathering = false where n.id = p_id;
  if p_gathers then
    v_at := v_next.created_at + make_interval(mins => notifications.digest_minutes(v_next.account_id, v_next.workflow));
  end if;
  perform notifications.leave_digest(v_next, p_pending, p_expires, case when v_at > clock_timestamp() then v_at end);
end $$;

create function digest_items(p_id uuid) returns jsonb language sql stable as $$
  select jsonb_agg(g.payload order by notifications.event_of(g.key), g.created_at, g.id)
    from notifications.notification g where g.carrier = p_id or g.id = p_id
$$;

-- Before a digest goes out: entries whose thread is being viewed and entries of cancelled broadcasts end, those of paused broadcasts wait
-- by themselves.
create function trim_digest(v notifications.notification) returns void language plpgsql as $$
begin
  update notifications.notification n
     set state = 'suppressed', reason = 'User is actively viewing thread', carrier = null, pending = 0
   where n.carrier = v.id and notifications.is_viewed(n);
  update notifications.notification n
     set state = 'cancelled', reason = 'The broadcast was cancelled', carrier = null, pending = 0
    from notifications.broadcast b
   where n.carrier = v.id and b.id = n.broadcast_id and b.state = 'cancelled';
  perform notifications.leave_digest(n, v.pending, v.expires_at, null)
     from notifications.notification n join notifications.broadcast b on b.id = n.broadcast_id
    where n.carrier = v.id and b.state = 'paused';
end $$;

-- As in 0001; the mark for carriers that were left out is not needed any more.
create or replace function settle(p_id uuid, p_state text, p_reason text) returns void language sql as $$
  update notifications.notification n
     set state = p_state, reason = p_reason, under_way = false, gathering = false,
         ended_at = coalesce(n.ended_at, clock_timestamp())
   where n.id = p_id or n.carrier = p_id
$$;

-- The time of a notification is over. Entries that joined it later may have time left: they go out on the channels that are pending. They
-- end with it if it may have arrived on one of these.
create function expire(p_id uuid) returns void language plpgsql as $$
declare
  v notifications.notification;
begin
  select * into v from notifications.notification n
   where n.id = p_id and n.state = 'queued' and n.expires_at <= clock_timestamp() for update;
  if found then
    if not notifications.may_have_arrived(v, v.pending) then
      perform notifications.hand_over(p_id, v.pending, null, false);
    end if;
    perform notifications.settle(p_id, 'dead', 'It could not be delivered in time');
  end if;
end $$;

-- As in 0005; gathers by channels.
create or replace function notify(p_key text, p_account uuid, p_workflow text, p_payload jsonb, p_asked int,
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
  v notifications.notification;
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
    v_minutes := notifications.digest_minutes(p_account, p_workflow);
  end if;
  if outcome = 'queued' and v_minutes > 0 then
    -- Of several at once one becomes the carrier.
    perform pg_advisory_xact_lock(hashtextextended('notifications ' || p_account || ' ' || p_workflow, 0));
    select n.id into v_carrier from notifications.notification n
     where n.account_id = p_account and n.workflow = p_workflow and n.gathering and n.pending = v_rest for update;
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
  returning n.* into v;
  if not found then
    select n.id, n.reason into id, reason from notifications.notification n where n.key = p_key;
    outcome := 'duplicate';
    return next;
    return;
  end if;
  id := v.id;
  if outcome in ('queued', 'gathered', 'sent') and v_allowed & 4 <> 0 then
    select a.version, a.evicted into inbox_version, inbox_evicted
      from notifications.inbox_add(p_account, id, p_workflow, p_title, p_body, p_url, p_payload, p_inbox_most) a;
    insert into notifications.delivery (notification_id, account_id, channel, state, provider)
    values (id, p_account, 4, 'delivered', 'inbox');
  end if;
  if outcome = 'queued' then
    perform notifications.enqueue_delivery(v, case when v_gathering then v_at end);
  end if;
  return next;
end $$;

-- As in 0003; a carrier whose thread is being viewed, or whose time is over, hands its entries over.
create or replace function begin_attempt(p_id uuid, p_job bigint, p_fence bigint, p_served int, p_opens boolean)
returns table (what text, wait_ms bigint, tid text, account_id uuid, workflow text, payload jsonb, items jsonb,
               channels int, epoch int, attempt int, expires_unix_us bigint, tokens jsonb, email text, name text,
               phone text, avatar text)
language plpgsql as $$
#variable_conflict use_column
declare
  v notifications.notification;
  v_pending int;
  v_quiet timestamptz;
  v_bit int;
  v_end record;
begin
  perform core.job_hold(p_job, p_fence);
  select * into v from notifications.notification n where n.id = p_id for update;
  what := 'over';
  if not found or v.state <> 'queued' then
    return next;
    return;
  end if;
  if v.expires_at <= clock_timestamp() then
    perform notifications.expire(p_id);
    return next;
    return;
  end if;
  if not notifications.is_urgent(v.workflow) then
    v_quiet := notifications.quiet_until(v.account_id, clock_timestamp());
    if v_quiet > clock_timestamp() then
      -- Its time runs from the end of the quiet hours on.
      update notifications.notification n set expires_at = greatest(n.expires_at, v_quiet + n.ttl)
       where n.id = p_id;
      what := 'wait';
      wait_ms := 1 + (extract(epoch from v_quiet - clock_timestamp()) * 1000)::bigint;
      return next;
      return;
    end if;
  end if;

  v_pending := notifications.allowed(v.account_id, v.workflow, v.pending);
  foreach v_bit in array array[1, 2] loop
    if v_pending & v_bit <> 0 and p_served & v_bit = 0 then
      insert into notifications.delivery (notification_id, account_id, channel, state, detail)
      values (p_id, v.account_id, v_bit, 'skipped', 'The orchestrator does not carry this channel')
      on conflict do nothing;
    end if;
  end loop;
  v_pending := v_pending & p_served;
  if v_pending = 0 then
    select * into v_end from notifications.verdict(p_id);
    perform notifications.settle(p_id, v_end.state, v_end.reason);
    return next;
    return;
  end if;
  -- Not when a part of it may be there already.
  if not v.under_way and not notifications.has_arrived(p_id) then
    if notifications.is_viewed(v) then
      perform notifications.hand_over(p_id, v.pending, v.expires_at, false);
      perform notifications.settle(p_id, 'suppressed', 'User is actively viewing thread');
      return next;
      return;
    end if;
    perform notifications.trim_digest(v);
  end if;
  if not p_opens and v_pending & 2 <> 0 and exists (select 1 from notifications.device_token t
                                                     where t.account_id = v.account_id and t.sealed is not null) then
    what := 'wait';
    wait_ms := 5000;
    return next;
    return;
  end if;
  items := notifications.digest_items(p_id);
  payload := items -> 0;
  if jsonb_array_length(items) = 1 then
    items := null;
  end if;
  update notifications.notification n
     set attempts = v.attempts + 1, under_way = true, gathering = false, pending = v_pending,
         maybe_duplicate = v.maybe_duplicate or v.under_way
   where n.id = p_id;
  if v_pending & 2 <> 0 then
    select jsonb_agg(notifications.device_json(t) order by t.seen_at desc) into tokens
      from notifications.device_token t
     where t.account_id = v.account_id
       and not exists (select 1 from notifications.delivery d
                        where d.notification_id = p_id and d.channel = 2 and d.token = t.token
                          and d.state <> 'retry');
  end if;
  select c.email, c.display_name, p.phone, p.avatar into email, name, phone, avatar
    from accounts.contact(v.account_id) c, accounts.profile(v.account_id) p;
  what := 'send';
  tid := v.tid;
  account_id := v.account_id;
  workflow := v.workflow;
  -- A feed of the orchestrator's own goes along with the others.
  channels := v_pending | notifications.allowed(v.account_id, v.workflow, 4 & p_served);
  epoch := v.epoch;
  attempt := v.attempts + 1;
  expires_unix_us := (extract(epoch from v.expires_at) * 1000000)::bigint;
  return next;
end $$;

-- As in 0005; a carrier of a cancelled or paused broadcast hands its entries over.
create or replace function begin_attempt(p_id uuid, p_job bigint, p_fence bigint, p_served int, p_opens boolean, p_broadcasts boolean)
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
  if v_broadcast in ('cancelled', 'paused') and not notifications.may_have_arrived(v, v.pending) then
    perform notifications.hand_over(p_id, v.pending, v.expires_at, false);
  end if;
  if v_broadcast = 'cancelled' then
    perform notifications.settle(p_id, 'cancelled', 'The broadcast was cancelled');
    return next;
    return;
  end if;
  if v_broadcast = 'paused' then
    update notifications.notification n
       set expires_at = greatest(n.expires_at, clock_timestamp() + n.ttl), gathering = false
     where n.id = p_id;
    what := 'wait';
    wait_ms := 15000;
    return next;
    return;
  end if;
  return query select b.*, v.broadcast_id from notifications.begin_attempt(p_id, p_job, p_fence, p_served, p_opens) b;
end $$;

-- As in 0005; it joins only one of which nothing but the e-mail is left.
create or replace function end_attempt(p_id uuid, p_job bigint, p_fence bigint, p_results jsonb, p_pending int,
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
   where n.account_id = v.account_id and n.workflow = v.workflow and n.gathering and n.id <> p_id and n.pending = v.pending for update;
  if not found then
    update notifications.notification n set gathering = true where n.id = p_id
       and not exists (select 1 from notifications.notification o
                        where o.account_id = v.account_id and o.workflow = v.workflow and o.gathering and o.id <> p_id
                          and o.pending = v.pending);
    return v_state;
  end if;
  update notifications.delivery d set state = 'skipped', detail = 'It goes out together with others', at = clock_timestamp()
   where d.notification_id = p_id and d.channel = 1 and d.state = 'retry';
  update notifications.notification n set carrier = v_carrier where n.carrier = p_id;
  update notifications.notification n
     set state = 'gathered', carrier = v_carrier, ended_at = clock_timestamp(), under_way = false
   where n.id = p_id;
  perform core.job_complete(p_job, p_fence);
  return 'gathered';
end $$;

-- As in 0001; the new job is the one that delivers it.
create or replace function requeue(p_actor text, p_id uuid) returns boolean language plpgsql as $$
declare
  v notifications.notification;
  v_pending int;
begin
  select * into v from notifications.notification n
   where n.id = p_id and n.state in ('failed', 'dead') and n.carrier is null for update;
  if not found then
    return false;
  end if;
  select coalesce(bit_or(d.channel) filter (where d.state in ('refused', 'gone', 'retry', 'skipped')), 0) & 3 | v.pending
    into v_pending from notifications.delivery d where d.notification_id = p_id;
  if v_pending = 0 then
    return false;
  end if;
  delete from notifications.delivery d
   where d.notification_id = p_id and d.state in ('refused', 'gone', 'retry', 'skipped');
  update notifications.notification n
     set state = 'queued', reason = '', ended_at = null, pending = v_pending, attempts = 0, epoch = n.epoch + 1,
         expires_at = clock_timestamp() + n.ttl, job_id = notifications.enqueue_delivery(v, null)
   where n.id = p_id;
  update notifications.notification n set state = 'gathered', reason = '' where n.carrier = p_id;
  perform notifications.act(p_actor, 'notification.requeue', jsonb_build_object('notification', p_id));
  return true;
end $$;

-- Cancels a waiting notification, whether it waits by itself or in a digest; the other entries of its digest are sent. Returns false if it has
-- ended or is being sent.
create or replace function cancel(p_actor text, p_id uuid) returns boolean language plpgsql as $$
declare
  v notifications.notification;
begin
  select * into v from notifications.notification n where n.id = p_id;
  -- Before the rows, as in notify().
  perform pg_advisory_xact_lock(hashtextextended('notifications ' || v.account_id || ' ' || v.workflow, 0));
  select * into v from notifications.notification n where n.id = p_id and n.state in ('queued', 'gathered');
  perform 1 from notifications.notification n
   where n.id = coalesce(v.carrier, v.id) and n.state = 'queued' and not n.under_way for update;
  if not found then
    return false;
  end if;
  select * into v from notifications.notification n
   where n.id = p_id and n.carrier is not distinct from v.carrier and n.state = case when v.carrier is null then 'queued' else 'gathered' end
     for update;
  if not found then
    return false;
  end if;
  if v.carrier is null and not notifications.may_have_arrived(v, v.pending) then
    perform notifications.hand_over(p_id, v.pending, v.expires_at, v.gathering);
  end if;
  update notifications.notification n set carrier = null where n.id = p_id;
  perform notifications.settle(p_id, 'cancelled', 'Cancelled by an operator');
  perform notifications.act(p_actor, 'notification.cancel', jsonb_build_object('notification', p_id));
  return true;
end $$;

-- The orchestrator has taken it back. The other entries of a digest are sent without it, on the channels on which no device has it.
create or replace function withdrawn(p_actor text, p_id uuid) returns void language plpgsql as $$
declare
  v_pending int;
begin
  perform 1 from notifications.notification n where n.id = p_id for update;
  update notifications.delivery d set state = 'withdrawn', follow_at = null, at = clock_timestamp()
   where d.notification_id = p_id and d.channel <> 4 and d.state = 'accepted';
  select bit_or(c.channel) into v_pending
    from (select d.channel from notifications.delivery d where d.notification_id = p_id and d.channel <> 4
           group by d.channel having bool_or(d.state = 'withdrawn') and not bool_or(d.state = 'delivered')) c;
  if v_pending <> 0 then
    update notifications.notification n set state = 'gathered' where n.carrier = p_id and n.state = 'sent';
    perform notifications.hand_over(p_id, v_pending, clock_timestamp() + n.ttl, false)
       from notifications.notification n where n.id = p_id;
  end if;
  update notifications.notification n set state = 'cancelled', reason = 'Cancelled by an operator' where n.id = p_id;
  perform notifications.act(p_actor, 'notification.cancel', jsonb_build_object('notification', p_id));
end $$;

-- Entries whose carrier was removed or has ended without them.
create function adopt_entries() returns void language sql as $$
  select notifications.hand_over(o.carrier, null, clock_timestamp() + o.ttl, false)
    from (select n.carrier, max(n.ttl) as ttl from notifications.notification n
           where n.state = 'gathered'
             and not exists (select 1 from notifications.notification c where c.id = n.carrier and c.state = 'queued')
           group by n.carrier) o
$$;
create index notification_gathered on notification (carrier) where state = 'gathered';

-- As in 0005, with all workflows.
create or replace function follow_subscription(p_account uuid, p_category text, p_subscribed boolean) returns void language plpgsql as $$
begin
  insert into notifications.preference (account_id) values (p_account) on conflict do nothing;
  perform 1 from notifications.preference p where p.account_id = p_account for update;
  update notifications.preference p
     set workflows = p.workflows || coalesce((
           select jsonb_object_agg(w.name, coalesce(p.workflows -> w.name, '{}') || jsonb_build_object('email', p_subscribed))
             from (select unnest(array['welcome-email', 'task-completed', 'task-failed', 'payment-succeeded', 'payment-failed',
                                       'credits-low', 'referral-successful', 'promotional']) as name
                   union select jsonb_object_keys(p.workflows)
                   union (select n.workflow from notifications.notification n where n.account_id = p_account
                           order by n.id desc limit 1000)) w
            where notifications.mail_category(w.name) = p_category), '{}')
   where p.account_id = p_account;
end $$;

drop function leave_out_viewed(notifications.notification);
alter table notification drop column left_out;
