-- ry: number 0085 compatible
-- Checkpoints: the commits of a run after a model response, after tool calls, and at its end.

-- Commits steps of several runs, ordered by run id: events, messages, usage, charge, and for the last step of a run its
-- status, the completion of its job, webhooks and the domain event; also admits waiting runs. outcome: ok; gone: the
-- run has ended or belongs to another worker; alone: another transaction locks its account, and nothing was written for
-- the step; prompts: the step would complete a run with pending prompts, and nothing was written for it. pending_prompts:
-- of the run after the step. p_wait: there is a single step, which waits for that lock. p_row_of, p_message_of and
-- p_webhook_of contain the position of the step to which an event, message or webhook belongs. completed_at is computed
-- from the duration in the terminal event, so that both agree. p_results: the outputs of runs with an output schema. p_joined: how many of the
-- step's messages are pending prompts of the run. Nodes of an earlier release do not pass p_cache_writes, p_results and
-- p_joined; the end of their runs adds pending prompts to the thread, as does the end of a run that fails or is stopped.
drop function if exists commit_steps(
  boolean, uuid[], uuid[], bigint[], bigint[], bigint[], bigint[], bigint[], bigint[], bigint[], bigint[], bigint[], text[],
  text[], text[], text[], text[], text[], text[], bigint[], bigint[], bigint[], bigint[], bigint[], text[], bigint[], uuid[],
  text[], text[], bigint[], text[], bigint[], text[], bigint[]);
create or replace function commit_steps(
  p_wait boolean, p_accounts uuid[], p_runs uuid[], p_jobs bigint[], p_fences bigint[], p_borders bigint[],
  p_reserved bigint[], p_steps bigint[], p_inputs bigint[], p_outputs bigint[], p_cached bigint[], p_charges bigint[],
  p_refs text[], p_notes text[], p_statuses text[], p_reasons text[], p_errors text[], p_error_codes text[],
  p_events text[], p_queue_waits bigint[], p_first_tokens bigint[],
  p_row_of bigint[], p_seqs bigint[], p_lasts bigint[], p_wires text[],
  p_message_of bigint[], p_ids uuid[], p_roles text[], p_bodies text[], p_covers_to bigint[], p_reasonings text[],
  p_webhook_of bigint[], p_webhooks text[], p_cache_writes bigint[] default '{}',
  p_results text[] default '{}', p_joined bigint[] default null)
returns table (outcome text, balance_micro bigint, jobs_ready boolean, pending_prompts bigint)
language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off set work_mem = '32MB' as $$
#variable_conflict use_column
declare
  w record;
  v_ready boolean := false;
  v_found record;
  v_tiers text[];
  v_runs uuid[];  -- by the position of the step; null: another transaction locks its account
  -- By the position of the step. Thread null: nothing is written for the step.
  v_owners uuid[];
  v_threads uuid[];
  v_outcomes text[];
  v_prompts bigint[];
  v_balances bigint[] := array_fill(null::bigint, array[cardinality(p_runs)]);
  v_held bigint[]; v_held_fences bigint[]; v_ended bigint[]; v_ended_fences bigint[];
  v_kinds text[]; v_keys text[]; v_payloads jsonb[]; v_threads_of_events uuid[];
  v_with_webhook uuid[];  -- runs that end and whose start named a webhook
begin
  -- Locks the runs in the order of the parameters, then the accounts: the same order everywhere prevents deadlocks.
  perform 1 from unnest(p_runs) u (run),
               lateral (select r.id from runs.runs r where r.id = u.run for no key update) x;
  -- A separate statement: the following ones see all commits before the locks were acquired.
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
  -- `any` repeats the join condition, so that the planner uses the index on id regardless of the statistics. It scans
  -- the joined set once per run, so that set contains only the position in the arrays.
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
           pending_prompts = r.pending_prompts - coalesce(p_joined[w.n], 0),
           status = coalesce(p_statuses[w.n], r.status),
           reason = p_reasons[w.n], error = p_errors[w.n], error_code = p_error_codes[w.n],
           output = p_results[w.n]::jsonb,
           completed_at = case when p_statuses[w.n] is not null then coalesce(
             r.started_at + (p_events[w.n]::jsonb ->> 'duration_ms')::bigint * interval '1 millisecond', clock_timestamp()) end
      from unnest(v_runs) with ordinality w (run, n)
     where r.id = any (v_runs) and r.id = w.run and r.fence = p_fences[w.n] and r.completed_at is null
       and r.border_seq < p_borders[w.n]
       and (r.pending_prompts = 0 or p_joined is null or p_statuses[w.n] is distinct from 'completed')
    returning w.n, r.account_id, r.thread_id, r.pending_prompts, r.webhook_url is not null as has_webhook)
  select array_agg(d.account_id order by w.n), array_agg(d.thread_id order by w.n),
         array_agg(d.pending_prompts order by w.n),
         array_agg(case when d.n is not null then 'ok'
                        when p_wait or w.account is null or w.tier is not null then 'gone' else 'alone' end order by w.n),
         array_agg(w.job) filter (where d.n is not null and w.status is null),
         array_agg(w.fence) filter (where d.n is not null and w.status is null),
         array_agg(w.job) filter (where d.n is not null and w.status is not null),
         array_agg(w.fence) filter (where d.n is not null and w.status is not null),
         array_agg('run.' || w.status order by w.n) filter (where d.n is not null and w.status in ('completed', 'failed')),
         array_agg(w.account::text order by w.n) filter (where d.n is not null and w.status in ('completed', 'failed')),
         array_agg(w.event::jsonb order by w.n) filter (where d.n is not null and w.status in ('completed', 'failed')),
         array_agg(d.thread_id order by w.n) filter (where d.n is not null and w.status in ('completed', 'failed')),
         array_agg(p_runs[w.n]) filter (where d.has_webhook and w.status is not null)
    into v_owners, v_threads, v_prompts, v_outcomes, v_held, v_held_fences, v_ended, v_ended_fences, v_kinds, v_keys, v_payloads,
         v_threads_of_events, v_with_webhook
    from (select o.n, p_accounts[o.n] as account, v_tiers[o.n] as tier, p_jobs[o.n] as job, p_fences[o.n] as fence,
                 p_statuses[o.n] as status, p_events[o.n] as event
            from unnest(p_runs) with ordinality o (run, n)) w
    left join done d on d.n = w.n;
  if array_position(v_threads, null) is not null then
    -- A step that an earlier attempt has written is ok, although nothing is written for it now.
    select array_agg(case when w.outcome = 'gone' and r.border_seq >= w.border
                               and r.status = coalesce(w.status, 'running') then 'ok'
                          when w.outcome = 'gone' and r.border_seq < w.border and r.status = 'running'
                               and r.pending_prompts > 0 and p_joined is not null and w.status = 'completed' then 'prompts'
                          else w.outcome end order by w.n),
           array_agg(coalesce(w.prompts, r.pending_prompts) order by w.n)
      into v_outcomes, v_prompts
      from unnest(v_outcomes, p_runs, p_fences, p_borders, p_statuses, v_prompts) with ordinality
             w (outcome, run, fence, border, status, prompts, n)
      left join lateral (select x.border_seq, x.status, x.pending_prompts from runs.runs x
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
  -- Only the holder of the fence writes events after the last checkpoint.
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
  if 0 < any (p_joined) then
    delete from runs.joined_prompts j using unnest(p_message_of, p_ids) m (step, id)
     where v_threads[m.step] is not null and p_joined[m.step] > 0 and j.run_id = p_runs[m.step] and j.message_id = m.id;
  end if;
  if 0 < any (v_prompts) then
    perform runs.settle_prompts(p_runs[o.n]) from unnest(v_prompts) with ordinality o (pending, n)
     where o.pending > 0 and v_threads[o.n] is not null and p_statuses[o.n] is not null;
  end if;
  if cardinality(p_webhooks) > 0 then
    perform runs.enqueue_webhooks(p_runs[h.step], array_agg(h.name order by h.n))
       from unnest(p_webhook_of, p_webhooks) with ordinality h (step, name, n)
      where v_threads[h.step] is not null group by h.step;
  end if;
  if v_with_webhook is not null then
    perform runs.enqueue_start_webhook(w.run) from unnest(v_with_webhook) w (run);
  end if;
  if v_kinds is not null then
    -- The payload already states whether the worker itself has readers.
    select array_agg(case when exists (select 1 from runs.watcher x
                                        where x.thread_id = v_threads_of_events[e.n] and x.until > clock_timestamp())
                          then e.payload || '{"viewed": true}' else e.payload end order by e.n)
      into v_payloads from unnest(v_payloads) with ordinality e (payload, n);
    v_ready := core.events_publish(v_kinds, v_keys, v_payloads);
  end if;
  -- The offset makes the planner look up each account by its index.
  for w in select e.account from unnest(p_accounts) with ordinality e (account, n)
            where p_statuses[e.n] is not null and v_threads[e.n] is not null
              and exists (select 1 from runs.runs r where r.account_id = e.account and r.waiting offset 0) loop
    perform runs.admit(w.account);
    v_ready := true;
  end loop;
  return query select o.outcome, v_balances[o.n], v_ready, v_prompts[o.n]
                 from unnest(v_outcomes) with ordinality o (outcome, n);
end $$;

-- Appends events between checkpoints and raises reservations of event numbers. Returns the runs whose reservation was
-- refused because their fence has changed. Fails with a unique violation if an event already exists, which is rare, and
-- expensive to check each time; a retry with p_again adds only the missing ones.
create or replace function append_events(p_runs text[], p_seqs bigint[], p_lasts bigint[], p_wires text[],
                              p_reserve_runs text[], p_reserve_fences bigint[], p_reserve_to bigint[],
                              p_again boolean)
returns setof text language plpgsql set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set work_mem = '32MB' as $$
declare
  v_lost text[] := '{}';
begin
  if cardinality(p_reserve_runs) > 0 then
    -- A nested loop locks the runs in the order of their ids, so that two batches cannot deadlock.
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

-- The message to webhooks about the end of a run.
create or replace function webhook_body(r runs.runs) returns text language sql stable as $$
  select jsonb_build_object('type', 'run.' || r.status, 'timestamp', runs.iso(r.completed_at),
                            'data', runs.run_json(r) || runs.output_json(r) ||
                                    jsonb_build_object('account_id', r.account_id))::text
$$;

-- Creates one job per webhook about the end of a run. The body is fixed here, because it is signed and sent unchanged
-- on every attempt.
create or replace function enqueue_webhooks(p_run uuid, p_webhooks text[]) returns void language plpgsql as $$
declare
  v_body text;
  v_name text;
begin
  if cardinality(p_webhooks) = 0 then
    return;
  end if;
  select runs.webhook_body(r) into v_body from runs.runs r where r.id = p_run;
  foreach v_name in array p_webhooks loop
    perform core.job_enqueue(p_kind => 'runs.webhook', p_queue => 'webhooks', p_max_attempts => 16,
                             p_share => md5(v_name)::uuid,
                             p_args => jsonb_build_object('endpoint', v_name, 'id', 'run_' || p_run, 'body', v_body));
  end loop;
end $$;

-- Creates the job for the webhook that the start of the run named, if any. The job does not contain the URL, which other
-- accounts and administrators must not see.
create or replace function enqueue_start_webhook(p_run uuid) returns void language sql as $$
  select core.job_enqueue(p_kind => 'runs.start_webhook', p_queue => 'webhooks', p_max_attempts => 16,
                          p_share => r.account_id,
                          p_args => jsonb_build_object('run', r.id, 'id', 'run_' || r.id, 'body', runs.webhook_body(r)))
    from runs.runs r where r.id = p_run and r.webhook_url is not null
$$;
