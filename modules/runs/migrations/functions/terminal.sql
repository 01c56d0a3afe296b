-- ry: number 0086 compatible
-- The end of a run without its worker.

-- The terminal event of a run that another node ends or whose log was trimmed. agent/executor builds the same event for
-- runs that their worker ends.
create or replace function terminal_payload(r runs.runs) returns text language sql stable as $$
  select format('{"type": "status", "sequence": %s, "status": "%s", "reason": "%s", %s"usage": '
                '{"input_tokens":%s,"output_tokens":%s,"cached_tokens":%s%s}, "tokens": %s, "credits": %s, '
                '"duration_ms": %s, "queue_wait_ms": %s, "time_to_first_token_ms": %s%s}',
                r.border_seq, r.status, r.reason,
                case when r.status = 'failed'
                     then format('"error": %s, "error_code": %s, ', to_json(coalesce(r.error, '')),
                                 to_json(coalesce(r.error_code, ''))) end,
                r.input_tokens, r.output_tokens, r.cached_tokens,
                case when r.cache_write_tokens <> 0 then format(',"cache_write_tokens":%s', r.cache_write_tokens) end,
                r.input_tokens + r.output_tokens, trim_scale(r.charged_micro / 1000000.0),
                runs.duration_ms(r), coalesce(r.queue_wait_ms::text, 'null'),
                coalesce(r.first_token_ms::text, 'null'), ', "output": '::text || r.output::text)
$$;

-- The terminal event as stored in the log. No row: the run continues, or it does not exist.
create or replace function terminal_wire(p_run uuid) returns setof text language sql stable as $$
  select runs.event_wire(r.border_seq, runs.terminal_payload(r)) from runs.runs r
   where r.id = p_run and r.completed_at is not null
$$;

-- Ends a run that has no worker or whose worker does not respond. Invalidates the fence, so that the worker's later
-- writes are refused. Returns the status afterwards.
create or replace function force_stop(p_run uuid, p_webhooks text[] default '{}') returns text language plpgsql as $$
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
  -- The message of a waiting run is added to the thread only if no other run of the thread is executing.
  if v.waiting_body is not null and not exists (
       select 1 from runs.runs o where o.thread_id = v.thread_id and o.status = 'running' and not o.waiting) then
    insert into runs.messages (thread_id, id, run_id, role, body)
    values (v.thread_id, v.waiting_message, v.id, 'user', v.waiting_body);
  end if;
  if v.pending_prompts > 0 then
    perform runs.settle_prompts(p_run);
  end if;
  update runs.runs set status = 'stopped', reason = 'user_stop', completed_at = clock_timestamp(),
                       fence = -v_fence, seq_reserved = v_last, border_seq = v_last, waiting = false,
                       waiting_body = null
   where id = p_run returning * into v;
  insert into runs.events (run_id, seq, last_seq, wire)
  values (p_run, v_last, v_last, runs.event_wire(v_last, runs.terminal_payload(v)));
  perform runs.enqueue_webhooks(p_run, p_webhooks);
  perform runs.enqueue_start_webhook(p_run);
  perform runs.drop_approvals(p_run);
  begin
    perform core.job_complete(v.job_id, v_fence);
  exception when sqlstate 'RYF01' then
    -- The job no longer exists, or another worker is claiming it and will find that the run has ended.
    null;
  end;
  perform runs.admit(v.account_id);
  return 'stopped';
end $$;

-- Records a stop request and cancels the job. `ended`: no worker had the run, so it ended immediately. No row: unknown
-- run, or of another account. The request is durable: the worker that has the run sees it even if the requesting node
-- dies.
create or replace function request_stop(p_account uuid, p_run uuid, p_webhooks text[] default '{}')
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
    if not core.job_cancel(v.job_id) then
      status := runs.force_stop(p_run, p_webhooks);
      ended := status = 'stopped';
    end if;
  end if;
  return next;
end $$;
