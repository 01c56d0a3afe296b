-- Domain events. An event becomes one job per interested consumer in the publisher's own transaction:
-- delivery, retries, dead letters and hand-over are those of jobs.
create table event_consumer (
  module text not null,
  name text not null,
  kinds text[] not null,              -- exact, or a prefix ending in '.*'
  last_seen timestamptz not null default now(),
  primary key (module, name)
);

-- Trimmed by age, a partition at a time: see 0004. A unique index and no key: pg_restore --clean cannot drop the keys of partitions.
create table event (
  id bigint generated always as identity,
  published_at timestamptz not null default now(),
  kind text not null,
  key text not null,
  payload jsonb not null
) partition by range (published_at);
create unique index event_by_age on event (published_at, id);
create table event_default partition of event default with (autovacuum_vacuum_scale_factor = 0.02);

create function event_publish(p_kind text, p_key text, p_payload jsonb) returns bigint
language plpgsql as $$
declare
  v_id bigint;
begin
  insert into core.event (kind, key, payload) values (p_kind, p_key, p_payload) returning id into v_id;
  insert into core.job (kind, queue, state, max_attempts, args)
  select 'event.' || c.module || '.' || c.name, 'events', 0, 25,
         jsonb_build_object('id', v_id, 'kind', p_kind, 'key', p_key, 'payload', p_payload,
                            'at', (extract(epoch from clock_timestamp()) * 1000000)::bigint)
    from core.event_consumer c
   where exists (select 1 from unnest(c.kinds) k
                  where k = p_kind or (right(k, 2) = '.*' and starts_with(p_kind, left(k, -1))));
  return v_id;
end $$;

-- The same for many, in their order. Whether anybody hears of them.
create function events_publish(p_kinds text[], p_keys text[], p_payloads jsonb[]) returns boolean
language plpgsql set plan_cache_mode = force_generic_plan as $$
begin
  -- Who wants to hear is asked once for each kind, not for each event.
  with heard as materialized (
    select o.kind, c.module, c.name
      from (select distinct u.kind from unnest(p_kinds) u (kind)) o, core.event_consumer c
     where exists (select 1 from unnest(c.kinds) k
                    where k = o.kind or (right(k, 2) = '.*' and starts_with(o.kind, left(k, -1))))),
  made as (
    insert into core.event (kind, key, payload)
    select w.kind, w.key, w.payload
      from unnest(p_kinds, p_keys, p_payloads) with ordinality w (kind, key, payload, n) order by w.n
    returning id, kind, key, payload)
  insert into core.job (kind, queue, state, max_attempts, args)
  select 'event.' || h.module || '.' || h.name, 'events', 0, 25,
         jsonb_build_object('id', m.id, 'kind', m.kind, 'key', m.key, 'payload', m.payload,
                            'at', (extract(epoch from clock_timestamp()) * 1000000)::bigint)
    from made m join heard h on h.kind = m.kind
   order by m.id;
  return found;
end $$;
