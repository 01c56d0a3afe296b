-- ry: compatible
-- Notifications about approvals of tool calls, by the approval; see migrations/functions/approvals.sql.
create table approval (
  approval_id uuid primary key,
  notification_id uuid not null unique references notification on delete cascade
);

create or replace function is_transactional(p_workflow text) returns boolean language sql immutable as $$
  select p_workflow in ('welcome-email', 'task-completed', 'task-failed', 'payment-succeeded', 'payment-failed', 'credits-low',
                        'referral-successful', 'approval-requested')
$$;
