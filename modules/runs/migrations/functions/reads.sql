-- ry: number 0084 compatible
-- Runs as JSON, and pages of them.

create or replace function run_json(r runs.runs) returns jsonb language sql stable as $$
  select jsonb_build_object(
    'id', r.id, 'agent_run_id', r.id, 'thread_id', r.thread_id, 'project_id', r.project_id,
    'agent_id', r.agent_id, 'status', r.status, 'model_name', r.model, 'mode', coalesce(r.mode, 'agent'),
    'memory_enabled', coalesce(r.memory_enabled, true), 'started_at', runs.iso(r.started_at),
    'completed_at', runs.iso(r.completed_at), 'reason', r.reason, 'error', r.error,
    'error_code', r.error_code, 'duration_ms', runs.duration_ms(r), 'queue_wait_ms', r.queue_wait_ms,
    'time_to_first_token_ms', r.first_token_ms, 'queue_position', case when r.waiting then r.queue_place end,
    'metadata', coalesce(r.metadata, '{}'),
    'usage', jsonb_build_object('input_tokens', r.input_tokens, 'output_tokens', r.output_tokens,
                                'cached_tokens', r.cached_tokens, 'credits', trim_scale(r.charged_micro / 1000000.0))
             || case when r.cache_write_tokens <> 0
                     then jsonb_build_object('cache_write_tokens', r.cache_write_tokens) else '{}' end)
$$;

-- The output of a run with an output schema. Only in reads of one run, because it may be large.
create or replace function output_json(r runs.runs) returns jsonb language sql stable as $$
  select case when r.output is null then '{}' else jsonb_build_object('output', r.output) end
$$;

-- A page of an account's runs, newest first: a page of each status and the newest of them, so that with and without a
-- status one index serves. Pages cost nothing here, so that the planner chooses the plan that reads the fewest rows;
-- otherwise it would walk through all runs by id, which takes long if few have the status.
create or replace function page_of(p_account uuid, p_status text, p_before uuid, p_limit bigint,
                                   out items text, out n bigint, out last text)
language plpgsql stable set plan_cache_mode = force_generic_plan set random_page_cost = 0 set seq_page_cost = 0 as $$
begin
  select coalesce(jsonb_agg(runs.run_json_with_waiting(p.run) order by p.id desc), '[]')::text, count(*), min(p.id::text)
    into items, n, last
    from (select x.run, x.id
            from unnest(case when p_status is null then array['running', 'completed', 'failed', 'stopped']
                             else array[p_status] end) s (status),
                 lateral (select y as run, y.id from runs.runs y
                           where y.account_id = p_account and y.status = s.status
                             and y.id < coalesce(p_before, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
                           order by y.id desc limit p_limit) x
           order by x.id desc limit p_limit) p;
end $$;

-- A page of an account's runs whose metadata contains p_metadata, newest first. Planned at each execution: the best index
-- depends on how many runs have this metadata.
create or replace function page_of_metadata(p_account uuid, p_status text, p_before uuid, p_limit bigint, p_metadata jsonb,
                                            out items text, out n bigint, out last text)
language plpgsql stable set plan_cache_mode = force_custom_plan as $$
begin
  select coalesce(jsonb_agg(runs.run_json_with_waiting(p.run) order by p.id desc), '[]')::text, count(*), min(p.id::text)
    into items, n, last
    from (select y as run, y.id from runs.runs y
           where y.account_id = p_account and array[y.account_id] @> array[p_account] and y.metadata @> p_metadata
             and (p_status is null or y.status = p_status)
             and y.id < coalesce(p_before, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
           order by y.id desc limit p_limit) p;
end $$;
