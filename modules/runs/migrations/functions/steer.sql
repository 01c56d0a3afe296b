-- ry: number 0071 compatible
-- Prompts that join a run in progress (on_busy = steer). Its worker adds them to the thread before its next model request, and
-- before its end: commit_steps() completes no run with pending prompts. Locks the run before the account, as checkpoints do.

-- Adds a prompt to the run in progress of a thread. outcome: joined; none: no run can take it, and nothing was written, so
-- the caller makes a start; busy: the client of the run executes its tool calls after the run, and a message must not come
-- between a call and its result; full: too many prompts are pending; replay, key_reused: an earlier start had this key.
-- message_id of a replay is null if the earlier start began the run. A single prompt may exceed p_max_bytes.
create or replace function join_run(p_account uuid, p_thread uuid, p_project uuid, p_message uuid, p_body text, p_key text,
                                    p_hash text, p_max_prompts bigint, p_max_bytes bigint)
returns table (outcome text, run_id uuid, thread_id uuid, project_id uuid, sandbox_id uuid, message_id uuid)
language plpgsql as $$
#variable_conflict use_column
declare
  v runs.runs%rowtype;
  v_key runs.idempotency%rowtype;
begin
  thread_id := p_thread;
  -- A run that waits for a slot can take prompts, but one that executes comes first.
  -- A run may end while this call waits for its row, and another one may begin then.
  for v_attempt in 1..2 loop
    select * into v from runs.runs r
     where r.thread_id = p_thread and r.status = 'running' and r.account_id = p_account order by r.waiting, r.id limit 1
       for no key update;
    exit when v.id is not null;
  end loop;
  if v.id is null then
    outcome := 'none';
    return next;
    return;
  end if;
  run_id := v.id;
  project_id := v.project_id;
  -- A separate statement: it sees the keys of all starts that had the lock before.
  select i.* into v_key from runs.idempotency i
   where i.account_id = p_account and i.key = p_key and i.created_at > now() - interval '24 hours';
  if found then
    outcome := case when v_key.body_hash = p_hash then 'replay' else 'key_reused' end;
    run_id := v_key.run_id; thread_id := v_key.thread_id; project_id := v_key.project_id;
    sandbox_id := v_key.sandbox_id; message_id := v_key.message_id;
    return next;
    return;
  end if;
  outcome := case
    when v.project_id <> p_project or v.stop_requested_at is not null then 'none'
    when v.parameters::json -> 'client_tools' is not null
         and v.parameters::json ->> 'parks_client_calls' is distinct from 'true' then 'busy'
    when v.pending_prompts >= p_max_prompts then 'full'
    when v.pending_prompts > 0 and p_max_bytes < octet_length(p_body) +
         (select sum(octet_length(j.body)) from runs.joined_prompts j where j.run_id = v.id) then 'full' end;
  if outcome is not null then
    return next;
    return;
  end if;
  select p.sandbox_id into sandbox_id from runs.projects p where p.id = v.project_id;
  if p_key is not null then
    insert into runs.idempotency as i (account_id, key, body_hash, run_id, thread_id, project_id, sandbox_id, message_id)
    values (p_account, p_key, p_hash, v.id, p_thread, v.project_id, sandbox_id, p_message)
    on conflict (account_id, key) do update
      set body_hash = excluded.body_hash, run_id = excluded.run_id, thread_id = excluded.thread_id,
          project_id = excluded.project_id, sandbox_id = excluded.sandbox_id, message_id = excluded.message_id, created_at = now()
      where i.created_at <= now() - interval '24 hours';
    if not found then
      -- A concurrent start on another thread had this key, which makes the bodies different.
      outcome := 'key_reused';
      return next;
      return;
    end if;
  end if;
  insert into runs.joined_prompts (run_id, message_id, body) values (v.id, p_message, p_body);
  update runs.runs r set pending_prompts = r.pending_prompts + 1 where r.id = v.id;
  if v.waiting then
    perform runs.admit(p_account);  -- a concurrent admission skipped the run because its row was locked
  end if;
  outcome := 'joined';
  message_id := p_message;
  return next;
end $$;

-- Adds the pending prompts of a run that ends to its thread, after its last message. Called with the row of the run locked.
create or replace function settle_prompts(p_run uuid) returns void language sql as $$
  with settled as (
    delete from runs.joined_prompts j where j.run_id = p_run returning j.position, j.message_id, j.body)
  insert into runs.messages (thread_id, id, run_id, role, body)
  select r.thread_id, s.message_id, r.id, 'user', s.body
    from settled s join runs.runs r on r.id = p_run order by s.position;
  update runs.runs r set pending_prompts = 0 where r.id = p_run;
$$;
