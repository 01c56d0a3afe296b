-- ry: compatible
-- The pending approvals of a run, which each decision reads.
create index if not exists approvals_pending_of_run on approvals (run_id) where status = 'pending';
