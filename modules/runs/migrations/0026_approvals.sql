-- ry: compatible
-- Calls that wait for a person or the client, and the parked runs that wait for these calls without a worker. See migrations/functions/approvals.sql.
create table approvals (
  id uuid primary key,
  account_id uuid not null,
  run_id uuid not null,
  thread_id uuid not null,
  agent_id uuid not null,
  step bigint not null,                 -- number of the answer with the call: a model may repeat the ids of calls
  tool_call_id text not null,
  tool text not null,
  source text not null default '',
  arguments text not null,              -- JSON object
  kind text not null default 'approval',    -- or client: the client executes the call
  status text not null default 'pending',   -- approved, denied, answered (client), expired, cancelled
  on_timeout text not null default 'deny',  -- or stop
  requested_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null,
  decided_at timestamptz,
  reason text,                          -- of the decision
  new_arguments text,                   -- the approver's replacement for `arguments`
  result text,                          -- of the client
  result_is_error boolean not null default false,
  remember text not null default 'none',    -- run, agent
  announced boolean not null default false,     -- the stream has approval_requested
  resolved_event boolean not null default false,  -- the stream has approval_resolved
  begun boolean not null default false,         -- a worker has begun the call
  unique (run_id, step, tool_call_id)
);
create index approvals_of_account on approvals (account_id, id desc) where kind = 'approval';
create index approvals_pending_of_account on approvals (account_id, id desc) where kind = 'approval' and status = 'pending';
create index approvals_of_thread on approvals (thread_id);
create index approvals_due on approvals (expires_at) where status = 'pending';

-- Runs that wait for such calls. No node executes them. They count as running runs of their account until slot_until.
create table parked (
  run_id uuid primary key,
  account_id uuid not null,
  parked_at timestamptz not null default clock_timestamp(),
  slot_until timestamptz not null
);
create index parked_of_account on parked (account_id);

-- Decisions that apply to later calls of the same tool: of one run, or of an agent.
create table remembered_approvals (
  account_id uuid not null,
  scope_id uuid not null,               -- of the run or the agent
  tool text not null,
  created_at timestamptz not null default now(),
  primary key (account_id, scope_id, tool)
);
