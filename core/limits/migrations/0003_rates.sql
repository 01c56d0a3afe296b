-- How far each caller is ahead of its rate, of all nodes together: see core/limits/README.md. Worth no disk:
-- after a crash of the database everybody begins anew.
create unlogged table rate (
  key text primary key,
  busy_until timestamptz not null
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);

-- Adds what this node let through since it asked last, in microseconds of the key's time. Returns by how many
-- the key is ahead now.
create function rates_spend(p_keys text[], p_spent bigint[]) returns table (key text, ahead bigint)
language sql as $$
  insert into core.rate as r (key, busy_until)
  select w.key, now() + w.spent * interval '1 microsecond' from unnest(p_keys, p_spent) w (key, spent) order by w.key
  on conflict (key) do update
    set busy_until = greatest(r.busy_until, now()) + (excluded.busy_until - now())
  returning r.key, (extract(epoch from r.busy_until - now()) * 1000000)::bigint
$$;
