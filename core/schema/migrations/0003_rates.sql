-- How far each caller is ahead of its rate, of all nodes together: see core/limits/README.md. Worth no disk:
-- after a crash of the database everybody begins anew.
create unlogged table rate (
  key text primary key,
  busy_until timestamptz not null,
  spent interval not null  -- with what was told last
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);

-- Adds what this node let through since it asked last, in microseconds of the key's time, from the moment (of
-- now, 0 or less) on that the key was not ahead any more by what the node knows. Returns by how many the key is
-- ahead now, or behind.
create function rates_spend(p_keys text[], p_spent bigint[], p_from bigint[]) returns table (key text, ahead bigint)
language sql as $$
  insert into core.rate as r (key, busy_until, spent)
  select w.key, now() + (w.begun + w.spent) * interval '1 microsecond', w.spent * interval '1 microsecond'
    from unnest(p_keys, p_spent, p_from) w (key, spent, begun) order by w.key
  on conflict (key) do update
    set busy_until = greatest(r.busy_until, excluded.busy_until - excluded.spent) + excluded.spent,
        spent = excluded.spent
  returning r.key, (extract(epoch from r.busy_until - now()) * 1000000)::bigint
$$;
