-- ry: number 0089 compatible
-- Approvals of tool calls, and calls that the client executes. A run whose answer contains such calls is parked: its job
-- ends, and the run is stored only in the database. The decision on its last pending approval creates a new job. In this file,
-- "approval" includes the calls of the client (kind client) and questions to the person (see questions.sql).

-- Whether the log of a run has the event p_type of an approval. An earlier worker may have appended it without
-- having set its flag.
create or replace function is_logged(p_run uuid, p_type text, p_id uuid) returns boolean language sql stable as $$
  select exists (select 1 from runs.events e
                  where e.run_id = p_run and e.wire like '%' || p_id || '%'
                    and e.wire ~ ('"type": "' || p_type || '", "sequence": [0-9]+, "approval_id": "' || p_id || '"'))
$$;

-- The slots of an account that are in use. Waiting runs use none; a parked run uses one until slot_until. Three counts of
-- one index each, because an anti-join would probe every parked run.
create or replace function occupied_slots(p_account uuid) returns bigint language sql volatile as $$
  select (select count(*) from runs.runs r where r.account_id = p_account and r.status = 'running')
       - (select count(*) from runs.runs r where r.account_id = p_account and r.waiting)
       - (select count(*) from runs.parked p where p.account_id = p_account and p.slot_until < clock_timestamp())
$$;

-- The events of these approvals for consumers of domain events. approval.requested has the beginning of the arguments.
create or replace function publish_approvals(p_kind text, p_ids uuid[]) returns void language plpgsql as $$
begin
  perform core.events_publish(array_agg(p_kind order by a.id), array_agg(a.account_id::text order by a.id),
            array_agg(jsonb_build_object(
              'approval_id', a.id, 'account_id', a.account_id, 'run_id', a.run_id, 'thread_id', a.thread_id, 'agent_id', a.agent_id,
              'tool', a.tool) || case p_kind when 'approval.requested' then jsonb_build_object(
                'project_id', r.project_id, 'agent_name', agents.agent_name(a.account_id, a.agent_id), 'tool_call_id', a.tool_call_id,
                'source', a.source, 'arguments', left(a.arguments, 4000), 'requested_at', runs.iso(a.requested_at),
                'expires_at', runs.iso(a.expires_at), 'on_timeout', a.on_timeout,
                'title', (select t.title from runs.threads t where t.id = a.thread_id))
              else jsonb_build_object('status', a.status) end order by a.id))
     from runs.approvals a left join runs.runs r on r.id = a.run_id
    where a.id = any (p_ids) having count(*) > 0;
end $$;

-- Creates the approvals of the calls of answer p_step of a run, for its worker; existing ones are unchanged. Returns all approvals of the given calls.
-- No row: the run has ended or belongs to another worker. A remembered decision of the run or agent approves at once. Publishes approval.requested
-- for each new approval that waits for a decision. is_changed: `arguments` are those of the approver.
drop function if exists request_approvals(uuid, bigint, bigint, uuid[], text[], text[], text[], text[], text[], text, bigint);
create or replace function request_approvals(p_run uuid, p_fence bigint, p_step bigint, p_ids uuid[], p_calls text[], p_tools text[],
                                             p_sources text[], p_arguments text[], p_kinds text[],
                                             p_on_timeout text, p_expires_in_seconds bigint)
returns table (id uuid, tool_call_id text, status text, arguments text, reason text, begun boolean, announced boolean,
               resolved_event boolean, on_timeout text, expires_at text, kind text, result text, result_is_error boolean, is_changed boolean)
language plpgsql as $$
#variable_conflict use_column
declare
  v runs.runs%rowtype;
  v_new uuid[];
  v_asked uuid[];
begin
  select * into v from runs.runs r where r.id = p_run and r.fence = p_fence and r.completed_at is null for no key update;
  if not found then
    return;
  end if;
  with created as (
  insert into runs.approvals as a (id, account_id, run_id, thread_id, agent_id, step, tool_call_id, tool, source, arguments, kind,
                                   on_timeout, expires_at, status, decided_at, reason)
  select w.id, v.account_id, v.id, v.thread_id, v.agent_id, p_step, w.call, w.tool, w.source, w.arguments, w.kind, p_on_timeout,
         clock_timestamp() + p_expires_in_seconds * interval '1 second',
         case when m.tool is null then 'pending' else 'approved' end, case when m.tool is not null then clock_timestamp() end,
         case when m.tool is not null then 'remembered' end
    from unnest(p_ids, p_calls, p_tools, p_sources, p_arguments, p_kinds) w (id, call, tool, source, arguments, kind)
    left join lateral (select x.tool from runs.remembered_approvals x
                        where w.kind = 'approval' and x.account_id = v.account_id and x.scope_id in (v.id, v.agent_id) and x.tool = w.tool limit 1) m on true
  on conflict on constraint approvals_run_id_step_tool_call_id_key do nothing
  returning a.id, a.kind, a.status)
  select array_agg(c.id), array_agg(c.id) filter (where c.kind = 'approval' and c.status = 'pending') into v_new, v_asked from created c;
  if v_asked is not null then
    perform runs.publish_approvals('approval.requested', v_asked);
  end if;
  return query
  select a.id, a.tool_call_id, a.status, coalesce(a.new_arguments, a.arguments), a.reason, a.begun,
         a.announced,
         a.resolved_event or a.status <> 'pending' and a.id <> all (v_new) is not false and runs.is_logged(p_run, 'approval_resolved', a.id),
         a.on_timeout, runs.iso(a.expires_at), a.kind, a.result, a.result_is_error, a.new_arguments is not null
    from runs.approvals a
   where a.run_id = p_run and a.step = p_step and a.tool_call_id = any (p_calls) and a.kind in ('approval', 'client');
end $$;

-- What earlier workers did about the approvals of these calls of answer p_step, for the worker that claimed the run. requested: the
-- approval exists. needed: the policy required one when the answer was made, so that no worker has begun the call without it.
create or replace function earlier_approvals(p_run uuid, p_step bigint, p_calls text[])
returns table (tool_call_id text, requested boolean, needed boolean) language sql stable as $$
  select c.id,
         exists (select 1 from runs.approvals a
                  where a.run_id = p_run and a.step = p_step and a.tool_call_id = c.id and a.kind = 'approval'),
         -- A model may repeat the id of a call: the last event counts.
         coalesce((select l.line like '%, "needs_approval": true}'
                     from runs.events e, regexp_split_to_table(e.wire, E'\n') with ordinality l (line, n)
                    where e.run_id = p_run and e.wire like '%"type": "tool_call"%'
                      and l.line like 'data: {"type": "tool_call"%'
                      and position('"tool_call_id": ' || to_json(c.id)::text || ',' in l.line) > 0
                    order by e.seq desc, l.n desc limit 1), false)
    from unnest(p_calls) c (id)
$$;

-- Records that the worker begins these approved calls, or passes on the answers to these questions, so that another worker does not repeat
-- it. False: the run has ended or belongs to another worker.
create or replace function begin_approved(p_run uuid, p_fence bigint, p_ids uuid[]) returns boolean language plpgsql as $$
begin
  perform 1 from runs.runs r where r.id = p_run and r.fence = p_fence and r.completed_at is null for no key update;
  if not found then
    return false;
  end if;
  update runs.approvals a set begun = true, content = null, state = null where a.id = any (p_ids);
  return true;
end $$;

-- Writes the event approval_resolved to the log of a run without a worker.
create or replace function log_resolved(a runs.approvals, p_seq bigint) returns void language sql as $$
  insert into runs.events (run_id, seq, last_seq, wire)
  values (a.run_id, p_seq, p_seq, runs.event_wire(p_seq, format(
    '{"type": "approval_resolved", "sequence": %s, "approval_id": "%s", "tool_call_id": %s, "status": "%s", "reason": %s%s}',
    p_seq, a.id, to_json(a.tool_call_id), a.status, coalesce(to_json(a.reason)::text, 'null'), ', "arguments": ' || a.new_arguments)))
$$;

-- Parks a run whose events up to p_last are in the log. Returns parked; resolved: no approval is pending any more, so
-- the worker continues; stop: a stop was requested; gone: the run has ended or belongs to another worker.
create or replace function park_run(p_run uuid, p_job bigint, p_fence bigint, p_last bigint, p_slot_seconds bigint)
returns text language plpgsql as $$
declare
  v runs.runs%rowtype;
  v_approval runs.approvals;
  v_last bigint := p_last;
begin
  select * into v from runs.runs r where r.id = p_run and r.fence = p_fence and r.completed_at is null for no key update;
  if not found then
    return 'gone';
  end if;
  if v.stop_requested_at is not null then
    return 'stop';
  end if;
  update runs.approvals a set announced = true where a.run_id = p_run and (a.status = 'pending' or a.kind <> 'client' and not a.begun);
  if not exists (select 1 from runs.approvals a where a.run_id = p_run and a.status = 'pending') then
    return 'resolved';
  end if;
  insert into runs.parked (run_id, account_id, slot_until)
  values (p_run, v.account_id, clock_timestamp() + p_slot_seconds * interval '1 second')
  on conflict (run_id) do nothing;
  -- Decisions that were made before: their events would otherwise be missing until the run continues.
  for v_approval in select * from runs.approvals a
                     where a.run_id = p_run and a.status <> 'pending' and a.kind <> 'client' and not a.resolved_event
                       and not a.begun and a.announced order by a.id loop
    if not runs.is_logged(p_run, 'approval_resolved', v_approval.id) then
      v_last := v_last + 1;
      perform runs.log_resolved(v_approval, v_last);
    end if;
    update runs.approvals a set resolved_event = true where a.id = v_approval.id;
  end loop;
  -- No worker has the run, so its fence becomes invalid.
  update runs.runs r set border_seq = v_last, seq_reserved = v_last, fence = -p_fence where r.id = p_run;
  perform core.job_complete(p_job, p_fence);
  return 'parked';
end $$;

-- Returns a parked run to the queue if no approval is pending any more. True: a job was created. Called with the row of
-- the run locked. The time until the run begins again does not count towards its time limit.
create or replace function unpark(p_run uuid) returns boolean language plpgsql as $$
declare
  v_parked runs.parked%rowtype;
  v_job bigint;
  v_used bigint;
begin
  if exists (select 1 from runs.approvals a where a.run_id = p_run and a.status = 'pending') then
    return false;
  end if;
  select * into v_parked from runs.parked p where p.run_id = p_run;
  if not found or exists (select 1 from runs.runs r where r.id = p_run and (r.waiting or r.completed_at is not null)) then
    return false;
  end if;
  -- Starts of the account hold this lock too, so that no other run takes the slot between the check and the update.
  perform 1 from accounts.lock_account(v_parked.account_id);
  if v_parked.slot_until < clock_timestamp() then
    v_used := runs.occupied_slots(v_parked.account_id);
    -- The slot of the run is used by another one: the run waits for a slot like a queued start. Its row in parked
    -- stays until then and counts neither as a slot nor as a lapsed one.
    update runs.runs r set waiting = true, queue_place = null where r.id = p_run and r.slot_limit <= v_used;
    if found then
      update runs.parked p set slot_until = 'infinity' where p.run_id = p_run;
      return false;
    end if;
    update runs.account_usage u set runs_bound = v_used + 1 where u.account_id = v_parked.account_id;
  end if;
  delete from runs.parked p where p.run_id = p_run;
  select j.id into v_job from core.job_enqueue(
    p_kind => 'runs.execute', p_args => jsonb_build_object('run_id', p_run), p_queue => 'runs', p_max_attempts => 1000000,
    p_share => v_parked.account_id) j;
  -- The fence of a worker of the earlier job must not be valid for the new job.
  perform core.job_raise_fence(v_job, (select abs(r.fence) from runs.runs r where r.id = p_run));
  update runs.runs r
     set admitted_at = coalesce(r.admitted_at, r.started_at) + (clock_timestamp() - v_parked.parked_at), job_id = v_job
   where r.id = p_run;
  return true;
end $$;

-- json, because jsonb refuses \u0000, which arguments may contain.
create or replace function approval_json(a runs.approvals) returns json language sql stable as $$
  select json_build_object(
    'approval_id', a.id, 'agent_run_id', a.run_id, 'thread_id', a.thread_id, 'agent_id', a.agent_id,
    'tool_call_id', a.tool_call_id, 'name', a.tool, 'source', a.source, 'arguments', coalesce(a.new_arguments, a.arguments)::json,
    'status', a.status, 'on_timeout', a.on_timeout, 'requested_at', runs.iso(a.requested_at), 'expires_at', runs.iso(a.expires_at),
    'decided_at', runs.iso(a.decided_at), 'reason', a.reason, 'remember', a.remember,
    'kind', a.kind, 'message', a.question::json -> 'message', 'schema', a.question::json -> 'schema',
    'url', a.question::json -> 'url', 'host', a.question::json -> 'host')
$$;

-- Decides on an approval. p_status: approved, denied, expired; cancelled (questions only). p_content: the answer to a question, which it needs to be
-- approved; nodes of earlier versions cannot give one. p_account null: any account. outcome: ok; same: the
-- decision was made before; other: another decision was made before, or the run has ended; not_found; remember_limit: the
-- account already has p_remember_most remembered approvals (null: no limit), and nothing was changed. wake: a job of the run
-- waits for a worker. Locks the run before the approval, as workers do.
drop function if exists decide_approval(uuid, uuid, text, text, text, text);
create or replace function decide_approval(p_account uuid, p_id uuid, p_status text, p_arguments text, p_reason text,
                                           p_remember text, p_remember_most bigint default null, p_content text default null)
returns table (outcome text, approval text, run_id uuid, wake boolean) language plpgsql as $$
#variable_conflict use_column
declare
  v runs.approvals%rowtype;
  v_run runs.runs%rowtype;
  v_scope uuid;
  v_seq bigint;
begin
  wake := false;
  select * into v from runs.approvals a where a.id = p_id and (p_account is null or a.account_id = p_account and a.kind <> 'client')
     and (a.kind = 'approval' or p_status <> 'approved' or p_content is not null);
  if not found then
    outcome := 'not_found';
    return next;
    return;
  end if;
  run_id := v.run_id;
  select * into v_run from runs.runs r where r.id = v.run_id for no key update;
  select * into v from runs.approvals a where a.id = p_id for no key update;
  if v.status = 'pending' and (v_run.id is null or v_run.completed_at is not null) then
    update runs.approvals a set status = 'cancelled', decided_at = clock_timestamp() where a.id = p_id returning * into v;
    if v.kind = 'approval' then
      perform runs.publish_approvals('approval.resolved', array[p_id]);
    end if;
  end if;
  if v.status <> 'pending' then
    outcome := case when v.status = p_status and v.new_arguments is not distinct from p_arguments
                         and v.content_digest is not distinct from runs.content_digest(p_id, p_content) then 'same' else 'other' end;
    approval := runs.approval_json(v)::text;
    return next;
    return;
  end if;
  v_scope := case p_remember when 'run' then v.run_id when 'agent' then v.agent_id end;
  if p_status = 'approved' and v_scope is not null and p_remember_most is not null then
    perform pg_advisory_xact_lock(hashtextextended('runs.remembered_approvals ' || v.account_id, 0));
    if (select count(*) from runs.remembered_approvals m where m.account_id = v.account_id) >= p_remember_most
       and not exists (select 1 from runs.remembered_approvals m where m.account_id = v.account_id and m.scope_id = v_scope and m.tool = v.tool) then
      outcome := 'remember_limit';
      return next;
      return;
    end if;
  end if;
  update runs.approvals a
     set status = p_status, decided_at = clock_timestamp(), new_arguments = p_arguments, reason = p_reason,
         remember = p_remember, content = p_content, content_digest = runs.content_digest(p_id, p_content),
         resolved_event = exists (select 1 from runs.parked p where p.run_id = v.run_id)
   where a.id = p_id returning * into v;
  if p_status = 'approved' and v_scope is not null then
    insert into runs.remembered_approvals (id, account_id, scope_id, tool) values (v.id, v.account_id, v_scope, v.tool)
    on conflict do nothing;
  end if;
  if v.resolved_event and v.kind <> 'client' then
    v_seq := v_run.border_seq + 1;
    perform runs.log_resolved(v, v_seq);
    update runs.runs r set border_seq = v_seq, seq_reserved = v_seq where r.id = v.run_id;
  end if;
  wake := v.resolved_event and runs.unpark(v.run_id);
  if v.kind = 'approval' then
    perform runs.publish_approvals('approval.resolved', array[v.id]);
  end if;
  outcome := 'ok';
  approval := runs.approval_json(v)::text;
  return next;
end $$;

-- Declared in sdk/sql/runs.v1.sql.
create or replace function lock_pending_approval(p_approval uuid) returns boolean language plpgsql as $$
begin
  perform 1 from runs.approvals a join runs.runs r on r.id = a.run_id
    where a.id = p_approval and a.kind = 'approval' and a.status = 'pending' and a.expires_at > clock_timestamp() and r.completed_at is null
      for share of a;
  return found;
end $$;

-- Declared in sdk/sql/runs.v1.sql.
create or replace function put_approval_link(p_account uuid, p_approval uuid, p_token_hash bytea) returns boolean language plpgsql as $$
begin
  if not exists (select 1 from runs.approvals a where a.id = p_approval and a.account_id = p_account)
     or not runs.lock_pending_approval(p_approval) then
    return false;
  end if;
  insert into runs.approval_links as l (approval_id, token_hash) values (p_approval, p_token_hash)
  on conflict (approval_id) do update set token_hash = excluded.token_hash where l.token_hash <> excluded.token_hash;
  return true;
end $$;

-- The state of a link, with what its page shows. state: open; used: a decision was made with the link; decided: it was made in another way;
-- expired; cancelled. No row: unknown link.
create or replace function approval_link(p_token_hash bytea)
returns table (state text, approval text, agent text, title text) language sql stable as $$
  select case when l.used_at is not null then 'used'
              when a.status = 'expired' or a.status = 'pending' and a.expires_at <= clock_timestamp() then 'expired'
              when a.status = 'cancelled' or a.status = 'pending' and r.completed_at is not null then 'cancelled'
              when a.status <> 'pending' then 'decided'
              else 'open' end,
         runs.approval_json(a)::text, agents.agent_name(a.account_id, a.agent_id),
         (select t.title from runs.threads t where t.id = a.thread_id)
    from runs.approval_links l join runs.approvals a on a.id = l.approval_id join runs.runs r on r.id = a.run_id
   where l.token_hash = p_token_hash
$$;

-- Decides with a link, once. made: the link was open, and this call made the decision. No row: unknown link.
create or replace function decide_by_link(p_token_hash bytea, p_status text, p_reason text)
returns table (made boolean, run_id uuid) language plpgsql as $$
#variable_conflict use_column
declare
  v runs.approvals%rowtype;
  v_outcome text;
begin
  select a.* into v from runs.approval_links l join runs.approvals a on a.id = l.approval_id where l.token_hash = p_token_hash;
  if not found then
    return;
  end if;
  made := false;
  run_id := v.run_id;
  if v.expires_at > clock_timestamp() then
    -- Locks the approval, so that only one decision finds it pending.
    select d.outcome into v_outcome from runs.decide_approval(v.account_id, v.id, p_status, null, p_reason, 'none') d;
    made := v_outcome = 'ok';
    if made then
      update runs.approval_links l set used_at = clock_timestamp() where l.approval_id = v.id;
    end if;
  end if;
  return next;
end $$;

-- Stores the client's results of calls of a run, all or none. outcome: ok; not_found: the run is unknown or belongs to
-- another account; unknown: the call at the position `at` does not wait for the client; conflict: it has a different
-- result. A result that is already stored is accepted again. wake: a job of the run waits for a worker.
create or replace function put_tool_results(p_account uuid, p_run uuid, p_calls text[], p_contents text[], p_errors boolean[])
returns table (outcome text, at bigint, wake boolean) language plpgsql as $$
#variable_conflict use_column
declare
  w record;
  v_ended boolean;
begin
  wake := false;
  select r.completed_at is not null into v_ended from runs.runs r
   where r.id = p_run and r.account_id = p_account for no key update;
  if not found then
    outcome := 'not_found';
    return next;
    return;
  end if;
  for w in select c.n, a.status, a.result, a.result_is_error, c.content, c.is_error
             from unnest(p_calls, p_contents, p_errors) with ordinality c (call, content, is_error, n)
             left join lateral (select x.* from runs.approvals x
                                 where x.run_id = p_run and x.tool_call_id = c.call and x.kind = 'client'
                                 order by x.step desc limit 1) a on true
            order by c.n loop
    if w.status is null or v_ended and w.status = 'pending' or w.status <> 'pending' and not (w.status = 'answered' and w.result = w.content
                                                          and w.result_is_error = w.is_error) then
      outcome := case when w.status = 'answered' then 'conflict' else 'unknown' end;
      at := w.n;
      return next;
      return;
    end if;
  end loop;
  update runs.approvals a set status = 'answered', decided_at = clock_timestamp(), result = c.content, result_is_error = c.is_error
    from unnest(p_calls, p_contents, p_errors) c (call, content, is_error)
   where a.run_id = p_run and a.tool_call_id = c.call and a.kind = 'client' and a.status = 'pending';
  wake := runs.unpark(p_run);
  outcome := 'ok';
  return next;
end $$;

-- Expired approvals, oldest first.
create or replace function due_approvals(p_limit bigint)
returns table (id uuid, account_id uuid, run_id uuid, on_timeout text) language sql stable as $$
  select a.id, a.account_id, a.run_id, a.on_timeout from runs.approvals a
   where a.status = 'pending' and a.expires_at <= clock_timestamp() order by a.expires_at limit p_limit
$$;

-- A page of an account's approvals, newest first. p_status null: all; p_run null: of all runs. A page ends after 4 MB of
-- arguments. last: the id after which the next page begins; null: there is none. Separate statements, because a plan for
-- all combinations would read the approvals of all accounts.
create or replace function approvals_page(p_account uuid, p_run uuid, p_status text, p_before uuid, p_limit bigint,
                                          out items text, out n bigint, out last text)
language plpgsql stable set plan_cache_mode = force_custom_plan set enable_seqscan = off as $$
declare
  v_before constant uuid := coalesce(p_before, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
  v_ids uuid[];
begin
  if p_run is not null then
    v_ids := array(select a.id from runs.approvals a
                    where a.run_id = p_run and a.account_id = p_account and a.kind <> 'client'
                      and (p_status is null or a.status = p_status) and a.id < v_before
                    order by a.id desc limit p_limit);
  elsif p_status = 'pending' then
    v_ids := array(select a.id from runs.approvals a
                    where a.account_id = p_account and a.kind <> 'client' and a.status = 'pending' and a.id < v_before
                    order by a.id desc limit p_limit);
  else
    v_ids := array(select a.id from runs.approvals a
                    where a.account_id = p_account and a.kind <> 'client'
                      and (p_status is null or a.status = p_status) and a.id < v_before
                    order by a.id desc limit p_limit);
  end if;
  select coalesce(json_agg(runs.approval_json(x.a) order by x.id desc), '[]')::text, count(*), min(x.id::text)
    into items, n, last
    from (select a, a.id, row_number() over newest as place,
                 sum(octet_length(a.arguments) + coalesce(octet_length(a.new_arguments), 0)) over newest as bytes
            from unnest(v_ids) i (id) join runs.approvals a on a.id = i.id
          window newest as (order by a.id desc)) x
   where x.place = 1 or x.bytes <= 4000000;
  if n < cardinality(v_ids) or n = p_limit then
    return;
  end if;
  last := null;
end $$;

-- A page of an account's remembered approvals, newest first. p_agent null: of all agents and runs.
create or replace function remembered_page(p_account uuid, p_agent uuid, p_before uuid, p_limit bigint,
                                           out items text, out n bigint, out last text)
language sql stable as $$
  select coalesce(json_agg(json_build_object(
           'remembered_id', x.id, 'scope', case when r.id is null then 'agent' else 'run' end, 'agent_id', coalesce(r.agent_id, x.scope_id),
           'agent_run_id', r.id, 'name', x.tool, 'created_at', runs.iso(x.created_at)) order by x.id desc), '[]')::text,
         count(*), min(x.id::text)
    from (select m.* from runs.remembered_approvals m
           where m.account_id = p_account and (p_agent is null or m.scope_id = p_agent)
             and m.id < coalesce(p_before, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
           order by m.id desc limit p_limit) x
    left join runs.runs r on r.id = x.scope_id
$$;

-- What a run waits for, as in the member waiting_for of its JSON; null: nothing.
create or replace function waiting_for(p_run uuid) returns jsonb language sql stable as $$
  select jsonb_agg(case a.kind when 'client' then jsonb_build_object('type', 'tool_result')
                               when 'approval' then jsonb_build_object('type', 'approval', 'approval_id', a.id)
                               else jsonb_build_object('type', 'approval', 'approval_id', a.id, 'kind', a.kind) end
                   || jsonb_build_object('tool_call_id', a.tool_call_id, 'name', a.tool, 'expires_at', runs.iso(a.expires_at))
                   order by a.id)
    from runs.approvals a where a.run_id = p_run and a.status = 'pending'
$$;

-- As delete_thread(); also deletes the thread's approvals.
create or replace function erase_thread(p_account uuid, p_thread uuid)
returns table (outcome text, project_id uuid) language plpgsql as $$
#variable_conflict use_column
begin
  select d.outcome, d.project_id into outcome, project_id from runs.delete_thread(p_account, p_thread) d;
  if outcome = 'ok' then
    delete from runs.approvals a where a.thread_id = p_thread and a.account_id = p_account;
  end if;
  return next;
end $$;

-- Cancels the approvals of a run that ends, and removes it from the parked runs.
create or replace function drop_approvals(p_run uuid) returns void language plpgsql as $$
declare
  v_cancelled uuid[];
begin
  with cancelled as (
    update runs.approvals a set status = 'cancelled', decided_at = clock_timestamp()
     where a.run_id = p_run and a.status = 'pending' returning a.id, a.kind)
  select array_agg(c.id) filter (where c.kind = 'approval') into v_cancelled from cancelled c;
  update runs.approvals a set content = null, state = null
   where a.run_id = p_run and (a.content is not null or a.state is not null);
  delete from runs.parked p where p.run_id = p_run;
  delete from runs.remembered_approvals m where m.scope_id = p_run;
  if v_cancelled is not null then
    perform runs.publish_approvals('approval.resolved', v_cancelled);
  end if;
end $$;

-- The JSON of a run, with what it waits for.
create or replace function run_json_with_waiting(r runs.runs) returns jsonb language sql stable as $$
  select case when r.status = 'running' and w.list is not null then runs.run_json(r) || jsonb_build_object('waiting_for', w.list)
              else runs.run_json(r) end
    from (select case when r.status = 'running' then runs.waiting_for(r.id) end as list) w
$$;

-- Begins the waiting runs of an account that have a slot and whose thread is free, in the order of their starts, and
-- updates the position of the others. p_limit: the number of slots of the account's plan; null: as at the last call. Parked
-- runs occupy a slot until slot_until.
create or replace function admit(p_account uuid, p_limit bigint default null) returns void language plpgsql as $$
declare
  v runs.runs%rowtype;
  v_running bigint;
  v_place int := 0;
begin
  perform 1 from accounts.lock_account(p_account);
  if not exists (select 1 from runs.runs r where r.account_id = p_account and r.waiting) then
    return;
  end if;
  v_running := runs.occupied_slots(p_account);
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
         set waiting = false, waiting_message = null, waiting_body = null,
             -- The time limit of a run that was parked continues; that of a new run begins now.
             admitted_at = coalesce(coalesce(r.admitted_at, r.started_at)
                                      + (clock_timestamp() - (select p.parked_at from runs.parked p where p.run_id = v.id)),
                                    clock_timestamp()),
             job_id = (select j.id from core.job_enqueue(
                         p_kind => 'runs.execute', p_args => jsonb_build_object('run_id', v.id),
                         p_queue => 'runs', p_max_attempts => 1000000, p_share => p_account) j)
       where r.id = v.id returning r.job_id into v.job_id;
      delete from runs.parked p where p.run_id = v.id;
      -- Workers of an earlier job of a run that was parked must not pass for the next one.
      perform core.job_raise_fence(v.job_id, abs(v.fence));
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
