-- Tasks that MCP servers carry out for calls of runs, so that a worker that takes a run over can go on waiting for them.
-- call_hash: BLAKE2b-256 of the tool and its arguments; ids of calls are a model's own and may be used again within a run.
-- task_id is a capability: sealed for the place "mcp.task:<run id>".
create table task (
  run_id uuid not null,
  tool_call_id text not null,
  call_hash bytea not null,
  task_id bytea not null,
  expires_at timestamptz not null,
  primary key (run_id, tool_call_id)
);
create index task_expiry on task (expires_at);
