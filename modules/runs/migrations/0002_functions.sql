create function iso(p_at timestamptz) returns text language sql stable as $$
  select to_char(p_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
$$;

-- Starts, each of another account, in one statement and one commit. The arrays hold one element for each;
-- refusals are an outcome, not an exception: nothing was written for a start whose `outcome` is neither
-- 'ok' nor 'queued'. `n`: the place of the start; the rows come in any order. Under the accounts' locks, so parallel starts see each other. Without p_wait an account
-- that is locked is not waited for, so that none holds up the others: 'alone', ask for it by itself, with
-- p_wait.
--
-- outcome: ok, queued (detail: the place; see admit()), replay, alone; no_account; prompt_required; tier
-- (detail: the present tier; ask again with its
-- limits); key_reused; thread_not_found; project_not_found; agent_not_found; model (detail: the
-- agent's own model; ask again with it in p_models); model_denied; no_credits; thread_limit (detail: count);
-- run_limit (detail: JSON array of thread ids); thread_busy (detail: the run's id).
--
-- p_plain: no start names a thread, project, sandbox or key, so nothing has to be looked up for them.
-- Many arrays are read by their places, here and below: unnest() of forty would make forty stores of rows for each statement,
-- a twentieth of what it takes.
-- The plans are made once for a connection, perhaps while the tables are empty: hence by index. For the same
-- reason functions that know a run by its id tell by completed_at whether it goes on: by its status the planner
-- would take the index of what runs, and read all of it.
create function start_runs(
  p_accounts uuid[], p_tiers text[], p_max_runs bigint[], p_max_threads bigint[], p_threads uuid[],
  p_projects uuid[], p_optimistic boolean[], p_new_threads uuid[], p_new_projects uuid[], p_runs uuid[],
  p_messages uuid[], p_agents uuid[], p_models text[], p_default_models text[], p_denied boolean[],
  p_bodies text[], p_titles text[], p_modes text[], p_memory boolean[], p_sandboxes uuid[], p_keys text[],
  p_hashes text[], p_prompted boolean[], p_budgets bigint[], p_policies text[], p_queue boolean[],
  p_behind boolean[], p_max_waiting bigint, p_plain boolean, p_wait boolean,
  p_node uuid, p_timeout int, p_first_event text, p_reserve bigint)
returns table (n bigint, outcome text, detail text, thread_id uuid, project_id uuid, sandbox_id uuid,
               run_id uuid, agent_id uuid, agent_version int, model text, job_id bigint, fence bigint,
               fresh_thread boolean)
language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
#variable_conflict use_column
declare
  v_found record;
  v_asked uuid[];
  -- As found in the database, by the place of the start.
  v_tiers text[]; v_balances bigint[];
  v_agents uuid[]; v_versions int[]; v_agent_models text[];
  v_thread_owners uuid[]; v_thread_projects uuid[]; v_project_owners uuid[]; v_old_sandboxes uuid[];
  v_last_runs uuid[]; v_last_statuses text[];
  v_old_hashes text[]; v_old_runs uuid[]; v_old_threads uuid[]; v_old_projects uuid[];
  v_old_run_sandboxes uuid[];
  v_threads bigint[]; v_bounds bigint[]; v_lives text[]; v_places bigint[];
  v_count boolean;
  v_fence constant bigint := (p_node is not null)::int;  -- 0: the job waits in the queue for some node
begin
  -- A statement of its own: what comes after sees what was committed before the locks were had. Assignments of one
  -- expression, because each query sets up an executor.
  if not p_wait then
    v_found := accounts.try_lock_accounts(p_accounts);
    v_tiers := v_found.tiers;
    v_balances := v_found.balances;
  else
    select array[l.tier], array[l.balance_micro] into v_tiers, v_balances
      from accounts.lock_account(p_accounts[1]) l;
  end if;
  v_asked := p_accounts;
  if array_position(v_tiers, null) > 0 or v_tiers is null then
    v_asked := array(select case when w.tier is not null then w.account end
                       from unnest(p_accounts, v_tiers) with ordinality w (account, tier, n) order by w.n);
  end if;
  v_found := agents.resolve_all(v_asked, p_agents);
  v_agents := v_found.agents;
  v_versions := v_found.versions;
  v_agent_models := v_found.models;
  if not p_plain then
    select array_agg(t.account_id order by w.n), array_agg(t.project_id order by w.n),
           array_agg(p.account_id order by w.n), array_agg(p.sandbox_id order by w.n),
           array_agg(last.id order by w.n), array_agg(last.status order by w.n),
           array_agg(o.body_hash order by w.n), array_agg(o.run_id order by w.n),
           array_agg(o.thread_id order by w.n), array_agg(o.project_id order by w.n),
           array_agg(o.sandbox_id order by w.n)
      into v_thread_owners, v_thread_projects, v_project_owners, v_old_sandboxes, v_last_runs,
           v_last_statuses, v_old_hashes, v_old_runs, v_old_threads, v_old_projects, v_old_run_sandboxes
      from unnest(p_accounts, p_threads, p_projects, p_keys) with ordinality w (account, thread, project, key, n)
      left join runs.threads t on t.id = w.thread
      left join runs.projects p on p.id = coalesce(t.project_id, w.project)
      left join runs.idempotency o on o.account_id = w.account and o.key = w.key
            and o.created_at > now() - interval '24 hours'
      left join lateral (select r.id, r.status from runs.runs r
                          where r.thread_id = w.thread and r.status = 'running'
                          order by r.id desc limit 1) last on true;
  end if;

  -- Counted only where it may matter: most starts find a free slot and do not ask for a place.
  select array_agg(coalesce(u.threads, 0) order by w.n), array_agg(coalesce(u.runs_bound, 0) order by w.n),
         bool_or(coalesce(u.runs_bound, 0) >= w.max_runs or w.queue or w.behind)
    into v_threads, v_bounds, v_count
    from (select o.account, o.n, p_max_runs[o.n] as max_runs, p_queue[o.n] as queue, p_behind[o.n] as behind
            from unnest(p_accounts) with ordinality o (account, n)) w
    left join runs.account_usage u on u.account_id = w.account;
  if v_count then
    select array_agg(case when l.counted then l.running else w.bound end order by w.n), array_agg(l.live order by w.n),
           array_agg(l.place order by w.n)
      into v_bounds, v_lives, v_places
      from unnest(p_accounts, v_bounds, p_max_runs, p_queue, p_behind) with ordinality
             w (account, bound, max_runs, queue, behind, n),
           lateral (
             select w.bound >= w.max_runs as counted, c.running, c.live,
                    case when w.queue or w.behind then
                      (select count(*) + 1 from runs.runs r where r.account_id = w.account and r.waiting) end as place
               from (select count(*) as running, coalesce(jsonb_agg(r.thread_id), '[]')::text as live from runs.runs r
                      where w.bound >= w.max_runs and r.account_id = w.account and r.status = 'running'
                        and not r.waiting) c) l;
  end if;

  return query
  with judged as materialized (
    select w.n, w.account, w.tier_now, w.max_runs, w.run, w.message, w.agent, w.version, w.agent_model,
           coalesce(w.model, w.default_model) as model, w.body, w.title, w.mode, w.memory, w.sandbox, w.budget,
           w.policy, w.last_run, w.threads, w.live, w.bound, w.place, k.the_thread, k.the_project, k.fresh_thread,
           k.fresh_project, case
        when w.tier_now is null then case when p_wait then 'no_account' else 'alone' end
        when w.old_hash <> w.hash then 'key_reused'
        when w.old_hash is not null then 'replay'
        when w.tier_now <> w.tier then 'tier'
        when k.fresh_thread and not w.prompted and (w.thread is null or w.optimistic) then 'prompt_required'
        when w.thread is not null and k.fresh_thread and not w.optimistic then 'thread_not_found'
        when w.thread_owner <> w.account or w.thread_project <> w.project then 'thread_not_found'
        when w.project_owner <> w.account
          then case when w.optimistic then 'thread_not_found' else 'project_not_found' end
        when w.project is not null and k.fresh_project and not w.optimistic then 'project_not_found'
        when w.agent is null then 'agent_not_found'
        when w.denied then 'model_denied'
        when w.model is null and w.agent_model is not null then 'model'
        when w.model is null and w.default_model is null then 'model_denied'
        when w.balance <= 0 then 'no_credits'
        when k.fresh_thread and w.threads >= w.max_threads then 'thread_limit'
        when w.last_status = 'running' and w.behind and w.place <= p_max_waiting then 'queued'
        when w.bound >= w.max_runs and not (w.queue and w.place <= p_max_waiting) then 'run_limit'
        when w.last_status = 'running' then 'thread_busy'
        when w.bound >= w.max_runs then 'queued'
        else 'ok' end as outcome
      from (
               select o.account, o.n, v_tiers[o.n] as tier_now, v_balances[o.n] as balance, p_tiers[o.n] as tier,
                      p_max_runs[o.n] as max_runs, p_max_threads[o.n] as max_threads, p_threads[o.n] as thread,
                      p_projects[o.n] as project, p_optimistic[o.n] as optimistic, p_new_threads[o.n] as new_thread,
                      p_new_projects[o.n] as new_project, p_runs[o.n] as run, p_messages[o.n] as message,
                      v_agents[o.n] as agent, v_versions[o.n] as version, v_agent_models[o.n] as agent_model,
                      p_models[o.n] as model, p_default_models[o.n] as default_model, p_denied[o.n] as denied,
                      p_bodies[o.n] as body, p_titles[o.n] as title, p_modes[o.n] as mode, p_memory[o.n] as memory,
                      p_sandboxes[o.n] as sandbox, p_hashes[o.n] as hash, p_prompted[o.n] as prompted,
                      p_budgets[o.n] as budget, p_policies[o.n] as policy, p_queue[o.n] as queue,
                      p_behind[o.n] as behind, v_thread_owners[o.n] as thread_owner,
                      v_thread_projects[o.n] as thread_project, v_project_owners[o.n] as project_owner,
                      v_last_runs[o.n] as last_run, v_last_statuses[o.n] as last_status, v_old_hashes[o.n] as old_hash,
                      v_threads[o.n] as threads, v_bounds[o.n] as bound, v_lives[o.n] as live, v_places[o.n] as place
                 from unnest(p_accounts) with ordinality o (account, n)) w,
      lateral (
        select w.thread_owner is null as fresh_thread, w.project_owner is null as fresh_project,
               coalesce(w.thread, w.new_thread) as the_thread,
               coalesce(w.thread_project, w.project, w.new_project) as the_project) k),
  job as materialized (
    select core.jobs_born(
      'runs.execute', 'runs',
      array(select case when g.outcome = 'ok' then jsonb_build_object('run_id', g.run) end from judged g order by g.n),
      1000000, p_node, p_accounts) as ids),
  new_project as (
    insert into runs.projects (id, account_id, name, sandbox_id)
    select g.the_project, g.account, g.title, g.sandbox from judged g
     where g.outcome in ('ok', 'queued') and g.fresh_project),
  joined_project as (
    update runs.projects p set threads = p.threads + 1 from judged g
     where p.id = g.the_project and g.outcome in ('ok', 'queued') and g.fresh_thread and not g.fresh_project),
  new_thread as (
    insert into runs.threads (id, project_id, account_id, title)
    select g.the_thread, g.the_project, g.account, g.title from judged g
     where g.outcome in ('ok', 'queued') and g.fresh_thread),
  usage as (
    insert into runs.account_usage as u (account_id, threads, runs_bound)
    select g.account, g.fresh_thread::int, g.bound + (g.outcome = 'ok')::int from judged g
     where g.outcome in ('ok', 'queued')
    on conflict (account_id) do update
      set threads = u.threads + excluded.threads, runs_bound = excluded.runs_bound),
  new_message as (
    insert into runs.messages (thread_id, id, run_id, role, body)
    select g.the_thread, g.message, g.run, 'user', g.body from judged g
     where g.outcome = 'ok' and g.body is not null),
  new_run as (
    insert into runs.runs (id, account_id, project_id, thread_id, agent_id, agent_version, model, mode,
                           memory_enabled, job_id, fence, seq_reserved, border_seq, timeout_seconds,
                           budget_micro, budget_policy, waiting, waiting_message, waiting_body, queue_place,
                           slot_limit)
    select g.run, g.account, g.the_project, g.the_thread, g.agent, g.version, g.model, g.mode, g.memory,
           coalesce(j.ids[g.n], 0), case when g.outcome = 'ok' then v_fence else 0 end,
           case when g.outcome <> 'ok' then 2 when v_fence = 0 then 1 else p_reserve end,
           case when g.outcome = 'ok' then 1 else 2 end, p_timeout,
           g.budget, g.policy, g.outcome = 'queued', case when g.outcome = 'queued' then g.message end,
           case when g.outcome = 'queued' then g.body end, case when g.outcome = 'queued' then g.place end, g.max_runs
      from judged g, job j where g.outcome in ('ok', 'queued')),
  first_event as (
    insert into runs.events (run_id, seq, last_seq, wire)
    select g.run, 1, case g.outcome when 'ok' then 1 else 2 end,
           case g.outcome when 'ok' then p_first_event else p_first_event || runs.queued_wire(2, g.place) end
      from judged g where g.outcome in ('ok', 'queued'))
  select g.n, g.outcome,
         case g.outcome when 'tier' then g.tier_now when 'model' then g.agent_model
           when 'thread_limit' then g.threads::text
           when 'run_limit' then g.live
           when 'thread_busy' then g.last_run::text when 'queued' then g.place::text end,
         case g.outcome when 'replay' then v_old_threads[g.n] else g.the_thread end,
         case g.outcome when 'replay' then v_old_projects[g.n] else g.the_project end,
         case g.outcome when 'replay' then v_old_run_sandboxes[g.n]
           else coalesce(v_old_sandboxes[g.n], g.sandbox) end,
         case g.outcome when 'replay' then v_old_runs[g.n] else g.run end,
         g.agent, g.version, g.model, j.ids[g.n], v_fence, g.fresh_thread
    from judged g, job j;

  if not p_plain then
    -- Those that were granted have their run by now.
    update runs.projects p set sandbox_id = w.sandbox
      from unnest(p_runs, p_sandboxes) w (run, sandbox) join runs.runs r on r.id = w.run
     where w.sandbox is not null and p.id = r.project_id and p.sandbox_id is null;
    insert into runs.idempotency as i (account_id, key, body_hash, run_id, thread_id, project_id, sandbox_id)
    select r.account_id, w.key, w.hash, r.id, r.thread_id, r.project_id, p.sandbox_id
      from unnest(p_runs, p_keys, p_hashes) w (run, key, hash)
      join runs.runs r on r.id = w.run join runs.projects p on p.id = r.project_id
     where w.key is not null
    on conflict (account_id, key) do update
      set body_hash = excluded.body_hash, run_id = excluded.run_id, thread_id = excluded.thread_id,
          project_id = excluded.project_id, sandbox_id = excluded.sandbox_id, created_at = now();
  end if;
end $$;

-- The start that nearly all are, by itself and in half the time of start_runs(): of a new thread in a new project, by plain statements
-- without the sets of the others, whose setting up is most of what they take. Only when nothing at all speaks against it: else nothing is written, job_id is
-- null, and start_runs() says why, or does what is asked. It writes what that would.
create function start_plain(
  p_account uuid, p_tier text, p_max_runs bigint, p_max_threads bigint, p_thread uuid, p_project uuid, p_run uuid,
  p_message uuid, p_agent uuid, p_model text, p_default_model text, p_body text, p_title text, p_mode text,
  p_memory boolean, p_budget bigint, p_policy text, p_node uuid, p_timeout int, p_first_event text, p_reserve bigint,
  out agent_id uuid, out agent_version int, out model text, out job_id bigint)
language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
#variable_conflict use_column
declare
  v_account record;
  v_agent record;
  v_threads bigint;
  v_bound bigint;
begin
  v_account := accounts.try_lock_account(p_account);
  if v_account.tier is distinct from p_tier or v_account.balance_micro <= 0 then
    return;
  end if;
  v_agent := agents.find(p_account, p_agent);
  agent_id := v_agent.agent;
  agent_version := v_agent.version;
  model := coalesce(p_model, case when v_agent.model is null then p_default_model end);
  if agent_id is null or model is null then
    return;
  end if;
  -- A statement of its own: it sees what was committed before the lock was had.
  select u.threads, u.runs_bound into v_threads, v_bound from runs.account_usage u where u.account_id = p_account;
  if coalesce(v_threads, 0) >= p_max_threads or coalesce(v_bound, 0) >= p_max_runs then
    return;
  end if;
  if v_bound is null then
    insert into runs.account_usage (account_id, threads, runs_bound) values (p_account, 1, 1);
  else
    update runs.account_usage u set threads = v_threads + 1, runs_bound = v_bound + 1 where u.account_id = p_account;
  end if;
  job_id := core.job_born('runs.execute', 'runs', jsonb_build_object('run_id', p_run), 1000000, p_node, p_account);
  insert into runs.projects (id, account_id, name) values (p_project, p_account, p_title);
  insert into runs.threads (id, project_id, account_id, title) values (p_thread, p_project, p_account, p_title);
  insert into runs.messages (thread_id, id, run_id, role, body) values (p_thread, p_message, p_run, 'user', p_body);
  insert into runs.runs (id, account_id, project_id, thread_id, agent_id, agent_version, model, mode, memory_enabled, job_id,
                         fence, seq_reserved, border_seq, timeout_seconds, budget_micro, budget_policy, slot_limit)
  values (p_run, p_account, p_project, p_thread, agent_id, agent_version, model, p_mode, p_memory, job_id,
          1, p_reserve, 1, p_timeout, p_budget, p_policy, p_max_runs);
  insert into runs.events (run_id, seq, last_seq, wire) values (p_run, 1, 1, p_first_event);
end $$;

-- Completes the user message of a start whose files were moved into place inside its transaction.
create function attach_uploads(p_run uuid, p_thread uuid, p_project uuid, p_message uuid, p_body text,
                               p_names text[], p_sizes bigint[], p_types text[])
returns void language plpgsql as $$
begin
  insert into runs.uploads (run_id, name, project_id, size, media_type)
  select p_run, u.name, p_project, u.size, u.type from unnest(p_names, p_sizes, p_types) u (name, size, type);
  update runs.runs set waiting_message = p_message, waiting_body = p_body where id = p_run and waiting;
  if not found then
    insert into runs.messages (thread_id, id, run_id, role, body)
    values (p_thread, p_message, p_run, 'user', p_body);
  end if;
end $$;

-- An event as it stands in the log.
create function event_wire(p_seq bigint, p_payload text) returns text language sql immutable as $$
  select 'id: ' || p_seq || E'\ndata: ' || p_payload || E'\n\n'
$$;

create function queued_wire(p_seq bigint, p_place bigint) returns text language sql immutable as $$
  select runs.event_wire(p_seq, format('{"type": "queued", "sequence": %s, "position": %s}', p_seq, p_place))
$$;

-- What was found in the files of a run, and the user's message that tells it. False: the run ended or
-- belongs to another worker. Raises RYF01 when the job's lease was lost.
create function note_uploads(p_run uuid, p_job bigint, p_fence bigint, p_body text, p_names text[],
                             p_found text[], p_details text[])
returns boolean language plpgsql as $$
declare
  v_thread uuid;
begin
  select r.thread_id into v_thread from runs.runs r
   where r.id = p_run and r.fence = p_fence and r.completed_at is null for no key update;
  if not found then
    return false;
  end if;
  perform core.job_hold(p_job, p_fence);
  update runs.uploads u set found = n.found, detail = n.detail
    from unnest(p_names, p_found, p_details) n (name, found, detail)
   where u.run_id = p_run and u.name = n.name;
  update runs.messages m set body = p_body
   where m.thread_id = v_thread and m.run_id = p_run and m.role = 'user';
  return true;
end $$;

-- Lets waiting runs of the account begin, oldest first, as far as slots are free and the threads' earlier
-- runs are over, and tells the others their new places. Called in the transaction that ends a run: a start
-- that sees the run going holds the account and is seen here, or comes after it and sees it ended.
-- A run that is locked is being ended, by somebody who will come here next. p_limit: the slots that the
-- account has by now; null: as noted with each run.
create function admit(p_account uuid, p_limit bigint default null) returns void language plpgsql as $$
declare
  v runs.runs%rowtype;
  v_running bigint;
  v_place int := 0;
begin
  perform 1 from accounts.lock_account(p_account);
  if not exists (select 1 from runs.runs r where r.account_id = p_account and r.waiting) then
    return;
  end if;
  select count(*) into v_running from runs.runs r
   where r.account_id = p_account and r.status = 'running' and not r.waiting;
  for v in select * from runs.runs r where r.account_id = p_account and r.waiting order by r.id
             for no key update skip locked loop
    if p_limit <> v.slot_limit then
      v.slot_limit := p_limit;
      update runs.runs r set slot_limit = p_limit where r.id = v.id;
    end if;
    if v_running < v.slot_limit and not exists (
         select 1 from runs.runs o where o.thread_id = v.thread_id and o.status = 'running' and o.id <> v.id
            and (not o.waiting or o.id < v.id)) then
      v_running := v_running + 1;
      if v.waiting_body is not null then
        insert into runs.messages (thread_id, id, run_id, role, body)
        values (v.thread_id, v.waiting_message, v.id, 'user', v.waiting_body);
      end if;
      update runs.runs r
         set waiting = false, waiting_message = null, waiting_body = null, admitted_at = clock_timestamp(),
             job_id = (select j.id from core.job_enqueue(
                         p_kind => 'runs.execute', p_args => jsonb_build_object('run_id', v.id),
                         p_queue => 'runs', p_max_attempts => 1000000, p_share => p_account) j)
       where r.id = v.id;
    else
      v_place := v_place + 1;
      if v.queue_place <> v_place then
        insert into runs.events (run_id, seq, last_seq, wire)
        values (v.id, v.border_seq + 1, v.border_seq + 1, runs.queued_wire(v.border_seq + 1, v_place));
        update runs.runs r set queue_place = v_place, border_seq = v.border_seq + 1, seq_reserved = v.border_seq + 1
         where r.id = v.id;
      end if;
    end if;
  end loop;
  update runs.account_usage u set runs_bound = v_running where u.account_id = p_account;
end $$;

-- Admits by the plan that the account has now, which may be another than at the start of what waits.
-- p_limit: the slots of p_tier. Returns the tier when it is another: ask again with its limit. Null: done.
create function admit_by_plan(p_account uuid, p_tier text, p_limit bigint) returns text language plpgsql as $$
declare
  v_tier text;
begin
  select l.tier into v_tier from accounts.lock_account(p_account) l;
  if v_tier <> p_tier then
    return v_tier;
  end if;
  perform runs.admit(p_account, p_limit);
  return null;
end $$;

-- The accounts that have waiting runs: for a sweep with admit_by_plan(), one transaction for each. It finds
-- what an end passed over because a stop held the run and was then taken back.
create function accounts_waiting() returns setof uuid language sql stable as $$
  select distinct r.account_id from runs.runs r where r.waiting
$$;

-- What workers write at borders, many in one statement and one commit: for each the events since the last border,
-- messages, usage and charge; with a status also the end of the run and of its job. Repeating it when its outcome
-- is unknown changes nothing.
-- Each step has an element of the arrays up to p_first_tokens, and at least one row of the log. p_row_of,
-- p_message_of, p_webhook_of: the place, from 1, of the step that a row of the log, a message, the name of a webhook
-- belongs to. The runs are in the order of their ids, so that two statements do not wait for each other.
-- p_accounts: of the steps that charge or end a run; null for others. These accounts are locked. Without
-- p_wait, one that somebody holds is not waited for: 'alone', nothing was written for that step, ask for it by itself,
-- with p_wait.
-- outcome, by the place: ok; gone (the run ended or belongs to another worker: write nothing more); alone.
-- balance_micro: of the account after this, null at the end of a run that cost nothing. jobs_ready: one of the
-- ends has made jobs that nobody has yet. Raises RYF01 when the lease of
-- any of the jobs was lost.
create function persist_steps(
  p_wait boolean, p_accounts uuid[], p_runs uuid[], p_jobs bigint[], p_fences bigint[], p_borders bigint[],
  p_reserved bigint[], p_steps bigint[], p_inputs bigint[], p_outputs bigint[], p_cached bigint[], p_charges bigint[],
  p_refs text[], p_notes text[], p_statuses text[], p_reasons text[], p_errors text[], p_error_codes text[],
  p_events text[], p_queue_waits bigint[], p_first_tokens bigint[],
  p_row_of bigint[], p_seqs bigint[], p_lasts bigint[], p_wires text[],
  p_message_of bigint[], p_ids uuid[], p_roles text[], p_bodies text[], p_covers_to bigint[], p_reasonings text[],
  p_webhook_of bigint[], p_webhooks text[])
returns table (outcome text, balance_micro bigint, jobs_ready boolean)
language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off set work_mem = '32MB' as $$
#variable_conflict use_column
declare
  w record;
  v_ready boolean := false;
  v_found record;
  v_tiers text[];
  v_runs uuid[];  -- by the place of the step; null: its account is held by somebody else
  -- By the place of the step. A thread that is null: nothing is to be written for the step.
  v_owners uuid[];
  v_threads uuid[];
  v_outcomes text[];
  v_balances bigint[] := array_fill(null::bigint, array[cardinality(p_runs)]);
  v_held bigint[]; v_held_fences bigint[]; v_ended bigint[]; v_ended_fences bigint[];
  v_kinds text[]; v_keys text[]; v_payloads jsonb[]; v_told uuid[];
begin
  -- First the runs, in the order they come in, then the accounts, as everybody does who needs both.
  perform 1 from unnest(p_runs) u (run),
               lateral (select r.id from runs.runs r where r.id = u.run for no key update) x;
  -- A statement of its own: what comes after sees what was committed before the locks were had.
  if not p_wait then
    v_found := accounts.try_lock_accounts(p_accounts);
    v_tiers := v_found.tiers;
  elsif p_accounts[1] is not null then
    perform 1 from accounts.lock_account(p_accounts[1]);
  end if;
  v_runs := p_runs;
  if array_position(v_tiers, null) is not null then
    v_runs := array(select case when w.account is null or w.tier is not null then w.run end
                      from unnest(p_accounts, v_tiers, p_runs) with ordinality w (account, tier, run, n) order by w.n);
  end if;
  -- `any` says the same as the join: with it the planner comes in by the ids whatever it believes of the tables. It
  -- goes through what is joined once for each run, so that is no more than the place in the arrays.
  with done as (
    update runs.runs r
       set step = p_steps[w.n],
           border_seq = p_borders[w.n],
           attempts = 0,
           seq_reserved = greatest(r.seq_reserved, p_reserved[w.n]),
           input_tokens = r.input_tokens + p_inputs[w.n],
           output_tokens = r.output_tokens + p_outputs[w.n],
           cached_tokens = r.cached_tokens + p_cached[w.n],
           charged_micro = r.charged_micro + p_charges[w.n],
           queue_wait_ms = coalesce(r.queue_wait_ms, p_queue_waits[w.n]),
           first_token_ms = coalesce(r.first_token_ms, p_first_tokens[w.n]),
           status = coalesce(p_statuses[w.n], r.status),
           reason = p_reasons[w.n], error = p_errors[w.n], error_code = p_error_codes[w.n],
           completed_at = case when p_statuses[w.n] is not null then clock_timestamp() end
      from unnest(v_runs) with ordinality w (run, n)
     where r.id = any (v_runs) and r.id = w.run and r.fence = p_fences[w.n] and r.completed_at is null
       and r.border_seq < p_borders[w.n]
    returning w.n, r.account_id, r.thread_id)
  select array_agg(d.account_id order by w.n), array_agg(d.thread_id order by w.n),
         array_agg(case when d.n is not null then 'ok'
                        when p_wait or w.account is null or w.tier is not null then 'gone' else 'alone' end order by w.n),
         array_agg(w.job) filter (where d.n is not null and w.status is null),
         array_agg(w.fence) filter (where d.n is not null and w.status is null),
         array_agg(w.job) filter (where d.n is not null and w.status is not null),
         array_agg(w.fence) filter (where d.n is not null and w.status is not null),
         array_agg('run.' || w.status order by w.n) filter (where d.n is not null and w.status in ('completed', 'failed')),
         array_agg(w.account::text order by w.n) filter (where d.n is not null and w.status in ('completed', 'failed')),
         array_agg(w.event::jsonb order by w.n) filter (where d.n is not null and w.status in ('completed', 'failed')),
         array_agg(d.thread_id order by w.n) filter (where d.n is not null and w.status in ('completed', 'failed'))
    into v_owners, v_threads, v_outcomes, v_held, v_held_fences, v_ended, v_ended_fences, v_kinds, v_keys, v_payloads,
         v_told
    from (select o.n, p_accounts[o.n] as account, v_tiers[o.n] as tier, p_jobs[o.n] as job, p_fences[o.n] as fence,
                 p_statuses[o.n] as status, p_events[o.n] as event
            from unnest(p_runs) with ordinality o (run, n)) w
    left join done d on d.n = w.n;
  if array_position(v_threads, null) is not null then
    -- What was written before is well, though nothing is written for it now.
    select array_agg(case when w.outcome = 'gone' and r.border_seq >= w.border
                               and r.status = coalesce(w.status, 'running') then 'ok' else w.outcome end order by w.n)
      into v_outcomes
      from unnest(v_outcomes, p_runs, p_fences, p_borders, p_statuses) with ordinality
             w (outcome, run, fence, border, status, n)
      left join lateral (select x.border_seq, x.status from runs.runs x
                          where x.id = w.run and x.fence = w.fence offset 0) r on true;
  end if;
  if v_held is not null then
    perform core.jobs_hold(v_held, v_held_fences);
  end if;
  if v_ended is not null then
    perform core.jobs_complete(v_ended, v_ended_fences);
  end if;
  for w in select o.n, o.charge, v_owners[o.n] as owner, p_refs[o.n] as ref, p_notes[o.n] as note
             from unnest(p_charges) with ordinality o (charge, n)
            where v_threads[o.n] is not null and (o.charge > 0 or p_statuses[o.n] is null) loop
    if w.charge > 0 then
      v_balances[w.n] := accounts.ledger_add(w.owner, -w.charge, 'charge', w.ref, w.note::jsonb);
    else
      v_balances[w.n] := accounts.balance(w.owner);
    end if;
  end loop;
  -- Whoever holds the fence is the only one to write beyond the border.
  insert into runs.events (run_id, seq, last_seq, wire)
  select p_runs[e.step], p_seqs[e.n], p_lasts[e.n], p_wires[e.n]
    from unnest(p_row_of) with ordinality e (step, n)
   where v_threads[e.step] is not null;
  if cardinality(p_ids) > 0 then
    insert into runs.messages (thread_id, id, run_id, role, body, covers_to, reasoning)
    select v_threads[m.step], p_ids[m.n], p_runs[m.step], p_roles[m.n], p_bodies[m.n], p_covers_to[m.n], p_reasonings[m.n]
      from unnest(p_message_of) with ordinality m (step, n)
     where v_threads[m.step] is not null order by m.n;
  end if;
  if cardinality(p_webhooks) > 0 then
    perform runs.enqueue_webhooks(p_runs[h.step], array_agg(h.name order by h.n))
       from unnest(p_webhook_of, p_webhooks) with ordinality h (step, name, n)
      where v_threads[h.step] is not null group by h.step;
  end if;
  if v_kinds is not null then
    -- The worker has said whether it has readers itself.
    select array_agg(case when exists (select 1 from runs.watcher x
                                        where x.thread_id = v_told[e.n] and x.until > clock_timestamp())
                          then e.payload || '{"viewed": true}' else e.payload end order by e.n)
      into v_payloads from unnest(v_payloads) with ordinality e (payload, n);
    v_ready := core.events_publish(v_kinds, v_keys, v_payloads);
  end if;
  -- The offset keeps the planner to a look by account.
  for w in select e.account from unnest(p_accounts) with ordinality e (account, n)
            where p_statuses[e.n] is not null and v_threads[e.n] is not null
              and exists (select 1 from runs.runs r where r.account_id = e.account and r.waiting offset 0) loop
    perform runs.admit(w.account);
    v_ready := true;
  end loop;
  return query select o.outcome, v_balances[o.n], v_ready from unnest(v_outcomes) with ordinality o (outcome, n);
end $$;

-- Appends rows to the logs of many runs and moves their reservations, which only the holder of the fence can.
-- A batch with events above the reservation that their worker knows of asks for a higher one too: a
-- stale worker's are left out, because those numbers belong to another worker by now. What it has
-- below, the take-over has filled, number by number: its rows meet a row that begins as they do. Returns the
-- runs whose reservation was not moved.
-- Fails when such a row is there already, which is rare and dear to look for each time; to be repeated with
-- p_again then, and whenever it is not known whether it had been written.
create function append_events(p_runs text[], p_seqs bigint[], p_lasts bigint[], p_wires text[],
                              p_reserve_runs text[], p_reserve_fences bigint[], p_reserve_to bigint[],
                              p_again boolean)
returns setof text language plpgsql set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set work_mem = '32MB' as $$
declare
  v_lost text[] := '{}';
begin
  if cardinality(p_reserve_runs) > 0 then
    -- A nested loop goes through the runs in the order of their ids, so that two batches do not wait for each other.
    with moved as (
      update runs.runs r set seq_reserved = greatest(r.seq_reserved, w.up_to)
        from (select x.run, x.run::uuid as id, x.fence, x.up_to
                from unnest(p_reserve_runs, p_reserve_fences, p_reserve_to) x (run, fence, up_to) order by 2) w
       where r.id = w.id and r.fence = w.fence and r.completed_at is null
      returning w.run)
    select coalesce(array_agg(x.run), '{}') into v_lost
      from unnest(p_reserve_runs) x (run) where x.run not in (select m.run from moved m);
  end if;
  if p_again then
    insert into runs.events (run_id, seq, last_seq, wire)
    select e.run::uuid, p_seqs[e.n], p_lasts[e.n], p_wires[e.n]
      from unnest(p_runs) with ordinality e (run, n) where e.run <> all (v_lost)
    on conflict do nothing;
  else
    insert into runs.events (run_id, seq, last_seq, wire)
    select e.run::uuid, p_seqs[e.n], p_lasts[e.n], p_wires[e.n]
      from unnest(p_runs) with ordinality e (run, n) where e.run <> all (v_lost);
  end if;
  return query select unnest(v_lost);
end $$;

-- One message to each webhook on how a run ended, as jobs of the same transaction. The body is fixed here:
-- it is signed and sent as it is, however often.
create function enqueue_webhooks(p_run uuid, p_webhooks text[]) returns void language plpgsql as $$
declare
  v_body text;
  v_name text;
begin
  if cardinality(p_webhooks) = 0 then
    return;
  end if;
  select jsonb_build_object('type', 'run.' || r.status, 'timestamp', runs.iso(r.completed_at),
                            'data', runs.run_json(r) || jsonb_build_object('account_id', r.account_id))::text
    into v_body from runs.runs r where r.id = p_run;
  foreach v_name in array p_webhooks loop
    perform core.job_enqueue(p_kind => 'runs.webhook', p_queue => 'webhooks', p_max_attempts => 16,
                             p_share => md5(v_name)::uuid,
                             p_args => jsonb_build_object('endpoint', v_name, 'id', 'run_' || p_run, 'body', v_body));
  end loop;
end $$;

-- Fills the numbers that an earlier worker may have delivered and that never became durable, so that
-- no number is ever given to two events: a row for each, so that whatever that worker still has on its way
-- begins with a number that is taken. Returns the last number that is taken now.
-- Generic plans: planning anew for each run would cost more than half of what it does.
create function fill_gap(p_run uuid, p_border bigint, p_reserved bigint) returns bigint
language plpgsql set plan_cache_mode = force_generic_plan as $$
declare
  v_last bigint;
  v_free bigint[];
  v_filled bigint;
begin
  select coalesce(max(last_seq), 0) into v_last from runs.events where run_id = p_run and seq > p_border;
  v_last := greatest(p_border, p_reserved, v_last);
  v_free := array(select f.n from (select generate_series(p_border + 1, v_last) as n
                                   except
                                   select generate_series(e.seq, e.last_seq) from runs.events e
                                    where e.run_id = p_run and e.seq > p_border) f order by f.n);
  insert into runs.events (run_id, seq, last_seq, wire)
  select p_run, n, n, runs.event_wire(n, format('{"type": "gap", "sequence": %s, "from": %s, "to": %s}', n, n, n))
    from unnest(v_free) n
  on conflict do nothing;
  get diagnostics v_filled = row_count;
  if v_filled = cardinality(v_free) then
    return v_last;
  end if;
  -- A row that was on its way and became known by the conflict of its first number has the others too. This
  -- statement sees it; one that comes later meets the number it begins with.
  delete from runs.events g
   where g.run_id = p_run and g.seq > p_border and g.seq = g.last_seq
     and exists (select 1 from runs.events e where e.run_id = p_run and e.seq > p_border
                                              and e.seq < g.seq and e.last_seq >= g.seq);
  return v_last;
end $$;

-- A worker takes a run over: everything it needs to go on from the last border. No row: no such run.
-- `status` other than running: there is nothing to do but to end the job. `attempts`: of this step, that workers
-- before may have shown. What was shown last need not be in the log, so that each of them counts for one at least.
create function take_over(p_run uuid, p_job bigint, p_fence bigint, p_reserve bigint)
returns table (account_id uuid, project_id uuid, thread_id uuid, agent_id uuid, agent_version int,
               model text, mode text, status text, step int, border_seq bigint, last_seq bigint,
               attempts int, charged_micro bigint, input_tokens bigint,
               output_tokens bigint, cached_tokens bigint, started_ago_us bigint, timeout_seconds int,
               stop_requested boolean, title text, begun_ago_us bigint, queue_wait_ms bigint, first_token_ms bigint,
               budget_micro bigint, budget_policy text, balance_micro bigint, uploads_waiting boolean)
language plpgsql as $$
#variable_conflict use_column
declare
  v runs.runs%rowtype;
begin
  select * into v from runs.runs r where r.id = p_run for no key update;
  if not found then
    return;
  end if;
  account_id := v.account_id; project_id := v.project_id; thread_id := v.thread_id;
  agent_id := v.agent_id; agent_version := v.agent_version; model := v.model; mode := v.mode;
  status := v.status; step := v.step; border_seq := v.border_seq; last_seq := v.seq_reserved;
  charged_micro := v.charged_micro; input_tokens := v.input_tokens; output_tokens := v.output_tokens;
  cached_tokens := v.cached_tokens; timeout_seconds := v.timeout_seconds;
  started_ago_us := (extract(epoch from clock_timestamp() - v.started_at) * 1000000)::bigint;
  begun_ago_us := (extract(epoch from clock_timestamp() - coalesce(v.admitted_at, v.started_at)) * 1000000)::bigint;
  stop_requested := v.stop_requested_at is not null;
  attempts := v.attempts;
  queue_wait_ms := v.queue_wait_ms; first_token_ms := v.first_token_ms;
  budget_micro := v.budget_micro; budget_policy := v.budget_policy;
  balance_micro := accounts.balance(v.account_id);
  uploads_waiting := exists (select 1 from runs.uploads u where u.run_id = p_run and u.found is null);
  select t.title into title from runs.threads t where t.id = v.thread_id;
  if v.status = 'running' then
    perform core.job_hold(p_job, p_fence);
    last_seq := runs.fill_gap(p_run, v.border_seq, v.seq_reserved);
    if last_seq > v.border_seq then
      -- The last one in each row, which has what follows its last beginning.
      select greatest(v.attempts + 1, max(substring(
               split_part(e.wire, E'\ndata: {"type": "llm_response_start"', -1) from '^[^\n]*"attempt": (\d+)')::int)) into attempts
        from runs.events e
       where e.run_id = p_run and e.seq > v.border_seq and e.wire like E'%\ndata: {"type": "llm_response_start"%';
    end if;
    update runs.runs r set job_id = p_job, fence = p_fence, seq_reserved = last_seq + p_reserve,
                           attempts = take_over.attempts
     where r.id = p_run;
  end if;
  return next;
end $$;

-- Gives a run back: nothing beyond p_last was delivered, so its successor has no gap to fill.
create function hand_over(p_run uuid, p_fence bigint, p_last bigint) returns void language sql as $$
  update runs.runs set seq_reserved = p_last
   where id = p_run and fence = p_fence and completed_at is null
$$;

create function duration_ms(r runs.runs) returns bigint language sql stable as $$
  select (extract(epoch from r.completed_at - r.started_at) * 1000)::bigint
$$;

-- The terminal event of a run that is ended without its worker, or whose log was trimmed; the same form as the
-- worker's own.
create function terminal_payload(r runs.runs) returns text language sql stable as $$
  select format('{"type": "status", "sequence": %s, "status": "%s", "reason": "%s", %s"usage": '
                '{"input_tokens":%s,"output_tokens":%s,"cached_tokens":%s}, "tokens": %s, "credits": %s, '
                '"duration_ms": %s, "queue_wait_ms": %s, "time_to_first_token_ms": %s}',
                r.border_seq, r.status, r.reason,
                case when r.status = 'failed'
                     then format('"error": %s, "error_code": %s, ', to_json(coalesce(r.error, '')),
                                 to_json(coalesce(r.error_code, ''))) end,
                r.input_tokens, r.output_tokens, r.cached_tokens,
                r.input_tokens + r.output_tokens, trim_scale(r.charged_micro / 1000000.0),
                runs.duration_ms(r), coalesce(r.queue_wait_ms::text, 'null'),
                coalesce(r.first_token_ms::text, 'null'))
$$;

-- The terminal event as it stands in the log; no row: the run goes on, or there is none.
create function terminal_wire(p_run uuid) returns setof text language sql stable as $$
  select runs.event_wire(r.border_seq, runs.terminal_payload(r)) from runs.runs r
   where r.id = p_run and r.completed_at is not null
$$;

-- Ends a run whose worker does not answer, or that has none: its fence is gone, so its writes are
-- refused from here on. Returns the run's status afterwards.
create function force_stop(p_run uuid, p_webhooks text[] default '{}') returns text language plpgsql as $$
declare
  v runs.runs%rowtype;
  v_fence bigint;
  v_last bigint;
begin
  select * into v from runs.runs r where r.id = p_run for no key update;
  if not found or v.status <> 'running' then
    return v.status;
  end if;
  v_fence := v.fence;
  v_last := runs.fill_gap(p_run, v.border_seq, v.seq_reserved) + 1;
  -- What was never heard does not come between the steps of the run that it waited for.
  if v.waiting_body is not null and not exists (
       select 1 from runs.runs o where o.thread_id = v.thread_id and o.status = 'running' and not o.waiting) then
    insert into runs.messages (thread_id, id, run_id, role, body)
    values (v.thread_id, v.waiting_message, v.id, 'user', v.waiting_body);
  end if;
  update runs.runs set status = 'stopped', reason = 'user_stop', completed_at = clock_timestamp(),
                       fence = -v_fence, seq_reserved = v_last, border_seq = v_last, waiting = false,
                       waiting_body = null
   where id = p_run returning * into v;
  insert into runs.events (run_id, seq, last_seq, wire)
  values (p_run, v_last, v_last, runs.event_wire(v_last, runs.terminal_payload(v)));
  perform runs.enqueue_webhooks(p_run, p_webhooks);
  begin
    perform core.job_complete(v.job_id, v_fence);
  exception when sqlstate 'RYF01' then
    -- Another worker is about to take it, or it is gone already: it will find the run ended.
    null;
  end;
  perform runs.admit(v.account_id);
  return 'stopped';
end $$;

-- Notes a stop request and calls the worker off; a run that nobody works on ends at once: `ended`. No row: unknown
-- or foreign. The wish is durable: whoever works on the run hears of it, also when the asker is gone.
create function request_stop(p_account uuid, p_run uuid, p_webhooks text[] default '{}')
returns table (status text, ended boolean) language plpgsql as $$
#variable_conflict use_column
declare
  v runs.runs%rowtype;
begin
  select * into v from runs.runs r where r.id = p_run and r.account_id = p_account for no key update;
  if not found then
    return;
  end if;
  status := v.status;
  ended := false;
  if v.status = 'running' then
    update runs.runs r set stop_requested_at = coalesce(r.stop_requested_at, now()) where r.id = p_run;
    if not core.job_call_off(v.job_id) then
      status := runs.force_stop(p_run, p_webhooks);
      ended := status = 'stopped';
    end if;
  end if;
  return next;
end $$;

create function run_json(r runs.runs) returns jsonb language sql stable as $$
  select jsonb_build_object(
    'id', r.id, 'agent_run_id', r.id, 'thread_id', r.thread_id, 'project_id', r.project_id,
    'agent_id', r.agent_id, 'status', r.status, 'model_name', r.model, 'started_at', runs.iso(r.started_at),
    'completed_at', runs.iso(r.completed_at), 'reason', r.reason, 'error', r.error,
    'error_code', r.error_code, 'duration_ms', runs.duration_ms(r), 'queue_wait_ms', r.queue_wait_ms,
    'time_to_first_token_ms', r.first_token_ms, 'queue_position', case when r.waiting then r.queue_place end,
    'usage', jsonb_build_object('input_tokens', r.input_tokens, 'output_tokens', r.output_tokens,
                                'cached_tokens', r.cached_tokens,
                                'credits', trim_scale(r.charged_micro / 1000000.0)))
$$;

-- A page of an account's runs, newest first: a page of each status and the newest of them, so that with and
-- without a wish one index serves. Pages cost nothing here, so that the plan that touches the fewest rows wins:
-- else a walk through all runs by id looks cheap to the planner, and is endless where a status has few.
create function page_of(p_account uuid, p_status text, p_before uuid, p_limit bigint,
                        out items text, out n bigint, out last text)
language plpgsql stable set plan_cache_mode = force_generic_plan set random_page_cost = 0
set seq_page_cost = 0 as $$
begin
  select coalesce(jsonb_agg(runs.run_json(p.run) order by p.id desc), '[]')::text, count(*), min(p.id::text)
    into items, n, last
    from (select x.run, x.id
            from unnest(case when p_status is null then array['running', 'completed', 'failed', 'stopped']
                             else array[p_status] end) s (status),
                 lateral (select y as run, y.id from runs.runs y
                           where y.account_id = p_account and y.status = s.status
                             and y.id < coalesce(p_before, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
                           order by y.id desc limit p_limit) x
           order by x.id desc limit p_limit) p;
end $$;

create function thread_json(t runs.threads) returns jsonb language sql stable as $$
  select jsonb_build_object(
    'thread_id', t.id, 'project_id', t.project_id, 'title', t.title, 'created_at', runs.iso(t.created_at),
    'latest_run', (select jsonb_build_object('agent_run_id', r.id, 'status', r.status)
                     from runs.runs r where r.thread_id = t.id order by r.id desc limit 1))
$$;

-- Removes a thread and all that hangs on it. outcome: ok, not_found, busy. project_id is set when no
-- thread of the project is left: its workspace may go too.
create function delete_thread(p_account uuid, p_thread uuid)
returns table (outcome text, project_id uuid) language plpgsql as $$
#variable_conflict use_column
declare
  v_project uuid;
begin
  perform 1 from accounts.lock_account(p_account);
  select t.project_id into v_project from runs.threads t
   where t.id = p_thread and t.account_id = p_account;
  if not found then
    outcome := 'not_found'; return next; return;
  end if;
  if exists (select 1 from runs.runs r where r.thread_id = p_thread and r.status = 'running') then
    outcome := 'busy'; return next; return;
  end if;
  -- Planned each time, with the ids: only the partitions that hold them are touched.
  execute 'delete from runs.events e where e.run_id = any ($1)'
    using array(select r.id from runs.runs r where r.thread_id = p_thread);
  delete from runs.uploads u using runs.runs r where r.thread_id = p_thread and u.run_id = r.id;
  delete from runs.idempotency i where i.account_id = p_account and i.thread_id = p_thread;
  delete from runs.runs r where r.thread_id = p_thread;
  delete from runs.messages m where m.thread_id = p_thread;
  delete from runs.threads t where t.id = p_thread;
  update runs.account_usage u set threads = greatest(u.threads - 1, 0) where u.account_id = p_account;
  update runs.projects p set threads = p.threads - 1 where p.id = v_project and p.threads > 1;
  if not found then
    delete from runs.projects p where p.id = v_project;
    delete from runs.workspace_files f where f.project_id = v_project;
    delete from runs.workspace_chunks c where c.project_id = v_project;
    insert into runs.deleted_projects as d (project_id) values (v_project)
      on conflict (project_id) do update set deleted_at = excluded.deleted_at;
    project_id := v_project;
  end if;
  outcome := 'ok';
  return next;
end $$;

-- Removes a part of the log of runs that began before p_before, and tells what: 'partition', when all in it are over and
-- older; 'rows' of up to p_batch runs, from the default partition; 'locked', so that it is to be tried again later; 'none': there is no more. A run
-- that goes on keeps its partition, or its rows. How runs ended can still be told: terminal_wire().
create function trim_log(p_before timestamptz, p_batch bigint) returns text language plpgsql as $$
declare
  v record;
  v_live uuid[];
  v_locked boolean := false;
begin
  for v in select p.part, p.lower_bound::uuid as lower, p.upper_bound::uuid as upper
             from core.partitions_of('runs.events') p where p.upper_at <= p_before loop
    v_live := coalesce(v_live, array(select runs.live_before(core.uuid_floor(p_before))));
    continue when exists (select from unnest(v_live) l where l >= v.lower and l < v.upper);
    if not core.partition_lock(v.part) then
      v_locked := true;
      exit;  -- what reads so long, a backup, holds the others, too
    end if;
    -- A run could have begun in it until now; the others do not wait while that is looked for.
    if not exists (select from runs.live_before(v.upper) l where l >= v.lower) then
      return case when core.partition_drop(v.part) then 'partition' else 'locked' end;
    end if;
  end loop;
  with old as materialized (
    select distinct d.run_id from runs.events_default d
     where d.run_id < core.uuid_floor(p_before)
       and not exists (select from runs.runs r where r.id = d.run_id and r.completed_at is null)
     order by d.run_id limit p_batch)
  delete from runs.events_default d using old o where d.run_id = o.run_id;
  return case when found then 'rows' when v_locked then 'locked' else 'none' end;
end $$;

-- The runs that go on and began before the first with such an id. Materialized, because what goes on has an index and is
-- little beside what is over.
create function live_before(p_id uuid) returns setof uuid
language sql stable set enable_seqscan = off as $$
  with live as materialized (select r.id from runs.runs r where r.status = 'running')
  select l.id from live l where l.id < p_id
$$;
