-- `mode` and `memory_enabled` of a run are returned, threads name the agent and model of their last run, and times of a run
-- agree with its terminal event.

-- Another thread has used the workspace, perhaps one that is deleted: a run without memory may not read it.
alter table projects add column shared boolean not null default false;
update projects set shared = true where threads > 1;
create function note_shared() returns trigger language plpgsql as $$
begin
  new.shared := true;
  return new;
end $$;
create trigger project_is_shared before update of threads on projects
  for each row when (new.threads > old.threads) execute function note_shared();

create or replace function iso(p_at timestamptz) returns text language sql stable as $$
  select to_char(p_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$;

create or replace function thread_json(t runs.threads) returns jsonb language sql stable as $$
  select jsonb_build_object(
    'thread_id', t.id, 'project_id', t.project_id, 'title', t.title, 'created_at', runs.iso(t.created_at),
    'agent_id', r.agent_id, 'model_name', r.model,
    'latest_run', case when r.id is not null then jsonb_build_object(
      'agent_run_id', r.id, 'status', r.status, 'agent_id', r.agent_id, 'model_name', r.model, 'mode', coalesce(r.mode, 'agent'),
      'memory_enabled', coalesce(r.memory_enabled, true)) end)
    from (select 1) one
    left join lateral (select * from runs.runs x where x.thread_id = t.id order by x.id desc limit 1) r on true
$$;

create or replace function run_json(r runs.runs) returns jsonb language sql stable as $$
  select jsonb_build_object(
    'id', r.id, 'agent_run_id', r.id, 'thread_id', r.thread_id, 'project_id', r.project_id,
    'agent_id', r.agent_id, 'status', r.status, 'model_name', r.model, 'mode', coalesce(r.mode, 'agent'),
    'memory_enabled', coalesce(r.memory_enabled, true), 'started_at', runs.iso(r.started_at),
    'completed_at', runs.iso(r.completed_at), 'reason', r.reason, 'error', r.error,
    'error_code', r.error_code, 'duration_ms', runs.duration_ms(r), 'queue_wait_ms', r.queue_wait_ms,
    'time_to_first_token_ms', r.first_token_ms, 'queue_position', case when r.waiting then r.queue_place end,
    'usage', jsonb_build_object('input_tokens', r.input_tokens, 'output_tokens', r.output_tokens,
                                'cached_tokens', r.cached_tokens, 'credits', trim_scale(r.charged_micro / 1000000.0))
             || case when r.cache_write_tokens <> 0
                     then jsonb_build_object('cache_write_tokens', r.cache_write_tokens) else '{}' end)
$$;

-- As in 0006, but completed_at follows from the duration that the terminal event names, so that both agree. Nodes of the
-- release before do not give it.
create or replace function persist_steps(
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
           completed_at = case when p_statuses[w.n] is not null then coalesce(
             r.started_at + (p_events[w.n]::jsonb ->> 'duration_ms')::bigint * interval '1 millisecond', clock_timestamp()) end
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

-- As in 0006, with memory_enabled; text_shown: an earlier worker has shown text of the model, though it may be unknown when
-- (first_token_ms null).
drop function take_over;
create function take_over(p_run uuid, p_job bigint, p_fence bigint, p_reserve bigint)
returns table (account_id uuid, project_id uuid, thread_id uuid, agent_id uuid, agent_version int,
               model text, mode text, status text, step int, border_seq bigint, last_seq bigint,
               attempts int, charged_micro bigint, input_tokens bigint,
               output_tokens bigint, cached_tokens bigint, started_ago_us bigint, timeout_seconds int,
               stop_requested boolean, title text, begun_ago_us bigint, queue_wait_ms bigint, first_token_ms bigint,
               budget_micro bigint, budget_policy text, balance_micro bigint, uploads_waiting boolean, cache_write_tokens bigint,
               parameters text, memory_enabled boolean, text_shown boolean)
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
  memory_enabled := coalesce(v.memory_enabled, true);
  -- A run that the node of its start began at once, which has a fence from the beginning, did not wait.
  queue_wait_ms := coalesce(v.queue_wait_ms, case when v.fence <> 0 then 0 end);
  first_token_ms := v.first_token_ms;
  text_shown := v.first_token_ms is not null;
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
      text_shown := text_shown or exists (
        select 1 from runs.events e
         where e.run_id = p_run and e.seq > v.border_seq
           and (e.wire like '%llm_response_chunk%' or e.wire like '%reasoning_chunk%'));
    end if;
    -- Kept now, because a worker that dies before its first step is persisted takes its own measurement with it.
    update runs.runs r set job_id = p_job, fence = p_fence, seq_reserved = last_seq + p_reserve,
                           attempts = take_over.attempts,
                           queue_wait_ms = coalesce(take_over.queue_wait_ms, started_ago_us / 1000)
     where r.id = p_run;
  end if;
  return next;
end $$;
