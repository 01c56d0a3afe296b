-- ry: number 0083 compatible
-- Questions to a person: rows of runs.approvals with the kinds question, elicitation and url. They are parked, decided and cancelled
-- by the functions of approvals.sql. A call has no questions, or those of its latest round count.

-- The digest of an answer, by which a repeated answer is recognized after the answer itself was deleted.
create or replace function content_digest(p_id uuid, p_content text) returns bytea language sql immutable as $$
  select sha256(convert_to(p_id::text || p_content, 'UTF8'))
$$;

-- Creates questions of calls of answer p_step of a run, for its worker; existing ones are unchanged. p_problems: the reason why a
-- question is not put to the person, which cancels it; null: none. Beyond p_limit questions of the run, further ones are cancelled with the reason
-- 'limit'. p_held: the call stays open, and this worker waits for the answer. False: the run has ended or belongs to another worker.
create or replace function ask_questions(p_run uuid, p_fence bigint, p_step bigint, p_ids uuid[], p_calls text[], p_rounds int[], p_requests text[],
                                         p_kinds text[], p_tools text[], p_sources text[], p_arguments text[], p_questions text[],
                                         p_states text[], p_problems text[], p_limit bigint, p_on_timeout text,
                                         p_expires_in_seconds bigint, p_held boolean) returns boolean
language plpgsql as $$
declare
  v runs.runs%rowtype;
  v_asked bigint;
begin
  select * into v from runs.runs r where r.id = p_run and r.fence = p_fence and r.completed_at is null for no key update;
  if not found then
    return false;
  end if;
  select count(*) into v_asked from runs.approvals a
   where a.run_id = p_run and a.kind in ('question', 'elicitation', 'url') and a.question <> '{}' and a.reason is distinct from 'limit';
  insert into runs.approvals as a (id, account_id, run_id, thread_id, agent_id, step, tool_call_id, round, request, kind, tool, source,
                                   arguments, question, state, on_timeout, expires_at, held_by, status, reason, decided_at,
                                   announced, resolved_event)
  select w.id, v.account_id, v.id, v.thread_id, v.agent_id, p_step, w.call, w.round, w.request, w.kind, w.tool, w.source, w.arguments,
         w.question, w.state, p_on_timeout, clock_timestamp() + p_expires_in_seconds * interval '1 second',
         case when p_held then p_fence end, case when w.reason is null then 'pending' else 'cancelled' end, w.reason,
         case when w.reason is not null then clock_timestamp() end, w.reason is not null, w.reason is not null
    from (select u.*, coalesce(u.problem, case when v_asked + u.n > p_limit then 'limit' end) reason
            from unnest(p_ids, p_calls, p_rounds, p_requests, p_kinds, p_tools, p_sources, p_arguments, p_questions, p_states, p_problems)
                 with ordinality u (id, call, round, request, kind, tool, source, arguments, question, state, problem, n)) w
  on conflict on constraint approvals_run_id_step_tool_call_id_key do nothing;
  return true;
end $$;

-- The questions of the latest round of each call, for the run's worker. Cancels those of calls that were open in a worker that no
-- longer executes the run.
create or replace function questions_of(p_run uuid, p_fence bigint, p_step bigint, p_calls text[])
returns table (id uuid, tool_call_id text, round int, request text, kind text, status text, arguments text, question text, content text,
               reason text, state text, begun boolean, announced boolean, resolved_event boolean, on_timeout text, expires_at text)
language plpgsql as $$
#variable_conflict use_column
begin
  update runs.approvals a set status = 'cancelled', decided_at = clock_timestamp(), begun = true
    from runs.runs r
   where r.id = p_run and r.fence = p_fence and a.run_id = p_run and a.status = 'pending' and a.held_by <> p_fence;
  return query
  select a.id, a.tool_call_id, a.round, a.request, a.kind, a.status, a.arguments, a.question, a.content, a.reason, a.state, a.begun or a.held_by is not null,
         a.announced,
         a.resolved_event or a.status <> 'pending' and runs.is_logged(p_run, 'approval_resolved', a.id),
         a.on_timeout, runs.iso(a.expires_at)
    from runs.approvals a
   where a.run_id = p_run and a.step = p_step and a.tool_call_id = any (p_calls) and a.kind in ('question', 'elicitation', 'url')
     and a.round = (select max(b.round) from runs.approvals b
                     where b.run_id = p_run and b.step = p_step and b.tool_call_id = a.tool_call_id
                       and b.kind in ('question', 'elicitation', 'url'))
   order by a.id;
end $$;

-- The kind and the question of an approval of an account that a person decides on.
create or replace function question_of(p_account uuid, p_id uuid) returns table (kind text, question text) language sql stable as $$
  select a.kind, a.question from runs.approvals a where a.id = p_id and a.account_id = p_account and a.kind <> 'client'
$$;
