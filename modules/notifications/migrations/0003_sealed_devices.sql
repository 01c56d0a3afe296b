-- Device tokens (a browser's endpoint and its keys, tokens of push services) let their holder send to a device, so they are sealed
-- with the deployment's key, which is not in the database. Devices are identified by fingerprints: keyed hashes whose key is
-- sealed as well.

-- The newest one that can be opened is used. sealed: 32 random bytes, for the place "notifications.fingerprint".
create table fingerprint_key (
  id bigint generated always as identity primary key,
  sealed bytea not null,
  made_at timestamptz not null default now()
);

-- Adds a key unless another node added one after p_after.
create function add_fingerprint_key(p_sealed bytea, p_after bigint) returns void language plpgsql as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('notifications.fingerprint_key', 0));
  insert into notifications.fingerprint_key (sealed)
  select p_sealed where (select max(k.id) from notifications.fingerprint_key k) is not distinct from p_after;
end $$;

-- sealed: {"name", "token"} for the place "notifications.device:<provider>:<name>". name and token are fingerprints then ("fp:" and
-- 64 hexadecimal digits), made with fingerprint_key. Null: both are plain, the row was written by the former release; the module
-- seals it at its start.
alter table device_token add column sealed bytea, add column fingerprint_key bigint,
  add check ((sealed is null) = (fingerprint_key is null)),
  add check (sealed is null or (name ~ '^fp:[0-9a-f]{64}$' and token ~ '^fp:[0-9a-f]{64}$'));
create index device_token_key on device_token (fingerprint_key, provider, name);
create index device_token_token on device_token (token);

-- token is a fingerprint, empty or, from the former release, plain.
create index delivery_plain on delivery (id) where token <> '' and token not like 'fp:%';

create function device_json(t notifications.device_token) returns jsonb language sql stable as $$
  select jsonb_build_object('provider', t.provider, 'name', t.name, 'token', t.token, 'device_type', t.device_type,
    'sealed', translate(encode(t.sealed, 'base64'), E'\n', ''))
$$;

-- As the former put_token, sealed.
create function put_token(p_account uuid, p_provider text, p_name text, p_token text, p_type text, p_sealed bytea,
                          p_key bigint) returns int
language plpgsql as $$
declare
  v_most int := (select s.tokens_per_provider from notifications.setting s);
  v_evicted int;
begin
  -- In a fixed order, so that two accounts that register the same devices do not deadlock.
  perform notifications.tell(w.id)
     from (select p_account as id union
           select t.account_id from notifications.device_token t
            where t.provider = p_provider and t.name = p_name order by 1) w;
  insert into notifications.device_token as t (provider, name, token, account_id, device_type, sealed, fingerprint_key)
  values (p_provider, p_name, p_token, p_account, p_type, p_sealed, p_key)
  on conflict (provider, name) do update
     set account_id = excluded.account_id, token = excluded.token, device_type = excluded.device_type,
         sealed = excluded.sealed, fingerprint_key = excluded.fingerprint_key, seen_at = clock_timestamp();
  delete from notifications.device_token t
   where t.account_id = p_account
     and (t.provider, t.name) in (
       select o.provider, o.name
         from (select d.provider, d.name,
                      row_number() over (partition by d.provider order by d.seen_at desc, d.name) as of_provider,
                      row_number() over (order by d.seen_at desc, d.name) as of_all
                 from notifications.device_token d where d.account_id = p_account) o
        where o.of_provider > v_most or o.of_all > 2 * v_most);
  get diagnostics v_evicted = row_count;
  return v_evicted;
end $$;

-- Replaces a row's name and token by fingerprints, or by those of another key; the delivery log follows. Of two rows of one
-- device the newer one stays. Does nothing if the row has changed meanwhile.
create function seal_device(p_provider text, p_was_name text, p_was_token text, p_name text, p_token text, p_sealed bytea,
                            p_key bigint) returns void language plpgsql as $$
declare
  v notifications.device_token;
begin
  delete from notifications.device_token t
   where t.provider = p_provider and t.name = p_was_name and t.token = p_was_token
  returning t.* into v;
  if not found then
    return;
  end if;
  insert into notifications.device_token as t
    (provider, name, token, account_id, device_type, seen_at, sealed, fingerprint_key)
  values (p_provider, p_name, p_token, v.account_id, v.device_type, v.seen_at, p_sealed, p_key)
  on conflict (provider, name) do update
     set account_id = excluded.account_id, token = excluded.token, device_type = excluded.device_type,
         seen_at = excluded.seen_at, sealed = excluded.sealed, fingerprint_key = excluded.fingerprint_key
   where t.seen_at < excluded.seen_at;
  perform notifications.seal_deliveries(array(select d.id from notifications.delivery d
    where d.account_id = v.account_id and d.channel = 2 and d.token = p_was_token), p_token);
end $$;

-- Replaces the token of entries of the delivery log; where the entry exists already, the new one stays.
create function seal_deliveries(p_ids bigint[], p_token text) returns void language sql as $$
  update notifications.delivery d set token = p_token
   where d.id = any (p_ids) and not exists (select 1 from notifications.delivery o
     where o.notification_id = d.notification_id and o.channel = d.channel and o.token = p_token);
  delete from notifications.delivery d where d.id = any (p_ids) and d.token <> p_token;
$$;

-- A new kind of job: workers of the former kind "notifications.tell" on nodes of the former release cannot decrypt the tokens.
create or replace function tell(p_account uuid) returns void language plpgsql as $$
begin
  insert into notifications.subscriber as s (account_id) values (p_account)
  on conflict (account_id) do update set version = s.version + 1, gone = false;
  perform core.job_enqueue('notifications.subscriber', jsonb_build_object('account_id', p_account), 'notifications', 5,
                           null, 'notifications.subscriber:' || p_account, 1000);
end $$;

-- As the former begin_attempt, for workers that open sealed tokens; the others leave such notifications to them. tokens: as
-- device_json() gives them.
create function begin_attempt(p_id uuid, p_job bigint, p_fence bigint, p_served int, p_opens boolean)
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
  if not p_opens and v_pending & 2 <> 0 and exists (select 1 from notifications.device_token t
                                                     where t.account_id = v.account_id and t.sealed is not null) then
    what := 'wait';
    wait_ms := 5000;
    payload := null;
    items := null;
    return next;
    return;
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

create or replace function begin_attempt(p_id uuid, p_job bigint, p_fence bigint, p_served int)
returns table (what text, wait_ms bigint, tid text, account_id uuid, workflow text, payload jsonb, items jsonb,
               channels int, epoch int, attempt int, expires_unix_us bigint, tokens jsonb, email text, name text,
               phone text, avatar text)
language plpgsql as $$
begin
  return query select * from notifications.begin_attempt(p_id, p_job, p_fence, p_served, false);
end $$;
