-- ry: number 0082 compatible
-- Starts of runs. Each function locks the accounts, decides, and writes all rows of the granted starts: project,
-- thread, message, run, first event and job.

-- Returns the outcome (see types/start_outcome.hpp) of a start whose account, thread and project are known. All start
-- functions call it. The planner inlines it, because it is one expression of its arguments. p_place: the position that
-- the run would have in the queue of waiting runs; null: the caller does not let the run wait.
create or replace function judge_start(
  p_agent uuid, p_agent_model text, p_model text, p_default_model text, p_denied boolean, p_balance bigint,
  p_new_thread boolean, p_threads bigint, p_max_threads bigint, p_thread_busy boolean, p_running bigint, p_max_runs bigint,
  p_queue boolean, p_behind boolean, p_place bigint, p_max_waiting bigint)
returns text language sql immutable as $$
  select case
    when p_agent is null then 'agent_not_found'
    when p_denied then 'model_denied'
    when p_model is null and p_agent_model is not null then 'model'
    when p_model is null and p_default_model is null then 'model_denied'
    when p_balance <= 0 then 'no_credits'
    when p_new_thread and p_threads >= p_max_threads then 'thread_limit'
    when p_thread_busy and p_behind and p_place <= p_max_waiting then 'queued'
    when p_running >= p_max_runs and not (p_queue and p_place <= p_max_waiting) then 'run_limit'
    when p_thread_busy then 'thread_busy'
    when p_running >= p_max_runs then 'queued'
    else 'ok' end
$$;

-- Decides starts of any kind, at most one per account. outcome: see types/start_outcome.hpp; detail depends on it. The
-- parameters that are not arrays apply to all starts. p_plain: no start names a thread, project, key or sandbox.
-- p_wait: there is a single start, which waits for the lock of its account; otherwise a start whose account is locked
-- has the outcome "alone". p_node: the node that executes the runs; null: the jobs wait in the queue. p_extras: a JSON object
-- with the members that few starts have ("metadata", "webhook_url", "webhook_secret"); null: none. Nodes of an earlier release do not pass it.
drop function if exists start_runs(
  uuid[], text[], bigint[], bigint[], uuid[], uuid[], boolean[], uuid[], uuid[], uuid[], uuid[], uuid[], text[], text[],
  boolean[], text[], text[], text[], boolean[], uuid[], text[], text[], boolean[], bigint[], text[], boolean[], boolean[],
  bigint, boolean, boolean, uuid, int, text, bigint, text[]);
create or replace function start_runs(
  p_accounts uuid[], p_tiers text[], p_max_runs bigint[], p_max_threads bigint[], p_threads uuid[],
  p_projects uuid[], p_optimistic boolean[], p_new_threads uuid[], p_new_projects uuid[], p_runs uuid[],
  p_messages uuid[], p_agents uuid[], p_models text[], p_default_models text[], p_denied boolean[],
  p_bodies text[], p_titles text[], p_modes text[], p_memory boolean[], p_sandboxes uuid[], p_keys text[],
  p_hashes text[], p_prompted boolean[], p_budgets bigint[], p_policies text[], p_queue boolean[],
  p_behind boolean[], p_max_waiting bigint, p_plain boolean, p_wait boolean,
  p_node uuid, p_timeout int, p_first_event text, p_reserve bigint, p_parameters text[] default '{}',
  p_extras text[] default '{}')
returns table (n bigint, outcome text, detail text, thread_id uuid, project_id uuid, sandbox_id uuid,
               run_id uuid, agent_id uuid, agent_version int, model text, job_id bigint, fence bigint,
               fresh_thread boolean)
language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
#variable_conflict use_column
declare
  v_found record;
  v_owners uuid[];
  -- Values from the database; the index is the position of the start in the parameter arrays.
  v_tiers text[]; v_balances bigint[];
  v_agents uuid[]; v_versions int[]; v_agent_models text[];
  v_thread_owners uuid[]; v_thread_projects uuid[]; v_project_owners uuid[]; v_old_sandboxes uuid[];
  v_last_runs uuid[]; v_last_statuses text[];
  v_old_hashes text[]; v_old_runs uuid[]; v_old_threads uuid[]; v_old_projects uuid[];
  v_old_run_sandboxes uuid[];
  v_threads bigint[]; v_bounds bigint[]; v_lives text[]; v_places bigint[];
  v_count boolean;
  v_fence constant bigint := (p_node is not null)::int;  -- 0: the job waits in the queue of all nodes
begin
  -- A separate statement: the following ones see all commits before the locks were acquired. An assignment of one
  -- expression is cheaper than a query, which sets up an executor.
  if not p_wait then
    v_found := accounts.try_lock_accounts(p_accounts);
    v_tiers := v_found.tiers;
    v_balances := v_found.balances;
  else
    select array[l.tier], array[l.balance_micro] into v_tiers, v_balances
      from accounts.lock_account(p_accounts[1]) l;
  end if;
  v_owners := p_accounts;
  if array_position(v_tiers, null) > 0 or v_tiers is null then
    v_owners := array(select case when w.tier is not null then w.account end
                       from unnest(p_accounts, v_tiers) with ordinality w (account, tier, n) order by w.n);
  end if;
  v_found := agents.resolve_all(v_owners, p_agents);
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

  -- account_usage.runs_bound is an upper bound of the account's running runs. Rows are counted only if it reaches the
  -- limit, or to find the position in the queue.
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
             select c.counted, c.running,
                    -- The threads of a refused start. The subquery for each row reads one row of parked; an anti-join
                    -- would read those of all accounts.
                    case when c.counted and c.running >= w.max_runs then
                      (select coalesce(jsonb_agg(r.thread_id), '[]')::text
                         from (select o.thread_id from runs.runs o
                                where o.account_id = w.account and o.status = 'running' and not o.waiting
                                  and (select p.slot_until from runs.parked p where p.run_id = o.id) < clock_timestamp()
                                      is not true
                                order by o.id desc limit w.max_runs) r) end as live,
                    case when w.queue or w.behind then
                      (select count(*) + 1 from runs.runs r where r.account_id = w.account and r.waiting) end as place
               from (select w.bound >= w.max_runs as counted,
                            case when w.bound >= w.max_runs then runs.occupied_slots(w.account) end as running) c) l;
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
        else runs.judge_start(w.agent, w.agent_model, w.model, w.default_model, w.denied, w.balance, k.fresh_thread, w.threads,
                              w.max_threads, w.last_status is not distinct from 'running', w.bound, w.max_runs, w.queue,
                              w.behind, w.place, p_max_waiting) end as outcome
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
    select core.jobs_create_leased(
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
                           slot_limit, parameters, metadata, webhook_url, webhook_secret)
    select g.run, g.account, g.the_project, g.the_thread, g.agent, g.version, g.model, g.mode, g.memory,
           coalesce(j.ids[g.n], 0), case when g.outcome = 'ok' then v_fence else 0 end,
           case when g.outcome <> 'ok' then 2 when v_fence = 0 then 1 else p_reserve end,
           case when g.outcome = 'ok' then 1 else 2 end, p_timeout,
           g.budget, g.policy, g.outcome = 'queued', case when g.outcome = 'queued' then g.message end,
           case when g.outcome = 'queued' then g.body end, case when g.outcome = 'queued' then g.place end, g.max_runs, p_parameters[g.n],
           p_extras[g.n]::jsonb -> 'metadata', p_extras[g.n]::jsonb ->> 'webhook_url',
           p_extras[g.n]::jsonb ->> 'webhook_secret'
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
    -- The joins with runs.runs select the granted starts, because only they have a run.
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

-- Makes one start of a new thread, in half the time of start_runs(): it uses plain statements, because preparing set
-- operations takes most of that function's time. If any check fails, it writes nothing and returns job_id null;
-- start_runs() then decides the start.
create or replace function start_plain(
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
  if v_account.tier is distinct from p_tier then
    return;
  end if;
  v_agent := agents.find(p_account, p_agent);
  -- A separate statement: it sees all commits before the lock was acquired.
  select u.threads, u.runs_bound into v_threads, v_bound from runs.account_usage u where u.account_id = p_account;
  if runs.judge_start(v_agent.agent, v_agent.model, p_model, p_default_model, false, v_account.balance_micro, true,
                      coalesce(v_threads, 0), p_max_threads, false, coalesce(v_bound, 0), p_max_runs, false, false, null,
                      null) <> 'ok' then
    return;
  end if;
  agent_id := v_agent.agent;
  agent_version := v_agent.version;
  model := coalesce(p_model, p_default_model);
  if v_bound is null then
    insert into runs.account_usage (account_id, threads, runs_bound) values (p_account, 1, 1);
  else
    update runs.account_usage u set threads = v_threads + 1, runs_bound = v_bound + 1 where u.account_id = p_account;
  end if;
  job_id := core.job_create_leased('runs.execute', 'runs', jsonb_build_object('run_id', p_run), 1000000, p_node, p_account);
  insert into runs.projects (id, account_id, name) values (p_project, p_account, p_title);
  insert into runs.threads (id, project_id, account_id, title) values (p_thread, p_project, p_account, p_title);
  insert into runs.messages (thread_id, id, run_id, role, body) values (p_thread, p_message, p_run, 'user', p_body);
  insert into runs.runs (id, account_id, project_id, thread_id, agent_id, agent_version, model, mode, memory_enabled, job_id,
                         fence, seq_reserved, border_seq, timeout_seconds, budget_micro, budget_policy, slot_limit)
  values (p_run, p_account, p_project, p_thread, agent_id, agent_version, model, p_mode, p_memory, job_id,
          1, p_reserve, 1, p_timeout, p_budget, p_policy, p_max_runs);
  insert into runs.events (run_id, seq, last_seq, wire) values (p_run, 1, 1, p_first_event);
end $$;

-- Like start_plain(), for many starts, even several of one account, up to the limits of each account. Returns a row for
-- each start that was made, with its position n. A start without a row was not made; start_runs() decides it. A row
-- without a job: another transaction locks the account, or it is unknown. p_wait: all starts are of one account, whose
-- lock is waited for.
create or replace function start_plain_all(
  p_accounts uuid[], p_tiers text[], p_max_runs bigint[], p_max_threads bigint[], p_threads uuid[], p_projects uuid[],
  p_runs uuid[], p_messages uuid[], p_agents uuid[], p_models text[], p_default_models text[], p_bodies text[],
  p_titles text[], p_modes text[], p_memory boolean[], p_budgets bigint[], p_policies text[], p_wait boolean,
  p_node uuid, p_timeout int, p_first_event text, p_reserve bigint)
returns table (n bigint, agent_id uuid, agent_version int, model text, job_id bigint)
language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
#variable_conflict use_column
declare
  v_found record;
  v_accounts constant uuid[] := array(select distinct a.id from unnest(p_accounts) a (id));
  v_tiers text[]; v_balances bigint[];
  v_made bigint[];
  v_jobs bigint[];
begin
  if p_wait then
    select array[l.tier], array[l.balance_micro] into v_tiers, v_balances from accounts.lock_account(p_accounts[1]) l;
  else
    v_found := accounts.try_lock_accounts(v_accounts);
    v_tiers := v_found.tiers;
    v_balances := v_found.balances;
  end if;
  return query select w.n, null::uuid, null::int, null::text, null::bigint
                 from unnest(p_accounts) with ordinality w (account, n)
                 join unnest(v_accounts, v_tiers) a (id, tier) on a.id = w.account
                where a.tier is null;
  v_found := agents.resolve_all(
    array(select case when a.tier = w.tier then w.account end
            from unnest(p_accounts, p_tiers) with ordinality w (account, tier, n)
            join unnest(v_accounts, v_tiers) a (id, tier) on a.id = w.account order by w.n), p_agents);
  -- A separate statement: it sees all commits before the locks were acquired. Earlier starts of the same account in
  -- this call count, so that together they stay within the limits.
  v_made := array(
    select g.n from (
      select w.n, w.agent, w.agent_model, w.model, w.default_model, w.max_threads, w.max_runs, a.balance,
             coalesce(u.threads, 0) + row_number() over before - 1 as threads,
             coalesce(u.runs_bound, 0) + row_number() over before - 1 as running
        from unnest(p_accounts, p_max_runs, p_max_threads, v_found.agents, v_found.models, p_models, p_default_models)
               with ordinality w (account, max_runs, max_threads, agent, agent_model, model, default_model, n)
        join unnest(v_accounts, v_balances) a (id, balance) on a.id = w.account
        left join runs.account_usage u on u.account_id = w.account
      window before as (partition by w.account order by w.n)) g
     where runs.judge_start(g.agent, g.agent_model, g.model, g.default_model, false, g.balance, true, g.threads, g.max_threads,
                            false, g.running, g.max_runs, false, false, null, null) = 'ok' order by g.n);
  if cardinality(v_made) = 0 then
    return;
  end if;
  v_jobs := core.jobs_create_leased('runs.execute', 'runs',
    array(select jsonb_build_object('run_id', p_runs[m.n]) from unnest(v_made) with ordinality m (n, place) order by m.place),
    1000000, p_node, array(select p_accounts[m.n] from unnest(v_made) with ordinality m (n, place) order by m.place));
  return query
  with made as materialized (
    select m.n, m.job, p_accounts[m.n] as account, p_threads[m.n] as thread, p_projects[m.n] as project, p_runs[m.n] as run,
           p_titles[m.n] as title, v_found.agents[m.n] as agent, v_found.versions[m.n] as version,
           coalesce(p_models[m.n], p_default_models[m.n]) as model
      from unnest(v_made, v_jobs) m (n, job)),
  usage as (
    insert into runs.account_usage as u (account_id, threads, runs_bound)
    select m.account, count(*), count(*) from made m group by m.account
    on conflict (account_id) do update
      set threads = u.threads + excluded.threads, runs_bound = u.runs_bound + excluded.runs_bound),
  new_project as (
    insert into runs.projects (id, account_id, name) select m.project, m.account, m.title from made m),
  new_thread as (
    insert into runs.threads (id, project_id, account_id, title) select m.thread, m.project, m.account, m.title from made m),
  new_message as (
    insert into runs.messages (thread_id, id, run_id, role, body)
    select m.thread, p_messages[m.n], m.run, 'user', p_bodies[m.n] from made m),
  new_run as (
    insert into runs.runs (id, account_id, project_id, thread_id, agent_id, agent_version, model, mode, memory_enabled,
                           job_id, fence, seq_reserved, border_seq, timeout_seconds, budget_micro, budget_policy, slot_limit)
    select m.run, m.account, m.project, m.thread, m.agent, m.version, m.model, p_modes[m.n], p_memory[m.n],
           m.job, 1, p_reserve, 1, p_timeout, p_budgets[m.n], p_policies[m.n], p_max_runs[m.n] from made m),
  first_event as (
    insert into runs.events (run_id, seq, last_seq, wire) select m.run, 1, 1, p_first_event from made m)
  select m.n, m.agent, m.version, m.model, m.job from made m;
end $$;

-- Adds messages to the thread of a start, before its prompt. p_run null: they belong to no run.
create or replace function add_messages(p_thread uuid, p_run uuid, p_roles text[], p_bodies text[])
returns void language sql as $$
  insert into runs.messages (thread_id, id, run_id, role, body)
  select p_thread, gen_random_uuid(), coalesce(p_run, '00000000-0000-0000-0000-000000000000'), m.role, m.body
    from unnest(p_roles, p_bodies) with ordinality m (role, body, n) order by m.n
$$;

-- Completes the user message of a start with files. Runs in the transaction that makes the start and stores its files.
create or replace function attach_uploads(p_run uuid, p_thread uuid, p_project uuid, p_message uuid, p_body text,
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
