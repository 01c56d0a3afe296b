-- ry: number 0008 compatible
-- For work that several jobs execute one after another.

-- Raises the fence of a waiting job to at least p_fence, so that its worker gets a higher fence than all workers of
-- the earlier jobs of the same work.
create or replace function job_raise_fence(p_id bigint, p_fence bigint) returns void language sql as $$
  update core.job set fence = greatest(fence, p_fence) where id = p_id and state = 0
$$;
