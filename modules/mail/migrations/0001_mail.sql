-- One row. Written by the module at its start, from its settings.
create table setting (
  only_row boolean primary key default true check (only_row),
  per_recipient_hour int not null default 20,
  max_attempts int not null default 30
);
insert into setting default values;

-- Addresses are compared without case. Only ASCII comes here.
create function fold(p_address text) returns text language sql immutable as $$
  select lower(p_address collate "C")
$$;

-- One bare address that is safe between angle brackets on the wire. What it means is the relay's to say.
create function address_ok(p_address text) returns boolean language sql immutable as $$
  select octet_length(p_address) <= 254 and
         p_address ~ '^[A-Za-z0-9.!#$%&''*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$'
     and p_address !~ '^\.|\.\.|\.@'
$$;

-- What is known of an address and a category of mail. The token stands in the mails' unsubscribe links;
-- the row outlives them. The category '*' is all mail: the address bounced, or an operator blocked it.
create table subscription (
  address text not null,               -- folded
  category text not null check (category ~ '^([a-z_]{1,32}|\*)$'),
  token uuid not null unique default gen_random_uuid(),
  out_at timestamptz,                  -- since when nothing is sent
  reason text check (reason in ('unsubscribed', 'bounced', 'operator')),
  primary key (address, category),
  check ((out_at is null) = (reason is null))
);

create table message (
  id uuid primary key,
  category text not null check (category ~ '^[a-z_]{1,32}$'),
  address text not null check (mail.address_ok(address)),
  subject text not null check (subject !~ '[[:cntrl:]]'),
  body_text text,                      -- both bodies go when the message was sent
  body_html text,
  bulk boolean not null,
  key text unique,
  state text not null default 'queued'
    check (state in ('queued', 'sent', 'refused', 'dead', 'suppressed')),
  attempts int not null default 0,
  under_way boolean not null default false,       -- an attempt has begun and not told how it ended
  maybe_duplicate boolean not null default false, -- an attempt was cut when the relay may have had it all
  reply_code int not null default 0,
  reply text not null default '',
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  ended_at timestamptz,
  check ((state = 'queued') = (ended_at is null))
) with (fillfactor = 80);
create index message_recipient on message (mail.fold(address), created_at);
create index message_ended on message (state, ended_at, id) where ended_at is not null;
create index message_waiting on message (expires_at) where ended_at is null;

-- The next instant at which a message may be handed over, by all nodes together.
create table pace (
  only_row boolean primary key default true check (only_row),
  next_at timestamptz not null default '-infinity'
);
insert into pace default values;

create function is_out(p_address text, p_category text) returns boolean language sql stable as $$
  select exists (select 1 from mail.subscription s
                  where s.address = mail.fold(p_address) and s.category in (p_category, '*')
                    and s.out_at is not null)
$$;

create function enqueue(category text, address text, subject text, body_text text,
                        body_html text default null, bulk boolean default false,
                        key text default null, ttl interval default '2 days')
returns table (id uuid, outcome text)
language plpgsql as $$
#variable_conflict use_column
declare
  v_most int;
  v_attempts int;
begin
  if not coalesce(mail.address_ok(enqueue.address), false) then
    raise sqlstate 'RY422' using message = 'This is not a valid e-mail address';
  end if;
  if enqueue.key is not null then
    select m.id into id from mail.message m where m.key = enqueue.key;
    if found then
      outcome := 'duplicate';
      return next;
      return;
    end if;
  end if;
  if mail.is_out(enqueue.address, enqueue.category) then
    outcome := 'suppressed';
    return next;
    return;
  end if;
  select s.per_recipient_hour, s.max_attempts into v_most, v_attempts from mail.setting s;
  -- Invitations that somebody has sent must not keep a password's mail away.
  if (select count(*) from mail.message m
       where mail.fold(m.address) = mail.fold(enqueue.address) and m.bulk = enqueue.bulk
         and m.created_at > now() - interval '1 hour') >= v_most then
    outcome := 'throttled';
    return next;
    return;
  end if;
  insert into mail.message as m (id, category, address, subject, body_text, body_html, bulk, key,
                                 expires_at)
  values (gen_random_uuid(), enqueue.category, enqueue.address,
          regexp_replace(enqueue.subject, '[[:cntrl:]]+', ' ', 'g'), enqueue.body_text,
          enqueue.body_html, enqueue.bulk, enqueue.key, now() + enqueue.ttl)
  on conflict (key) do nothing
  returning m.id into id;
  if not found then
    select m.id into id from mail.message m where m.key = enqueue.key;
    outcome := 'duplicate';
    return next;
    return;
  end if;
  perform core.job_enqueue('mail.send', jsonb_build_object('id', id), 'mail',
                           case when enqueue.bulk then 10 else 0 end, null, null, v_attempts);
  outcome := 'queued';
  return next;
end $$;

-- Begins an attempt for the holder of the job. `what`: 'send' with the message; 'wait' with the
-- milliseconds until it may go; 'over': there is nothing (more) to send, the job is done.
create function begin_attempt(p_id uuid, p_job bigint, p_fence bigint, p_gap_ms bigint)
returns table (what text, wait_ms bigint, address text, subject text, body_text text, body_html text,
               bulk boolean, token uuid, attempt int)
language plpgsql as $$
#variable_conflict use_column
declare
  v mail.message;
  v_free timestamptz;
begin
  perform core.job_hold(p_job, p_fence);
  select * into v from mail.message m where m.id = p_id for update;
  what := 'over';
  if not found or v.state <> 'queued' then
    return next;
    return;
  end if;
  if v.expires_at <= clock_timestamp() or mail.is_out(v.address, v.category) then
    update mail.message m
       set state = case when v.expires_at <= clock_timestamp() then 'dead' else 'suppressed' end,
           ended_at = clock_timestamp(), under_way = false,
           maybe_duplicate = v.maybe_duplicate or v.under_way
     where m.id = p_id;
    return next;
    return;
  end if;
  if p_gap_ms > 0 then
    select p.next_at into v_free from mail.pace p for update;
    if v_free > clock_timestamp() then
      what := 'wait';
      wait_ms := 1 + (extract(epoch from v_free - clock_timestamp()) * 1000)::bigint;
      return next;
      return;
    end if;
    update mail.pace set next_at = clock_timestamp() + make_interval(secs => p_gap_ms / 1000.0);
  end if;
  update mail.message m
     set attempts = v.attempts + 1, under_way = true,
         maybe_duplicate = v.maybe_duplicate or v.under_way
   where m.id = p_id;
  if v.bulk or position('{{unsubscribe_url}}' in concat(v.body_text, v.body_html)) > 0 then
    insert into mail.subscription as s (address, category) values (mail.fold(v.address), v.category)
    on conflict on constraint subscription_pkey do nothing;
    select s.token into token from mail.subscription s
     where s.address = mail.fold(v.address) and s.category = v.category;
  end if;
  what := 'send';
  address := v.address;
  subject := v.subject;
  body_text := v.body_text;
  body_html := v.body_html;
  bulk := v.bulk;
  attempt := v.attempts + 1;
  return next;
end $$;

-- Writes down how an attempt ended, for the holder of the job. p_state 'queued': it will be tried again.
-- Any other state ends the job too. p_bounced: the address itself was refused, and gets no more mail.
create function end_attempt(p_id uuid, p_job bigint, p_fence bigint, p_state text, p_code int,
                            p_reply text, p_maybe_duplicate boolean, p_bounced boolean) returns void
language plpgsql as $$
declare
  v_address text;
begin
  if p_state = 'queued' then
    perform core.job_hold(p_job, p_fence);
  else
    perform core.job_complete(p_job, p_fence);
  end if;
  update mail.message m
     set state = p_state, under_way = false, reply_code = p_code, reply = p_reply,
         maybe_duplicate = m.maybe_duplicate or p_maybe_duplicate,
         ended_at = case when p_state <> 'queued' then clock_timestamp() end,
         body_text = case when p_state <> 'sent' then m.body_text end,
         body_html = case when p_state <> 'sent' then m.body_html end
   where m.id = p_id
   returning m.address into v_address;
  if p_bounced then
    insert into mail.subscription as s (address, category, out_at, reason)
    values (mail.fold(v_address), '*', clock_timestamp(), 'bounced')
    on conflict (address, category) do update
       set out_at = coalesce(s.out_at, excluded.out_at), reason = coalesce(s.reason, excluded.reason);
  end if;
end $$;

-- Acts of admins. This module knows no accounts: whoever keeps the audit hears of them.
create function told(p_actor text, p_action text, p_detail jsonb) returns void language sql as $$
  select core.event_publish('admin.act', p_actor,
    jsonb_build_object('actor', p_actor, 'action', p_action, 'detail', p_detail))
$$;

-- Tries a message again that was given up or refused; its recipient is given another chance. False:
-- there is no such message.
create function requeue(p_actor text, p_id uuid) returns boolean language plpgsql as $$
declare
  v mail.message;
begin
  select * into v from mail.message m
   where m.id = p_id and m.state in ('dead', 'refused') for update;
  if not found then
    return false;
  end if;
  update mail.message m
     set state = 'queued', ended_at = null, expires_at = clock_timestamp() + interval '2 days'
   where m.id = p_id;
  update mail.subscription s set out_at = null, reason = null
   where s.address = mail.fold(v.address) and s.category = '*' and s.reason = 'bounced';
  perform core.job_enqueue('mail.send', jsonb_build_object('id', p_id), 'mail', 0, null, null,
                           (select s.max_attempts from mail.setting s));
  perform mail.told(p_actor, 'mail.requeue', jsonb_build_object('message_id', p_id, 'address', v.address));
  return true;
end $$;

-- Lets mail go to an address again. False: nothing stood in the way.
create function lift(p_actor text, p_address text) returns boolean language plpgsql as $$
declare
  v_categories text[];
begin
  with lifted as (
    update mail.subscription s set out_at = null, reason = null
     where s.address = mail.fold(p_address) and s.out_at is not null returning s.category)
  select array_agg(l.category order by l.category) into v_categories from lifted l;
  if v_categories is null then
    return false;
  end if;
  perform mail.told(p_actor, 'mail.lift',
    jsonb_build_object('address', mail.fold(p_address), 'categories', to_jsonb(v_categories)));
  return true;
end $$;
