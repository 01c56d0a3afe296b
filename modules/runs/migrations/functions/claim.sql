-- ry: number 0017 compatible
-- The lease of a run: a worker claims it, and releases it when its node stops. Nodes of the previous version call the
-- same functions under their old names, take_over() and hand_over().

-- Returns the state of the run for the worker that has leased its job with p_fence. If the run is in progress, this
-- worker becomes its only writer, and p_reserve event numbers after the last one are reserved for it. No row: the run
-- was deleted. text_shown: an earlier worker has shown text of the model, even if first_token_ms is null.
create or replace function claim_run(p_run uuid, p_job bigint, p_fence bigint, p_reserve bigint)
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
  -- A run that the node of its start executed immediately, which has a fence from the start, did not wait.
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
      -- The attempt of the last response of each row: the text after its last llm_response_start.
      select greatest(v.attempts + 1, max(substring(
               split_part(e.wire, E'\ndata: {"type": "llm_response_start"', -1) from '^[^\n]*"attempt": (\d+)')::int)) into attempts
        from runs.events e
       where e.run_id = p_run and e.seq > v.border_seq and e.wire like E'%\ndata: {"type": "llm_response_start"%';
      text_shown := text_shown or exists (
        select 1 from runs.events e
         where e.run_id = p_run and e.seq > v.border_seq
           and (e.wire like '%llm_response_chunk%' or e.wire like '%reasoning_chunk%'));
    end if;
    -- Stored now: if the worker dies before its first checkpoint, its measurement of the waiting time would be lost.
    update runs.runs r set job_id = p_job, fence = p_fence, seq_reserved = last_seq + p_reserve,
                           attempts = claim_run.attempts,
                           queue_wait_ms = coalesce(claim_run.queue_wait_ms, started_ago_us / 1000)
     where r.id = p_run;
  end if;
  return next;
end $$;

-- Releases a run: no event after p_last was delivered, so the next worker has no gap to fill.
create or replace function release_run(p_run uuid, p_fence bigint, p_last bigint) returns void language sql as $$
  update runs.runs set seq_reserved = p_last
   where id = p_run and fence = p_fence and completed_at is null
$$;
