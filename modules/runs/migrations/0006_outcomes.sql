-- Tokens that were written into the provider's cache, and the parameters of the model's requests that a start gave.
alter table runs add column cache_write_tokens bigint not null default 0;
alter table runs add column parameters text;  -- JSON object; null: none

-- The functions of 0002 that read or write these, with what is new: a parameter at the end, which nodes of the release
-- before do not give, and columns, which they do not read.
drop function start_runs;
create function start_runs(
  p_accounts uuid[], p_tiers text[], p_max_runs bigint[], p_max_threads bigint[], p_threads uuid[],
  p_projects uuid[], p_optimistic boolean[], p_new_threads uuid[], p_new_projects uuid[], p_runs uuid[],
  p_messages uuid[], p_agents uuid[], p_models text[], p_default_models text[], p_denied boolean[],
  p_bodies text[], p_titles text[], p_modes text[], p_memory boolean[], p_sandboxes uuid[], p_keys text[],
  p_hashes text[], p_prompted boolean[], p_budgets bigint[], p_policies text[], p_queue boolean[],
  p_behind boolean[], p_max_waiting bigint, p_plain boolean, p_wait boolean,
  p_node uuid, p_timeout int, p_first_event text, p_reserve bigint, p_parameters text[] default '{}')
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
                           slot_limit, parameters)
    select g.run, g.account, g.the_project, g.the_thread, g.agent, g.version, g.model, g.mode, g.memory,
           coalesce(j.ids[g.n], 0), case when g.outcome = 'ok' then v_fence else 0 end,
           case when g.outcome <> 'ok' then 2 when v_fence = 0 then 1 else p_reserve end,
           case when g.outcome = 'ok' then 1 else 2 end, p_timeout,
           g.budget, g.policy, g.outcome = 'queued', case when g.outcome = 'queued' then g.message end,
           case when g.outcome = 'queued' then g.body end, case when g.outcome = 'queued' then g.place end, g.max_runs, p_parameters[g.n]
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

drop function persist_steps;
create function persist_steps(
  p_wait boolean, p_accounts uuid[], p_runs uuid[], p_jobs bigint[], p_fences bigint[], p_borders bigint[],
  p_reserved bigint[], p_steps bigint[], p_inputs bigint[], p_outputs bigint[], p_cached bigint[], p_charges bigint[],
  p_refs text[], p_notes text[], p_statuses text[], p_reasons text[], p_errors text[], p_error_codes text[],
  p_events text[], p_queue_waits bigint[], p_first_tokens bigint[],
  p_row_of bigint[], p_seqs bigint[], p_lasts bigint[], p_wires text[],
  p_message_of bigint[], p_ids uuid[], p_roles text[], p_bodies text[], p_covers_to bigint[], p_reasonings text[],
  p_webhook_of bigint[], p_webhooks text[], p_cache_writes bigint[] default '{}')
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
           cache_write_tokens = r.cache_write_tokens + coalesce(p_cache_writes[w.n], 0),
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

drop function take_over;
create function take_over(p_run uuid, p_job bigint, p_fence bigint, p_reserve bigint)
returns table (account_id uuid, project_id uuid, thread_id uuid, agent_id uuid, agent_version int,
               model text, mode text, status text, step int, border_seq bigint, last_seq bigint,
               attempts int, charged_micro bigint, input_tokens bigint,
               output_tokens bigint, cached_tokens bigint, started_ago_us bigint, timeout_seconds int,
               stop_requested boolean, title text, begun_ago_us bigint, queue_wait_ms bigint, first_token_ms bigint,
               budget_micro bigint, budget_policy text, balance_micro bigint, uploads_waiting boolean, cache_write_tokens bigint,
               parameters text)
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
  cache_write_tokens := v.cache_write_tokens;
  parameters := v.parameters;
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

create or replace function terminal_payload(r runs.runs) returns text language sql stable as $$
  select format('{"type": "status", "sequence": %s, "status": "%s", "reason": "%s", %s"usage": '
                '{"input_tokens":%s,"output_tokens":%s,"cached_tokens":%s%s}, "tokens": %s, "credits": %s, '
                '"duration_ms": %s, "queue_wait_ms": %s, "time_to_first_token_ms": %s}',
                r.border_seq, r.status, r.reason,
                case when r.status = 'failed'
                     then format('"error": %s, "error_code": %s, ', to_json(coalesce(r.error, '')),
                                 to_json(coalesce(r.error_code, ''))) end,
                r.input_tokens, r.output_tokens, r.cached_tokens,
                case when r.cache_write_tokens <> 0 then format(',"cache_write_tokens":%s', r.cache_write_tokens) end,
                r.input_tokens + r.output_tokens, trim_scale(r.charged_micro / 1000000.0),
                runs.duration_ms(r), coalesce(r.queue_wait_ms::text, 'null'),
                coalesce(r.first_token_ms::text, 'null'))
$$;

create or replace function run_json(r runs.runs) returns jsonb language sql stable as $$
  select jsonb_build_object(
    'id', r.id, 'agent_run_id', r.id, 'thread_id', r.thread_id, 'project_id', r.project_id,
    'agent_id', r.agent_id, 'status', r.status, 'model_name', r.model, 'started_at', runs.iso(r.started_at),
    'completed_at', runs.iso(r.completed_at), 'reason', r.reason, 'error', r.error,
    'error_code', r.error_code, 'duration_ms', runs.duration_ms(r), 'queue_wait_ms', r.queue_wait_ms,
    'time_to_first_token_ms', r.first_token_ms, 'queue_position', case when r.waiting then r.queue_place end,
    'usage', jsonb_build_object('input_tokens', r.input_tokens, 'output_tokens', r.output_tokens,
                                'cached_tokens', r.cached_tokens, 'credits', trim_scale(r.charged_micro / 1000000.0))
             || case when r.cache_write_tokens <> 0
                     then jsonb_build_object('cache_write_tokens', r.cache_write_tokens) else '{}' end)
$$;
