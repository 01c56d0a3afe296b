-- 1. Mail of the category 'account' (confirmations, password resets, security notices) is never held back by other mail: it has its own
--    limit, its own kind of job and no pace.
-- 2. A bounce suppresses an address for a time, not for ever.
-- 3. International addresses: UTF-8 before the @, and domains in any form. The worker converts domains.

alter table setting
  add column account_per_recipient_hour int not null default 60,
  add column suppress_days int not null default 90;

alter table subscription
  add column expires_at timestamptz,          -- of a bounce: after it, mail is tried again
  add column detail text not null default '',  -- the relay's reply
  add check (expires_at is null or out_at is not null);
create index subscription_out on subscription (out_at, token) where out_at is not null;
-- The former rule also took relay errors, quotas and policies for bounces.
update subscription set expires_at = now() + interval '7 days' where reason = 'bounced';

-- One bare address that is safe between angle brackets on the wire. The relay decides whether it exists.
create or replace function address_ok(p_address text) returns boolean language sql immutable as $$
  select octet_length(p_address) <= 254
     and p_address ~ '^([A-Za-z0-9.!#$%&''*+/=?^_`{|}~-]|[^\u0001-\u00a0\u2000-\u200f\u2028-\u202f\u2060-\u206f\u3000\ufeff])+@([A-Za-z0-9-]|[^\u0001-\u00a0\u2000-\u200f\u2028-\u202f\u2060-\u206f\u3000\ufeff])+(\.([A-Za-z0-9-]|[^\u0001-\u00a0\u2000-\u200f\u2028-\u202f\u2060-\u206f\u3000\ufeff])+)*$'
     and p_address !~ '^\.|\.\.|\.@|[@.]-|-(\.|$)|@(.*\.)?[0-9]+$'
     and octet_length(split_part(p_address, '@', 1)) <= 64
     and p_address !~ '[^.@]{64,}$|[^.@]{64,}\.[^@]*$'
$$;

-- Account mail is tried in spite of bounces: a reset link is worth one more attempt. Only an operator's block stops it.
create or replace function is_out(p_address text, p_category text) returns boolean language sql stable as $$
  select exists (select 1 from mail.subscription s
                  where s.address = mail.fold(p_address) and s.category in (p_category, '*') and s.out_at is not null
                    and (s.expires_at is null or s.expires_at > now())
                    and (p_category <> 'account' or s.reason = 'operator'))
$$;

create or replace function enqueue(category text, address text, subject text, body_text text,
                        body_html text default null, bulk boolean default false,
                        key text default null, ttl interval default '2 days')
returns table (id uuid, outcome text)
language plpgsql as $$
#variable_conflict use_column
declare
  v_setting mail.setting;
  v_account boolean := enqueue.category = 'account';
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
  select * into v_setting from mail.setting s;
  -- Account mail, bulk mail and all other mail are counted separately.
  if (select count(*) from mail.message m
       where mail.fold(m.address) = mail.fold(enqueue.address) and m.created_at > now() - interval '1 hour'
         and case when v_account then m.category = 'account' else m.category <> 'account' and m.bulk = enqueue.bulk end)
     >= (case when v_account then v_setting.account_per_recipient_hour else v_setting.per_recipient_hour end) then
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
  perform mail.enqueue_job(id);
  outcome := 'queued';
  return next;
end $$;

-- Messages of one broadcast (their key begins with "broadcast:<id>:") are held back or withdrawn together.
create table held_broadcast (
  id text primary key,
  state text not null check (state in ('paused', 'cancelled')),
  at timestamptz not null default now()
);

create function hold_broadcast(p_id text, p_state text) returns void language plpgsql as $$
begin
  delete from mail.held_broadcast h where h.id = p_id;
  if p_state in ('paused', 'cancelled') then
    insert into mail.held_broadcast (id, state) values (p_id, p_state) on conflict do nothing;
  end if;
end $$;

-- The job that sends a message. Account mail has its own kind of job, with its own workers.
create function enqueue_job(p_id uuid) returns void language sql as $$
  select core.job_enqueue(case when m.category = 'account' then 'mail.send_account' else 'mail.send' end,
                          jsonb_build_object('id', p_id), 'mail', case when m.bulk then 10 else 0 end, null, null,
                          (select s.max_attempts from mail.setting s))
    from mail.message m where m.id = p_id
$$;

-- As before; account mail does not wait for its turn.
create or replace function begin_attempt(p_id uuid, p_job bigint, p_fence bigint, p_gap_ms bigint, p_opens boolean)
returns table (what text, wait_ms bigint, address text, subject text, body_text text, body_html text,
               bulk boolean, token uuid, attempt int)
language plpgsql as $$
#variable_conflict use_column
declare
  v mail.message;
  v_free timestamptz;
  v_held text;
begin
  perform core.job_hold(p_job, p_fence);
  select * into v from mail.message m where m.id = p_id for update;
  what := 'over';
  if not found or v.state <> 'queued' then
    return next;
    return;
  end if;
  if not p_opens and v.body_text like 'ry-sealed:%' then
    what := 'wait';
    wait_ms := 5000;
    return next;
    return;
  end if;
  if v.key like 'broadcast:%' then
    select h.state into v_held from mail.held_broadcast h where h.id = split_part(v.key, ':', 2);
  end if;
  if v_held = 'paused' then
    update mail.message m set expires_at = greatest(m.expires_at, clock_timestamp() + interval '1 day') where m.id = p_id;
    what := 'wait';
    wait_ms := 15000;
    return next;
    return;
  end if;
  if v.expires_at <= clock_timestamp() or v_held = 'cancelled' or mail.is_out(v.address, v.category) then
    update mail.message m
       set state = case when v.expires_at <= clock_timestamp() then 'dead' else 'suppressed' end,
           ended_at = clock_timestamp(), under_way = false,
           maybe_duplicate = v.maybe_duplicate or v.under_way,
           -- A suppressed message is never sent, a dead one may be requeued.
           body_text = case when v.expires_at <= clock_timestamp() then v.body_text end,
           body_html = case when v.expires_at <= clock_timestamp() then v.body_html end
     where m.id = p_id;
    return next;
    return;
  end if;
  if p_gap_ms > 0 then
    select p.next_at into v_free from mail.pace p for update;
    if v_free > clock_timestamp() and v.category <> 'account' then
      what := 'wait';
      wait_ms := 1 + (extract(epoch from v_free - clock_timestamp()) * 1000)::bigint;
      return next;
      return;
    end if;
    update mail.pace set next_at = greatest(v_free, clock_timestamp()) + make_interval(secs => p_gap_ms / 1000.0);
  end if;
  update mail.message m
     set attempts = v.attempts + 1, under_way = true,
         maybe_duplicate = v.maybe_duplicate or v.under_way
   where m.id = p_id;
  if v.bulk or v.body_text like 'ry-sealed:u:%'
     or position('{{unsubscribe_url}}' in concat(v.body_text, v.body_html)) > 0 then
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

-- As before; a bounce ends by itself.
create or replace function end_attempt(p_id uuid, p_job bigint, p_fence bigint, p_state text, p_code int,
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
    insert into mail.subscription as s (address, category, out_at, reason, expires_at, detail)
    values (mail.fold(v_address), '*', clock_timestamp(), 'bounced',
            clock_timestamp() + make_interval(days => (select t.suppress_days from mail.setting t)), p_reply)
    on conflict (address, category) do update
       set out_at = excluded.out_at, reason = excluded.reason, expires_at = excluded.expires_at, detail = excluded.detail
     where s.reason is distinct from 'operator';
  elsif p_state = 'sent' then
    -- The relay takes the address again.
    update mail.subscription s set out_at = null, reason = null, expires_at = null, detail = ''
     where s.address = mail.fold(v_address) and s.category = '*' and s.reason = 'bounced';
  end if;
end $$;

-- Publishes that an address subscribes to a category again or unsubscribes; consumers update their preferences.
create function publish_subscription(p_address text, p_category text, p_subscribed boolean) returns void language sql as $$
  select core.event_publish('mail.subscription', p_address,
    jsonb_build_object('address', p_address, 'category', p_category, 'subscribed', p_subscribed))
$$;

-- The recipient's own decision, by the token of a link. null: no such token; else whether something changed.
create function set_subscribed(p_token uuid, p_subscribed boolean) returns boolean language plpgsql as $$
declare
  v mail.subscription;
begin
  select * into v from mail.subscription s where s.token = p_token for update;
  if not found then
    return null;
  end if;
  if p_subscribed then
    if v.reason is distinct from 'unsubscribed' then
      return false;
    end if;
    update mail.subscription s set out_at = null, reason = null, expires_at = null, detail = '' where s.token = p_token;
  else
    if v.out_at is not null and v.reason <> 'bounced' then
      return false;
    end if;
    update mail.subscription s set out_at = now(), reason = 'unsubscribed', expires_at = null, detail = '' where s.token = p_token;
  end if;
  perform mail.publish_subscription(v.address, v.category, p_subscribed);
  return true;
end $$;

-- The decision that preferences of an account hold. It publishes nothing: the preferences are the origin.
create function follow_preference(p_address text, p_category text, p_wanted boolean) returns void language plpgsql as $$
begin
  if p_wanted then
    update mail.subscription s set out_at = null, reason = null, expires_at = null, detail = ''
     where s.address = mail.fold(p_address) and s.category = p_category and s.reason = 'unsubscribed';
  end if;
end $$;

create or replace function requeue(p_actor text, p_id uuid) returns boolean language plpgsql as $$
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
  update mail.subscription s set out_at = null, reason = null, expires_at = null, detail = ''
   where s.address = mail.fold(v.address) and s.category = '*' and s.reason = 'bounced';
  perform mail.enqueue_job(p_id);
  perform mail.told(p_actor, 'mail.requeue', jsonb_build_object('message_id', p_id, 'address', v.address));
  return true;
end $$;

create or replace function lift(p_actor text, p_address text) returns boolean language plpgsql as $$
declare
  v_categories text[];
begin
  with lifted as (
    update mail.subscription s set out_at = null, reason = null, expires_at = null, detail = ''
     where s.address = mail.fold(p_address) and s.out_at is not null returning s.address, s.category),
  published as (
    select mail.publish_subscription(l.address, l.category, true) from lifted l where l.category <> '*')
  select array_agg(l.category order by l.category) into v_categories
    from lifted l left join (select count(*) from published) p on true;
  if v_categories is null then
    return false;
  end if;
  perform mail.told(p_actor, 'mail.lift',
    jsonb_build_object('address', mail.fold(p_address), 'categories', to_jsonb(v_categories)));
  return true;
end $$;

-- Lifts suppressions of one reason ('bounced' or 'operator'), narrowed by what is not null. p_domain also matches its subdomains.
-- Returns their number.
create function lift_many(p_actor text, p_reason text, p_addresses text[], p_domain text, p_since timestamptz,
                          p_until timestamptz) returns bigint language plpgsql as $$
declare
  v_lifted bigint;
begin
  update mail.subscription s set out_at = null, reason = null, expires_at = null, detail = ''
   where s.out_at is not null and s.reason = p_reason
     and (p_addresses is null or s.address = any (select mail.fold(a) from unnest(p_addresses) a))
     and (p_domain is null or split_part(s.address, '@', 2) = mail.fold(p_domain)
          or right(s.address, length(p_domain) + 1) = '.' || mail.fold(p_domain))
     and (p_since is null or s.out_at >= p_since) and (p_until is null or s.out_at < p_until);
  get diagnostics v_lifted = row_count;
  if v_lifted > 0 then
    perform mail.told(p_actor, 'mail.lift_many', jsonb_strip_nulls(jsonb_build_object('reason', p_reason,
      'addresses', cardinality(p_addresses), 'domain', p_domain, 'since', p_since, 'until', p_until, 'lifted', v_lifted)));
  end if;
  return v_lifted;
end $$;
