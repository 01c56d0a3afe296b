-- UUIDv7: increasing in time, so that new rows land at the end of their indexes.
create function new_id() returns uuid language sql volatile as $$
  select encode(
    set_bit(set_bit(
      overlay(uuid_send(gen_random_uuid())
              placing substring(int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3)
              from 1 for 6),
      52, 1), 53, 1), 'hex')::uuid
$$;

create function iso(p_at timestamptz) returns text language sql stable as $$
  select to_char(p_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$;

-- Channels are bits, as in notify.orchestrator/1: 1 e-mail, 2 push, 4 in-app.
create function channel_names(p_channels int) returns jsonb language sql immutable as $$
  select coalesce(jsonb_agg(c.name order by c.bit), '[]')
    from (values (1, 'email'), (2, 'push'), (4, 'in_app')) c (bit, name) where p_channels & c.bit <> 0
$$;

-- One row. Written by the module at its start, from its settings.
create table setting (
  only_row boolean primary key default true check (only_row),
  max_attempts int not null default 10,
  presence_seconds int not null default 120,
  tokens_per_provider int not null default 100,
  urgent text[] not null default '{}',    -- workflows that neither quiet hours nor digests hold back
  mandatory text[] not null default '{}'  -- workflows that preferences cannot turn off
);
insert into setting default values;

-- What an account wants; no row: the defaults.
create table preference (
  account_id uuid primary key,
  email_enabled boolean not null default true,
  push_enabled boolean not null default true,
  in_app_enabled boolean not null default true,
  time_zone text not null default 'UTC',
  quiet_from time,                        -- on the clock of time_zone
  quiet_to time,
  workflows jsonb not null default '{}',  -- {"task-completed": {"email": false, "digest_minutes": 60}}
  check ((quiet_from is null) = (quiet_to is null))
);

-- Devices that take push messages. The name stands for one device, whoever uses it and however its token is
-- written.
create table device_token (
  provider text not null,
  name text not null check (octet_length(name) <= 2000),
  token text not null check (octet_length(token) <= 2000),
  account_id uuid not null,
  device_type text not null,
  seen_at timestamptz not null default now(),
  primary key (provider, name)
);
create index device_token_account on device_token (account_id, provider, seen_at);

-- What the orchestrator has to be told about an account: one job at a time works off the difference.
create table subscriber (
  account_id uuid primary key,
  version bigint not null default 1,
  told bigint not null default 0,
  providers jsonb not null default '[]',  -- of which it was told devices
  gone boolean not null default false     -- the account is no more: to be forgotten
);

-- Which thread is open in which tab.
create table presence (
  account_id uuid not null,
  session_id text not null,
  thread_id uuid not null,
  seen_at timestamptz not null default now(),
  primary key (account_id, session_id)
) with (fillfactor = 70);

-- The outbox and its history. `tid` names the notification to the orchestrator.
create table notification (
  id uuid primary key,
  key text not null unique,               -- workflow:event:account
  tid text not null unique,
  account_id uuid not null,
  workflow text not null,
  payload jsonb not null,
  thread_id uuid,
  state text not null check (state in ('queued', 'gathered', 'sent', 'suppressed', 'failed', 'dead', 'cancelled')),
  reason text not null default '',
  pending int not null,                   -- channels that have not been settled
  gathering boolean not null default false, -- others of its workflow join it until it goes out
  carrier uuid,                           -- of a gathered one: with which it goes out
  attempts int not null default 0,
  epoch int not null default 0,
  under_way boolean not null default false,       -- an attempt has begun and not told how it ended
  maybe_duplicate boolean not null default false, -- a worker vanished in the middle of an attempt
  created_at timestamptz not null default now(),
  ttl interval not null,
  expires_at timestamptz not null,
  ended_at timestamptz,
  check ((state = 'queued') = (ended_at is null))
) with (fillfactor = 80);
create unique index notification_gathering on notification (account_id, workflow) where gathering;
create index notification_carrier on notification (carrier) where carrier is not null;
create index notification_account on notification (account_id, id desc);
create index notification_state on notification (state, id desc) where state in ('queued', 'failed', 'dead');
create index notification_ended on notification (ended_at) where ended_at is not null;

-- How each notification fared, per channel and device.
create table delivery (
  id bigint generated always as identity primary key,
  notification_id uuid not null,
  account_id uuid not null,
  channel int not null check (channel in (1, 2, 4)),
  token text not null default '',
  state text not null check (state in ('accepted', 'delivered', 'skipped', 'retry', 'refused', 'gone',
                                       'withdrawn')),
  provider text not null default '',
  provider_id text not null default '',
  detail text not null default '',
  at timestamptz not null default clock_timestamp(),
  follows int not null default 0,
  follow_at timestamptz,                  -- when to ask what became of it; null: not (any more)
  unique (notification_id, channel, token)
) with (fillfactor = 80);
create index delivery_account on delivery (account_id, id desc);
create index delivery_follow on delivery (follow_at) where follow_at is not null;

-- The inbox. Numbers of an account's entries grow in order of commit: its head is locked first.
create table inbox_head (
  account_id uuid primary key,
  last_seq bigint not null default 0,
  unread bigint not null default 0,
  version bigint not null default 0       -- grows with every change
) with (fillfactor = 50);
create table inbox (
  account_id uuid not null,
  seq bigint not null,
  id uuid not null unique,                -- of the notification
  workflow text not null,
  title text not null,
  body text not null,
  action_url text not null,
  payload jsonb not null,
  created_at timestamptz not null default now(),
  read_at timestamptz,
  primary key (account_id, seq)
) with (fillfactor = 90);
create index inbox_unread on inbox (account_id, seq) where read_at is null;

-- Webhooks of the orchestrator that were taken, by their ids.
create table webhook_seen (
  id text primary key,
  at timestamptz not null default now()
);
create index webhook_seen_at on webhook_seen (at);

-- Of the channels asked for, those that the account lets through. The switches of the settings always win.
create function allowed(p_account uuid, p_workflow text, p_asked int) returns int
language plpgsql stable as $$
declare
  v notifications.preference;
  v_wish jsonb;
  v_out int := p_asked;
begin
  select * into v from notifications.preference p where p.account_id = p_account;
  if not found then
    return p_asked;
  end if;
  v_out := v_out & (v.email_enabled::int + v.push_enabled::int * 2 + v.in_app_enabled::int * 4);
  v_wish := v.workflows -> p_workflow;
  if v_wish is not null and not p_workflow = any ((select s.mandatory from notifications.setting s)::text[]) then
    v_out := v_out & (coalesce((v_wish ->> 'email')::boolean, true)::int
                      + coalesce((v_wish ->> 'push')::boolean, true)::int * 2
                      + coalesce((v_wish ->> 'in_app')::boolean, true)::int * 4);
  end if;
  return v_out;
end $$;

-- The end of the quiet hours that this instant lies in; null: it lies in none.
create function quiet_until(p_account uuid, p_at timestamptz) returns timestamptz
language plpgsql stable as $$
declare
  v notifications.preference;
  v_local timestamp;
  v_day timestamp;
begin
  select * into v from notifications.preference p where p.account_id = p_account and p.quiet_from is not null;
  if not found or v.quiet_from = v.quiet_to then
    return null;
  end if;
  v_local := p_at at time zone v.time_zone;
  v_day := date_trunc('day', v_local);
  if v.quiet_from < v.quiet_to then
    if v_local::time < v.quiet_from or v_local::time >= v.quiet_to then
      return null;
    end if;
  elsif v_local::time >= v.quiet_from then
    v_day := v_day + interval '1 day';
  elsif v_local::time >= v.quiet_to then
    return null;
  end if;
  return (v_day + v.quiet_to) at time zone v.time_zone;
end $$;

create function is_urgent(p_workflow text) returns boolean language sql stable as $$
  select p_workflow = any (s.urgent) from notifications.setting s
$$;

create function is_viewing(p_account uuid, p_thread uuid) returns boolean language sql stable as $$
  select exists (select 1 from notifications.presence p, notifications.setting s
                  where p.account_id = p_account and p.thread_id = p_thread
                    and p.seen_at > clock_timestamp() - make_interval(secs => s.presence_seconds))
$$;

-- An entry of the inbox. Returns the version of the account's inbox.
create function inbox_add(p_account uuid, p_id uuid, p_workflow text, p_title text, p_body text, p_url text,
                          p_payload jsonb) returns bigint language plpgsql as $$
declare
  v notifications.inbox_head;
begin
  insert into notifications.inbox_head as h (account_id, last_seq, unread, version) values (p_account, 1, 1, 1)
  on conflict (account_id) do update
     set last_seq = h.last_seq + 1, unread = h.unread + 1, version = h.version + 1
  returning h.* into v;
  insert into notifications.inbox (account_id, seq, id, workflow, title, body, action_url, payload)
  values (p_account, v.last_seq, p_id, p_workflow, p_title, p_body, p_url, p_payload);
  return v.version;
end $$;

-- Marks one entry or, without an id, all as read. No row: there is no such entry.
create function inbox_read(p_account uuid, p_id uuid)
returns table (marked bigint, unread bigint, version bigint) language plpgsql as $$
#variable_conflict use_column
declare
  v notifications.inbox_head;
begin
  select * into v from notifications.inbox_head h where h.account_id = p_account for update;
  if p_id is not null and not exists (select 1 from notifications.inbox i
                                       where i.account_id = p_account and i.id = p_id) then
    return;
  end if;
  update notifications.inbox i set read_at = clock_timestamp()
   where i.account_id = p_account and i.read_at is null and (p_id is null or i.id = p_id);
  get diagnostics marked = row_count;
  unread := coalesce(v.unread, 0) - marked;
  version := coalesce(v.version, 0);
  if marked > 0 then
    version := version + 1;
    update notifications.inbox_head h set unread = inbox_read.unread, version = inbox_read.version
     where h.account_id = p_account;
  end if;
  return next;
end $$;

create function inbox_entry(i notifications.inbox) returns jsonb language sql stable as $$
  select jsonb_build_object('id', i.id, 'workflow_id', i.workflow, 'title', i.title, 'body', i.body,
    'action_url', nullif(i.action_url, ''), 'payload', i.payload, 'read', i.read_at is not null,
    'read_at', notifications.iso(i.read_at), 'created_at', notifications.iso(i.created_at))
$$;

-- Writes a notification down once: `key` stands for it however often it is told. outcome: 'queued' (a job
-- delivers it), 'gathered' (it goes out with an earlier one), 'sent' (the inbox was all), 'suppressed', 'failed'
-- (p_refused says why), 'duplicate'. inbox_version: of the account's inbox when it got an entry.
create function notify(p_key text, p_account uuid, p_workflow text, p_payload jsonb, p_asked int,
                       p_thread uuid, p_viewed boolean, p_refused text, p_title text, p_body text,
                       p_url text, p_ttl_seconds bigint)
returns table (id uuid, outcome text, reason text, inbox_version bigint) language plpgsql as $$
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
  v_allowed := notifications.allowed(p_account, p_workflow, p_asked);
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
     ttl, expires_at, ended_at)
  values (notifications.new_id(), p_key, left(encode(sha256(convert_to(p_key, 'UTF8')), 'hex'), 32),
          p_account, p_workflow, p_payload, p_thread, outcome, reason,
          case when outcome in ('queued', 'gathered') then v_rest else 0 end, v_gathering, v_carrier,
          make_interval(secs => p_ttl_seconds), v_at + make_interval(secs => p_ttl_seconds), case when outcome <> 'queued' then clock_timestamp() end)
  on conflict do nothing  -- also by the tid, which comes from the key
  returning n.id into id;
  if not found then
    select n.id, n.reason into id, reason from notifications.notification n where n.key = p_key;
    outcome := 'duplicate';
    return next;
    return;
  end if;
  if outcome in ('queued', 'gathered', 'sent') and v_allowed & 4 <> 0 then
    inbox_version := notifications.inbox_add(p_account, id, p_workflow, p_title, p_body, p_url, p_payload);
    insert into notifications.delivery (notification_id, account_id, channel, state, provider)
    values (id, p_account, 4, 'delivered', 'inbox');
  end if;
  if outcome = 'queued' then
    perform core.job_enqueue('notifications.deliver', jsonb_build_object('id', id), 'notifications', 0,
                             case when v_gathering then v_at end, null, 1000);
  end if;
  return next;
end $$;

-- Ends a notification by what is known of its channels. Those that were gathered follow.
create function settle(p_id uuid, p_state text, p_reason text) returns void language sql as $$
  update notifications.notification n
     set state = p_state, reason = p_reason, under_way = false, gathering = false,
         ended_at = coalesce(n.ended_at, clock_timestamp())
   where n.id = p_id or n.carrier = p_id
$$;

-- What the channels add up to when none is pending any more. The inbox does not make up for a mail or a push
-- message that was refused.
create function verdict(p_id uuid, out state text, out reason text) language plpgsql stable as $$
begin
  select case when bool_or(d.channel <> 4 and d.state in ('accepted', 'delivered')) then 'sent'
              when bool_or(d.state = 'refused') then 'failed'
              when bool_or(d.channel = 4) then 'sent'
              when bool_or(d.state = 'gone') then 'failed' else 'suppressed' end,
         coalesce((array_agg(d.detail order by d.id desc) filter (where d.detail <> '' and d.state <> 'skipped'))[1],
                  (array_agg(d.detail order by d.id desc) filter (where d.detail <> ''))[1], '')
    into state, reason from notifications.delivery d where d.notification_id = p_id;
  if state = 'sent' then
    reason := '';
  elsif reason = '' then
    reason := 'There is no address and no device';
  end if;
end $$;

-- What was told afterwards about one that was accepted changes how it ended.
create function reconsider(p_id uuid) returns void language plpgsql as $$
declare
  v_end record;
begin
  perform 1 from notifications.notification n where n.id = p_id and n.state in ('sent', 'failed') for update;
  if not found then
    return;
  end if;
  select * into v_end from notifications.verdict(p_id);
  if v_end.state in ('sent', 'failed') then
    update notifications.notification n set state = v_end.state, reason = v_end.reason
     where (n.id = p_id or n.carrier = p_id) and n.state <> v_end.state and n.state in ('sent', 'failed');
  end if;
end $$;

-- What is told to whom looks at its thread now: nothing. False: there is more to be told, the payloads in items; one
-- is in payload then.
create function leave_out_viewed(v notifications.notification, out over boolean, out payload jsonb, out items jsonb)
language plpgsql as $$
#variable_conflict use_column
declare
  v_viewed boolean := v.thread_id is not null and notifications.is_viewing(v.account_id, v.thread_id);
begin
  update notifications.notification n
     set state = 'suppressed', reason = 'User is actively viewing thread', carrier = null, pending = 0
   where n.carrier = v.id and n.thread_id is not null and notifications.is_viewing(n.account_id, n.thread_id);
  select jsonb_agg(g.payload order by g.created_at, g.id) into items
    from notifications.notification g where g.carrier = v.id or (g.id = v.id and not v_viewed);
  over := items is null;
  payload := items -> 0;
  if jsonb_array_length(items) = 1 then
    items := null;
  end if;
end $$;

-- Begins an attempt for the holder of the job. what: 'send' with all that is needed; 'wait' with the milliseconds
-- until it may go; 'over': there is nothing (more) to do. items: the payloads of a digest. p_served: the channels that the orchestrator carries.
create function begin_attempt(p_id uuid, p_job bigint, p_fence bigint, p_served int)
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
  v_rest record;
begin
  perform core.job_hold(p_job, p_fence);
  select * into v from notifications.notification n where n.id = p_id for update;
  what := 'over';
  if not found or v.state <> 'queued' then
    return next;
    return;
  end if;
  if v.expires_at <= clock_timestamp() then
    perform notifications.settle(p_id, 'dead', 'It could not be delivered in time');
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
  if not v.under_way and not exists (select 1 from notifications.delivery d where d.notification_id = p_id
                                      and d.channel <> 4 and d.state in ('accepted', 'delivered')) then
    v_rest := notifications.leave_out_viewed(v);
    if v_rest.over then
      perform notifications.settle(p_id, 'suppressed', 'User is actively viewing thread');
      return next;
      return;
    end if;
    items := v_rest.items;
    payload := v_rest.payload;
  else
    select jsonb_agg(g.payload order by g.created_at, g.id) into items
      from notifications.notification g where g.carrier = p_id or g.id = p_id;
    payload := items -> 0;
    if jsonb_array_length(items) = 1 then
      items := null;
    end if;
  end if;
  update notifications.notification n
     set attempts = v.attempts + 1, under_way = true, gathering = false, pending = v_pending,
         maybe_duplicate = v.maybe_duplicate or v.under_way
   where n.id = p_id;
  if v_pending & 2 <> 0 then
    select jsonb_agg(jsonb_build_object('provider', t.provider, 'token', t.token, 'device_type', t.device_type)
                     order by t.seen_at desc) into tokens
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

-- Writes down how an attempt ended, for the holder of the job. p_results: [{channel, token, state, provider,
-- provider_id, detail, follow_s}] with the states of `delivery`. p_counts false: the attempt is not counted.
-- Returns the state of the notification; any but 'queued' has ended the job too.
create function end_attempt(p_id uuid, p_job bigint, p_fence bigint, p_results jsonb, p_pending int,
                            p_new_epoch boolean, p_counts boolean) returns text language plpgsql as $$
declare
  v notifications.notification;
  v_end record;
begin
  -- The job's row first, as in begin_attempt.
  perform core.job_hold(p_job, p_fence);
  select * into v from notifications.notification n where n.id = p_id for update;
  if not found then
    -- The account was forgotten meanwhile.
    perform core.job_complete(p_job, p_fence);
    return 'cancelled';
  end if;
  insert into notifications.delivery as d
    (notification_id, account_id, channel, token, state, provider, provider_id, detail, follow_at)
  select p_id, v.account_id, r.channel, r.token, r.state, r.provider, r.provider_id, r.detail,
         clock_timestamp() + make_interval(secs => r.follow_s)
    from jsonb_to_recordset(p_results) r (channel int, token text, state text, provider text,
                                          provider_id text, detail text, follow_s int)
  on conflict (notification_id, channel, token) do update
     set state = excluded.state, provider = excluded.provider, provider_id = excluded.provider_id,
         detail = excluded.detail, at = clock_timestamp(), follow_at = excluded.follow_at
   where d.state not in ('accepted', 'delivered');
  delete from notifications.device_token t using jsonb_to_recordset(p_results) r (token text, state text)
   where r.state = 'gone' and r.token <> '' and t.token = r.token and t.account_id = v.account_id;
  update notifications.notification n
     set pending = p_pending, under_way = false, epoch = n.epoch + p_new_epoch::int,
         attempts = n.attempts - (not p_counts)::int
   where n.id = p_id
  returning n.* into v;
  if v.state = 'queued' and p_pending = 0 then
    select * into v_end from notifications.verdict(p_id);
    perform notifications.settle(p_id, v_end.state, v_end.reason);
    v.state := v_end.state;
  elsif v.state = 'queued' and v.attempts >= (select s.max_attempts from notifications.setting s) then
    select coalesce((array_agg(d.detail order by d.at desc) filter (where d.detail <> ''))[1],
                    'Too many attempts') as reason into v_end
      from notifications.delivery d where d.notification_id = p_id and d.state = 'retry';
    perform notifications.settle(p_id, 'dead', v_end.reason);
    v.state := 'dead';
  end if;
  if v.state <> 'queued' then
    perform core.job_complete(p_job, p_fence);
  end if;
  return v.state;
end $$;

-- An act of an admin, for whoever keeps the audit.
create function act(p_actor text, p_action text, p_detail jsonb) returns void language sql as $$
  select core.event_publish('admin.act', p_actor,
    jsonb_build_object('actor', p_actor, 'action', p_action, 'detail', p_detail))
$$;

-- Tries a notification again that failed or was given up: what was not delivered, with a new time to live.
create function requeue(p_actor text, p_id uuid) returns boolean language plpgsql as $$
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
         expires_at = clock_timestamp() + n.ttl
   where n.id = p_id;
  update notifications.notification n set state = 'gathered', reason = '' where n.carrier = p_id;
  perform core.job_enqueue('notifications.deliver', jsonb_build_object('id', p_id), 'notifications', 0,
                           null, null, 1000);
  perform notifications.act(p_actor, 'notification.requeue', jsonb_build_object('notification', p_id));
  return true;
end $$;

-- Calls a notification off that still waits. False: it is over, or being sent at this moment.
create function cancel(p_actor text, p_id uuid) returns boolean language plpgsql as $$
begin
  perform 1 from notifications.notification n
   where n.id = p_id and n.state = 'queued' and not n.under_way for update;
  if not found then
    return false;
  end if;
  perform notifications.settle(p_id, 'cancelled', 'Called off by an operator');
  perform notifications.act(p_actor, 'notification.cancel', jsonb_build_object('notification', p_id));
  return true;
end $$;

-- Something that an orchestrator took and nobody has got yet: its name there. Null: there is nothing to withdraw.
create function withdrawable(p_id uuid) returns text language sql stable as $$
  select n.tid from notifications.notification n
   where n.id = p_id and n.state = 'sent' and n.carrier is null
     and exists (select 1 from notifications.delivery d where d.notification_id = n.id and d.channel <> 4
                                                          and d.state = 'accepted')
$$;

-- The orchestrator has taken it back: nothing of it is delivered any more.
create function withdrawn(p_actor text, p_id uuid) returns void language sql as $$
  update notifications.delivery d set state = 'withdrawn', follow_at = null, at = clock_timestamp()
   where d.notification_id = p_id and d.channel <> 4 and d.state = 'accepted';
  select notifications.settle(p_id, 'cancelled', 'Called off by an operator');
  select notifications.act(p_actor, 'notification.cancel', jsonb_build_object('notification', p_id));
$$;

-- Which thread an account has open in a tab, or that there is none; of its tabs it keeps the newest 100.
create function put_presence(p_account uuid, p_session text, p_thread uuid) returns void language plpgsql as $$
begin
  if p_thread is null then
    delete from notifications.presence p where p.account_id = p_account and p.session_id = p_session;
    return;
  end if;
  insert into notifications.presence (account_id, session_id, thread_id) values (p_account, p_session, p_thread)
  on conflict (account_id, session_id) do update
     set thread_id = excluded.thread_id, seen_at = clock_timestamp();
  delete from notifications.presence p
   where p.account_id = p_account
     and p.session_id in (select o.session_id from notifications.presence o where o.account_id = p_account
                           order by o.seen_at desc, o.session_id offset 100);
end $$;

-- Preferences as far as they are given. p_workflows: by workflow an object that is merged with what is there,
-- or null to forget it. What it cannot take, nothing is changed then: 'time_zone' (there is none of this name),
-- 'workflows' (there would be more than 100); else ''.
create function put_preferences(p_account uuid, p_zone text, p_quiet boolean, p_from time, p_to time,
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
  return '';
end $$;

-- A device of the account; of a provider's it keeps the newest ones, and of all providers' twice as many.
create function put_token(p_account uuid, p_provider text, p_name text, p_token text, p_type text) returns void
language plpgsql as $$
declare
  v_most int := (select s.tokens_per_provider from notifications.setting s);
begin
  -- In one order, whoever takes a device from whom.
  perform notifications.tell(w.id)
     from (select p_account as id union
           select t.account_id from notifications.device_token t
            where t.provider = p_provider and t.name = p_name order by 1) w;
  insert into notifications.device_token as t (provider, name, token, account_id, device_type)
  values (p_provider, p_name, p_token, p_account, p_type)
  on conflict (provider, name) do update
     set account_id = excluded.account_id, token = excluded.token, device_type = excluded.device_type,
         seen_at = clock_timestamp();
  delete from notifications.device_token t
   where t.account_id = p_account
     and (t.provider, t.name) in (
       select o.provider, o.name
         from (select d.provider, d.name,
                      row_number() over (partition by d.provider order by d.seen_at desc, d.name) as of_provider,
                      row_number() over (order by d.seen_at desc, d.name) as of_all
                 from notifications.device_token d where d.account_id = p_account) o
        where o.of_provider > v_most or o.of_all > 2 * v_most);
end $$;

-- The orchestrator has something to learn about this account: one job at a time tells it.
create function tell(p_account uuid) returns void language plpgsql as $$
begin
  insert into notifications.subscriber as s (account_id) values (p_account)
  on conflict (account_id) do update set version = s.version + 1, gone = false;
  perform core.job_enqueue('notifications.tell', jsonb_build_object('account_id', p_account), 'notifications', 5,
                           null, 'notifications.tell:' || p_account, 1000);
end $$;

-- Ends the telling of one version. False: there is a newer one, the job goes on.
create function told(p_account uuid, p_version bigint, p_providers jsonb, p_job bigint, p_fence bigint)
returns boolean
language plpgsql as $$
declare
  v_version bigint;
begin
  -- In the order of tell(): a change that comes now waits, and adds a job of its own.
  update notifications.subscriber s set told = p_version, providers = p_providers where s.account_id = p_account
  returning s.version into v_version;
  if v_version > p_version then
    return false;
  end if;
  delete from notifications.subscriber s where s.account_id = p_account and s.gone;
  perform core.job_complete(p_job, p_fence);
  return true;
end $$;

-- The account is no more: nothing of it is kept, here nor at the orchestrator.
create function forget_account(p_account uuid) returns void language sql as $$
  delete from notifications.device_token where account_id = p_account;
  delete from notifications.preference where account_id = p_account;
  delete from notifications.presence where account_id = p_account;
  delete from notifications.inbox_head where account_id = p_account;
  delete from notifications.inbox where account_id = p_account;
  delete from notifications.notification where account_id = p_account;
  delete from notifications.delivery where account_id = p_account;
  select notifications.tell(p_account);
  update notifications.subscriber set gone = true where account_id = p_account;
$$;

create function delivery_json(d notifications.delivery) returns jsonb language sql stable as $$
  select jsonb_build_object('notification_id', d.notification_id, 'workflow_id', n.workflow,
    'channel', notifications.channel_names(d.channel) -> 0, 'status', d.state, 'provider', d.provider,
    'detail', d.detail, 'at', notifications.iso(d.at))
    from notifications.notification n where n.id = d.notification_id
$$;

create function notification_json(n notifications.notification) returns jsonb language sql stable as $$
  select jsonb_build_object('id', n.id, 'transaction_id', n.tid, 'account_id', n.account_id,
    'workflow_id', n.workflow, 'status', n.state, 'reason', nullif(n.reason, ''),
    'pending', notifications.channel_names(n.pending), 'attempts', n.attempts,
    'maybe_duplicate', n.maybe_duplicate, 'created_at', notifications.iso(n.created_at),
    'expires_at', notifications.iso(n.expires_at), 'ended_at', notifications.iso(n.ended_at))
$$;
