-- ry: number 0006 compatible

-- Asks the worker of a running job to end it, as soon as this transaction commits: its node is notified at once and otherwise
-- sees the request at its next heartbeat. Returns false if no worker has the job; a waiting job does not change.
create or replace function job_cancel(p_id bigint) returns boolean language plpgsql as $$
begin
  update core.job set cancel_requested = true where id = p_id and state = 1;
  if not found then
    return false;
  end if;
  perform pg_notify('core.jobs.cancel', '');
  return true;
end $$;
