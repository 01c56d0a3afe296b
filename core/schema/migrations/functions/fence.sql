-- ry: number 0008 compatible
-- For work that one job after another executes.

-- Raises the fence of a waiting job to at least p_fence, so that the worker that claims it gets a higher one than all
-- workers of an earlier job of the same work.
create or replace function job_raise_fence(p_id bigint, p_fence bigint) returns void language sql as $$
  update core.job set fence = greatest(fence, p_fence) where id = p_id and state = 0
$$;
