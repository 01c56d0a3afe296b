-- ry: number 0005 compatible
-- Jobs that the caller executes itself are created leased to its node, which saves the claim. Such a job has no turn.

-- Adds a job for each element of p_args that is not null, in the caller's transaction: leased to p_node with fence 1, or
-- waiting in the queue with fence 0 if p_node is null. Returns the ids in the order of p_args. No share occurs twice. The jobs
-- belong to different callers, so none takes the trace of the transaction; adopt() sets the trace of a leased job.
create or replace function jobs_create_leased(p_kind text, p_queue text, p_args jsonb[], p_max_attempts int, p_node uuid,
                                              p_shares uuid[] default null)
returns bigint[] language plpgsql set plan_cache_mode = force_generic_plan as $$
declare
  v_ids bigint[];
begin
  if p_node is not null then
    with made as (
      insert into core.job (id, kind, queue, state, attempt, max_attempts, fence, node, started_at, args, share, trace)
      overriding system value
      select nextval('core.job_id_seq'), p_kind, p_queue, 1, 1, p_max_attempts, 1, p_node, now(), w.args, w.share, null
        from unnest(p_args, p_shares) w (args, share) where w.args is not null
      returning job.id)
    select array_agg(m.id order by m.id) into v_ids from made m;
  else
    with made as (
      insert into core.job (id, kind, queue, state, attempt, max_attempts, args, share, turn, trace)
      overriding system value
      select nextval('core.job_id_seq'), p_kind, p_queue, 0, 0, p_max_attempts, w.args, w.share,
             case when w.share is null then 0 else core.job_turn(p_kind, 0, w.share) end, null
        from unnest(p_args, p_shares) w (args, share) where w.args is not null
      returning job.id)
    select array_agg(m.id order by m.id) into v_ids from made m;
  end if;
  if array_position(p_args, null) is null then
    return v_ids;
  end if;
  return array(select v_ids[case when w.args is not null then count(w.args) over (order by w.n) end]
                 from unnest(p_args) with ordinality w (args, n) order by w.n);
end $$;

-- Adds one job, leased to p_node with fence 1, in the caller's transaction. Returns its id.
create or replace function job_create_leased(p_kind text, p_queue text, p_args jsonb, p_max_attempts int, p_node uuid,
                                             p_share uuid)
returns bigint language plpgsql set plan_cache_mode = force_generic_plan as $$
declare
  v_id bigint;
begin
  insert into core.job (kind, queue, state, attempt, max_attempts, fence, node, started_at, args, share, trace)
  values (p_kind, p_queue, 1, 1, p_max_attempts, 1, p_node, now(), p_args, p_share, null) returning id into v_id;
  return v_id;
end $$;
