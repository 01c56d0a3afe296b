-- ry: number 0007 compatible
-- For modules that decide where new work is executed.

-- The number of waiting jobs of a kind, counted up to p_limit, because the exact length of a long queue is not needed.
create or replace function jobs_waiting(p_kind text, p_limit int) returns bigint language sql stable as $$
  select count(*) from (select 1 from core.job j where j.kind = p_kind and j.state = 0 limit p_limit) w
$$;

-- Whether the node is asked to claim no more jobs.
create or replace function node_draining(p_node uuid) returns boolean language sql stable as $$
  select exists (select 1 from core.node n where n.id = p_node and n.draining)
$$;
