-- What start_plain() does, for many starts in one statement, also several of one account, as far as each account has room:
-- a row for each that was made, by its place. Nothing was written for the others. Those without a row are to be asked for by
-- themselves; a row without a job: the account is locked by somebody else, or unknown. p_wait: the starts are of one
-- account, which is waited for.
create function start_plain_all(
  p_accounts uuid[], p_tiers text[], p_max_runs bigint[], p_max_threads bigint[], p_threads uuid[], p_projects uuid[],
  p_runs uuid[], p_messages uuid[], p_agents uuid[], p_models text[], p_default_models text[], p_bodies text[],
  p_titles text[], p_modes text[], p_memory boolean[], p_budgets bigint[], p_policies text[], p_wait boolean,
  p_node uuid, p_timeout int, p_first_event text, p_reserve bigint)
returns table (n bigint, agent_id uuid, agent_version int, model text, job_id bigint)
language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
#variable_conflict use_column
declare
  v_found record;
  v_accounts constant uuid[] := array(select distinct a.id from unnest(p_accounts) a (id));
  v_tiers text[]; v_balances bigint[];
  v_models text[];
  v_made bigint[];
  v_jobs bigint[];
begin
  if p_wait then
    select array[l.tier], array[l.balance_micro] into v_tiers, v_balances from accounts.lock_account(p_accounts[1]) l;
  else
    v_found := accounts.try_lock_accounts(v_accounts);
    v_tiers := v_found.tiers;
    v_balances := v_found.balances;
  end if;
  return query select w.n, null::uuid, null::int, null::text, null::bigint
                 from unnest(p_accounts) with ordinality w (account, n)
                 join unnest(v_accounts, v_tiers) a (id, tier) on a.id = w.account
                where a.tier is null;
  v_found := agents.resolve_all(
    array(select case when a.tier = w.tier then w.account end
            from unnest(p_accounts, p_tiers) with ordinality w (account, tier, n)
            join unnest(v_accounts, v_tiers) a (id, tier) on a.id = w.account order by w.n), p_agents);
  v_models := array(select coalesce(m.asked, case when m.own is null then m.otherwise end)
                      from unnest(p_models, v_found.models, p_default_models) with ordinality m (asked, own, otherwise, n)
                     order by m.n);
  -- A statement of its own: it sees what was committed before the locks were had.
  v_made := array(
    select g.n from (
      select w.n, row_number() over (partition by w.account order by w.n) as place,
             least(w.max_threads - coalesce(u.threads, 0), w.max_runs - coalesce(u.runs_bound, 0)) as room
        from unnest(p_accounts, p_max_runs, p_max_threads, v_models, v_found.agents) with ordinality
               w (account, max_runs, max_threads, model, agent, n)
        join unnest(v_accounts, v_balances) a (id, balance) on a.id = w.account
        left join runs.account_usage u on u.account_id = w.account
       where w.model is not null and w.agent is not null and a.balance > 0) g
     where g.place <= g.room order by g.n);
  if cardinality(v_made) = 0 then
    return;
  end if;
  v_jobs := core.jobs_born('runs.execute', 'runs',
    array(select jsonb_build_object('run_id', p_runs[m.n]) from unnest(v_made) with ordinality m (n, place) order by m.place),
    1000000, p_node, array(select p_accounts[m.n] from unnest(v_made) with ordinality m (n, place) order by m.place));
  return query
  with made as materialized (
    select m.n, m.job, p_accounts[m.n] as account, p_threads[m.n] as thread, p_projects[m.n] as project, p_runs[m.n] as run,
           p_titles[m.n] as title, v_found.agents[m.n] as agent, v_found.versions[m.n] as version, v_models[m.n] as model
      from unnest(v_made, v_jobs) m (n, job)),
  usage as (
    insert into runs.account_usage as u (account_id, threads, runs_bound)
    select m.account, count(*), count(*) from made m group by m.account
    on conflict (account_id) do update
      set threads = u.threads + excluded.threads, runs_bound = u.runs_bound + excluded.runs_bound),
  new_project as (
    insert into runs.projects (id, account_id, name) select m.project, m.account, m.title from made m),
  new_thread as (
    insert into runs.threads (id, project_id, account_id, title) select m.thread, m.project, m.account, m.title from made m),
  new_message as (
    insert into runs.messages (thread_id, id, run_id, role, body)
    select m.thread, p_messages[m.n], m.run, 'user', p_bodies[m.n] from made m),
  new_run as (
    insert into runs.runs (id, account_id, project_id, thread_id, agent_id, agent_version, model, mode, memory_enabled,
                           job_id, fence, seq_reserved, border_seq, timeout_seconds, budget_micro, budget_policy, slot_limit)
    select m.run, m.account, m.project, m.thread, m.agent, m.version, m.model, p_modes[m.n], p_memory[m.n],
           m.job, 1, p_reserve, 1, p_timeout, p_budgets[m.n], p_policies[m.n], p_max_runs[m.n] from made m),
  first_event as (
    insert into runs.events (run_id, seq, last_seq, wire) select m.run, 1, 1, p_first_event from made m)
  select m.n, m.agent, m.version, m.model, m.job from made m;
end $$;
