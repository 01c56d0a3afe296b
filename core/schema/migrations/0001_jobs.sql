-- Nodes hold leases; a job belongs to a node as long as the node's lease runs. One row is renewed per
-- node and beat, however many jobs it carries.
create table node (
  id uuid primary key,
  lease_until timestamptz not null,
  started_at timestamptz not null default now(),
  name text not null default '',      -- of its machine
  weight int not null default 100,    -- what share of a batch it takes at once, in percent
  running int not null default 0,     -- jobs, at its last beat
  draining boolean not null default false  -- takes no more jobs; what it runs goes on
) with (fillfactor = 50);

create table job (
  id bigint generated always as identity primary key,
  kind text not null,
  queue text not null,
  state smallint not null,            -- 0 ready, 1 running, 3 scheduled; 2 dead: goes to dead_job at once
  priority int not null default 0,
  share uuid,                         -- on whose behalf; those that wait are served in turn
  turn bigint not null default 0,     -- see job_turn()
  attempt int not null default 0,     -- attempts begun
  max_attempts int not null,
  crashes int not null default 0,     -- attempts whose worker vanished
  fence bigint not null default 0,    -- grows with every hand-over; writers with an old one are refused
  node uuid,
  cancel_requested boolean not null default false,
  run_at timestamptz not null default now(),
  enqueued_at timestamptz not null default now(),
  started_at timestamptz,
  unique_key text,
  args jsonb not null,
  last_error text,
  -- What the job belongs to: traceparent, and tracestate behind a blank. The host says it for each transaction.
  trace text default nullif(current_setting('core.trace', true), '')
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 500,
        autovacuum_vacuum_cost_delay = 0);
create index job_ready on job (kind, priority, turn, run_at, id) where state = 0;
create index job_share on job (kind, share, turn) where state = 0 and share is not null;
create index job_scheduled on job (run_at) where state = 3;
create index job_running on job (node) where state = 1;
create index job_cancel on job (node) where state = 1 and cancel_requested;
create unique index job_unique on job (unique_key) where unique_key is not null and state <> 2;

-- Jobs that were given up, until somebody tries them again or they are old. Trimmed by age, a partition at a time: see 0004.
-- No key, as of core.event.
create table dead_job (
  died_at timestamptz not null default clock_timestamp(),
  id bigint not null,
  kind text not null,
  queue text not null,
  priority int not null,
  share uuid,
  attempt int not null,
  max_attempts int not null,
  crashes int not null,
  fence bigint not null,
  enqueued_at timestamptz not null,
  unique_key text,
  args jsonb not null,
  last_error text,
  trace text
) partition by range (died_at);
create index dead_job_id on dead_job (id);
create table dead_job_default partition of dead_job default;

create function job_bury() returns trigger language plpgsql as $$
begin
  delete from core.job j where j.id = new.id;
  insert into core.dead_job (id, kind, queue, priority, share, attempt, max_attempts, crashes, fence, enqueued_at,
                             unique_key, args, last_error, trace)
  values (new.id, new.kind, new.queue, new.priority, new.share, new.attempt, new.max_attempts, new.crashes, new.fence,
          new.enqueued_at, new.unique_key, new.args, new.last_error, new.trace);
  return null;
end $$;
create trigger job_dies after insert or update of state on job for each row when (new.state = 2)
  execute function job_bury();

-- The last tick of each periodic job that any node has turned into a job.
create table cron (
  kind text primary key,
  last_tick timestamptz not null
);

-- Where a new job stands among those that are ready. The first of a share joins the turn that is being served, each
-- further one the turn after that of the share's last: so one that comes alone is served next, however many
-- another share has waiting. Jobs without a share are served by age.
create function job_turn(p_kind text, p_priority int, p_share uuid) returns bigint
language plpgsql stable set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
declare
  v_served bigint; v_next bigint;
begin
  select j.turn into v_served from core.job j
   where j.state = 0 and j.kind = p_kind and j.priority = p_priority order by j.turn limit 1;
  if p_share is not null then
    select j.turn + 1 into v_next from core.job j
     where j.state = 0 and j.kind = p_kind and j.share = p_share order by j.turn desc limit 1;
  end if;
  return greatest(v_served, v_next, 0);
end $$;

-- Makes running jobs ready again, in the turns that they would have if they came now. p_crashed: their worker
-- vanished; otherwise it gave them back, and the attempt does not count. Returns how many.
create function jobs_return(p_ids bigint[], p_crashed boolean) returns bigint
language sql set enable_seqscan = off as $$
  with lost as materialized (
    select j.id, j.kind, j.priority, j.share from core.job j where j.id = any (p_ids) and j.state = 1),
  first as materialized (
    select k.kind, k.priority, k.share, core.job_turn(k.kind, k.priority, k.share) as turn
      from (select distinct l.kind, l.priority, l.share from lost l where l.share is not null) k),
  placed as (
    select l.id, coalesce(f.turn - 1 + row_number() over (partition by l.kind, l.priority, l.share order by l.id), 0) as turn
      from lost l left join first f on f.kind = l.kind and f.priority = l.priority and f.share = l.share),
  returned as (
    update core.job j
       set state = case when p_crashed and j.attempt >= j.max_attempts then 2 else 0 end, node = null, turn = p.turn,
           crashes = j.crashes + p_crashed::int,
           attempt = case when p_crashed then j.attempt else greatest(j.attempt - 1, 0) end,
           last_error = case when p_crashed and j.attempt >= j.max_attempts then 'its worker vanished'
                        else j.last_error end
      from placed p where j.id = p.id returning j.id)
  select count(*) from returned
$$;

-- Adds a job inside the caller's transaction. With p_node the job is born leased to that node. No row
-- when an unfinished job has the same unique key.
create function job_enqueue(p_kind text, p_args jsonb, p_queue text default 'default',
                            p_priority int default 0, p_run_at timestamptz default null,
                            p_unique_key text default null, p_max_attempts int default null,
                            p_node uuid default null, p_share uuid default null)
returns table (id bigint, fence bigint) language sql as $$
  insert into core.job as j (kind, queue, state, priority, attempt, max_attempts, fence, node, run_at,
                             started_at, unique_key, args, share, turn)
  values (p_kind, coalesce(p_queue, 'default'),
          case when p_node is not null then 1 when p_run_at > now() then 3 else 0 end,
          coalesce(p_priority, 0), case when p_node is not null then 1 else 0 end,
          coalesce(p_max_attempts, 20), case when p_node is not null then 1 else 0 end, p_node,
          coalesce(p_run_at, now()), case when p_node is not null then now() end, p_unique_key,
          p_args, p_share,
          case when p_node is null and p_share is not null
               then core.job_turn(p_kind, coalesce(p_priority, 0), p_share) else 0 end)
  on conflict (unique_key) where unique_key is not null and state <> 2 do nothing
  returning j.id, j.fence
$$;

-- Adds a job for each element of p_args that is not null inside the caller's transaction, born leased to
-- the node with fence 1, or ready, with fence 0, when there is none. The jobs' ids, by the place of the element. No
-- share comes twice. They are many callers' jobs: each that is leased says by adopt() what it belongs to.
create function jobs_born(p_kind text, p_queue text, p_args jsonb[], p_max_attempts int, p_node uuid,
                          p_shares uuid[] default null)
returns bigint[] language plpgsql set plan_cache_mode = force_generic_plan as $$
declare
  v_ids bigint[];
begin
  -- Two statements: what is born leased has no turn to ask for.
  if p_node is not null then
    with made as (
      insert into core.job (id, kind, queue, state, attempt, max_attempts, fence, node, started_at, args, share, trace)
      overriding system value
      select nextval('core.job_id_seq'), p_kind, p_queue, 1, 1, p_max_attempts, 1, p_node, now(), w.args, w.share, null
        from unnest(p_args, p_shares) w (args, share) where w.args is not null
      returning job.id)
    select array_agg(m.id order by m.id) into v_ids from made m;
  else
    with made as (
      insert into core.job (id, kind, queue, state, attempt, max_attempts, args, share, turn, trace)
      overriding system value
      select nextval('core.job_id_seq'), p_kind, p_queue, 0, 0, p_max_attempts, w.args, w.share,
             case when w.share is null then 0 else core.job_turn(p_kind, 0, w.share) end, null
        from unnest(p_args, p_shares) w (args, share) where w.args is not null
      returning job.id)
    select array_agg(m.id order by m.id) into v_ids from made m;
  end if;
  if array_position(p_args, null) is null then
    return v_ids;
  end if;
  return array(select v_ids[case when w.args is not null then count(w.args) over (order by w.n) end]
                 from unnest(p_args) with ordinality w (args, n) order by w.n);
end $$;

-- The same for one, leased to p_node. Returns its id.
create function job_born(p_kind text, p_queue text, p_args jsonb, p_max_attempts int, p_node uuid, p_share uuid)
returns bigint language plpgsql set plan_cache_mode = force_generic_plan as $$
declare
  v_id bigint;
begin
  insert into core.job (kind, queue, state, attempt, max_attempts, fence, node, started_at, args, share, trace)
  values (p_kind, p_queue, 1, 1, p_max_attempts, 1, p_node, now(), p_args, p_share, null) returning id into v_id;
  return v_id;
end $$;

-- Locks the job's row for the rest of the transaction; refuses a stale fence.
create function job_hold(p_id bigint, p_fence bigint) returns void language plpgsql as $$
begin
  perform 1 from core.job where id = p_id and fence = p_fence and state = 1 for no key update;
  if not found then
    raise sqlstate 'RYF01' using message = 'the job belongs to another worker now';
  end if;
end $$;

-- Ends the job inside the caller's transaction; refuses a stale fence.
create function job_complete(p_id bigint, p_fence bigint) returns void language plpgsql as $$
begin
  delete from core.job where id = p_id and fence = p_fence and state = 1;
  if not found then
    raise sqlstate 'RYF01' using message = 'the job belongs to another worker now';
  end if;
end $$;

-- The same for many. `any` and `+ 0` keep the planner, which may have seen empty tables, to the ids: the index of
-- what runs holds all that runs.
create function jobs_hold(p_ids bigint[], p_fences bigint[]) returns void language plpgsql
set plan_cache_mode = force_generic_plan as $$
begin
  perform 1 from unnest(p_ids, p_fences) w (id, fence),
                 lateral (select j.id from core.job j where j.id = w.id and j.fence = w.fence and j.state + 0 = 1
                             for no key update) l
   having count(*) = cardinality(p_ids);
  if not found then
    raise sqlstate 'RYF01' using message = 'the job belongs to another worker now';
  end if;
end $$;

create function jobs_complete(p_ids bigint[], p_fences bigint[]) returns void language plpgsql
set plan_cache_mode = force_generic_plan as $$
declare
  v_gone bigint;
begin
  delete from core.job j
   where j.id = any (p_ids) and j.fence = p_fences[array_position(p_ids, j.id)] and j.state + 0 = 1;
  get diagnostics v_gone = row_count;
  if v_gone < cardinality(p_ids) then
    raise sqlstate 'RYF01' using message = 'the job belongs to another worker now';
  end if;
end $$;

-- Of the jobs that a node believes to run, those that are over or somebody else's by now. Through the node's own rows, so
-- that it costs the same however many jobs others run, and as sets: a join may be done for each pair of them.
create function jobs_lost(p_node uuid, p_ids bigint[], p_fences bigint[]) returns table (id bigint)
language sql stable as $$
  select l.id from (select w.id, w.fence from unnest(p_ids, p_fences) w (id, fence)
                    except select j.id, j.fence from core.job j where j.node = p_node and j.state = 1) l
$$;

-- A node that was taken for gone lives: of what it ran it was no crash that made others take it over. The attempt
-- counts, and after ten it is held against the job, so that what makes its nodes stall does not go round for ever. Waits
-- for nobody: this is said while a lease is renewed.
create function jobs_outlived(p_ids bigint[], p_fences bigint[]) returns void language sql as $$
  with late as (
    select j.id from core.job j join unnest(p_ids, p_fences) w (id, fence) on j.id = w.id
     where j.crashes > 0 and j.attempt <= 10 and (j.fence > w.fence or j.fence = w.fence and j.state <> 1)
     order by j.id for no key update of j skip locked)
  update core.job j set crashes = j.crashes - 1 from late where j.id = late.id
$$;

-- The first node to move last_tick forward makes the job of a tick; an unfinished one of the kind swallows the tick, so
-- that a slow periodic job does not pile up. By this clock, as a node's may be wrong: a tick that lies ahead is none, and
-- neither was one that was noted so. True: a job was made.
create function cron_tick(p_kind text, p_tick timestamptz, p_queue text, p_max_attempts int)
returns boolean language plpgsql as $$
begin
  insert into core.cron as c (kind, last_tick)
  select p_kind, p_tick where p_tick <= now() + interval '1 minute'
      on conflict (kind) do update set last_tick = excluded.last_tick
   where c.last_tick < excluded.last_tick or c.last_tick > now() + interval '1 minute';
  if not found then
    return false;
  end if;
  perform 1 from core.job_enqueue(p_kind, '{}', p_queue, 0, null, 'cron:' || p_kind, p_max_attempts);
  return true;
end $$;

-- Asks the worker of a running job to end it, when this transaction commits: its node hears at once, or
-- at its next beat. False: nobody works on it. What waits is left as it is.
create function job_call_off(p_id bigint) returns boolean language plpgsql as $$
begin
  update core.job set cancel_requested = true where id = p_id and state = 1;
  if not found then
    return false;
  end if;
  perform pg_notify('core.jobs.cancel', '');
  return true;
end $$;

create function iso(p_at timestamptz) returns text language sql stable as $$
  select to_char(p_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$;

-- How much waits, runs and was given up in each queue, and how long the oldest that is ready has waited.
create function job_kind_depths()
returns table (queue text, kind text, ready bigint, scheduled bigint, running bigint, dead bigint,
               oldest_ready_seconds float8)
language sql stable as $$
  select d.queue, d.kind, sum(d.ready)::bigint, sum(d.scheduled)::bigint, sum(d.running)::bigint, sum(d.dead)::bigint,
         greatest(coalesce(extract(epoch from now() - min(d.oldest)), 0), 0)::float8
    from (select j.queue, j.kind, count(*) filter (where j.state = 0) as ready, count(*) filter (where j.state = 3) as scheduled,
                 count(*) filter (where j.state = 1) as running, 0 as dead, min(j.run_at) filter (where j.state = 0) as oldest
            from core.job j group by j.queue, j.kind
          union all
          select j.queue, j.kind, 0, 0, 0, count(*), null from core.dead_job j group by j.queue, j.kind) d
   group by d.queue, d.kind
$$;

create function job_depths()
returns table (queue text, ready bigint, scheduled bigint, running bigint, dead bigint, oldest_ready_seconds float8)
language sql stable as $$
  select d.queue, sum(d.ready)::bigint, sum(d.scheduled)::bigint, sum(d.running)::bigint, sum(d.dead)::bigint,
         max(d.oldest_ready_seconds)
    from core.job_kind_depths() d group by d.queue order by d.queue
$$;

-- Where a job is worked on; no row: it waits, or is over.
create function job_place(p_id bigint) returns table (node uuid, crashes int) language sql stable as $$
  select j.node, j.crashes from core.job j where j.id = p_id and j.state = 1
$$;

-- An admin's act on a job that was given up, told to whoever keeps the audit: 'retry' gives it all its
-- attempts again, 'discard' removes it. 'done', 'unknown', or 'twin': an unfinished job has its unique key.
create function job_act(p_actor text, p_act text, p_id bigint) returns text language plpgsql as $$
declare
  v core.dead_job;
begin
  select * into v from core.dead_job d where d.id = p_id for update;
  if not found then
    return 'unknown';
  end if;
  if p_act <> 'discard' then
    insert into core.job (id, kind, queue, state, priority, share, turn, max_attempts, fence, enqueued_at, unique_key, args,
                          last_error, trace)
    overriding system value
    values (v.id, v.kind, v.queue, 0, v.priority, v.share,
            case when v.share is null then 0 else core.job_turn(v.kind, v.priority, v.share) end, v.max_attempts, v.fence,
            v.enqueued_at, v.unique_key, v.args, v.last_error, v.trace)
    on conflict (unique_key) where unique_key is not null and state <> 2 do nothing;
    if not found then
      return 'twin';
    end if;
  end if;
  delete from core.dead_job d where d.id = p_id;
  perform core.event_publish('admin.act', p_actor,
    jsonb_build_object('actor', p_actor, 'action', 'job.' || p_act,
                       'detail', jsonb_build_object('job_id', v.id, 'kind', v.kind, 'queue', v.queue)));
  return 'done';
end $$;
