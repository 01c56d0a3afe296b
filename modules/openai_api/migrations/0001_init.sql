-- Data that the API adds to a run: the members of the response that repeat the request. Messages and events are stored
-- by the module runs, which deletes them with the thread.
create table response (
  run_id uuid primary key,
  account_id uuid not null,
  thread_id uuid not null,
  created_at timestamptz not null default now(),
  base text not null,                     -- JSON object
  system text not null default '',        -- system and developer messages of this response and of those before it
  deleted boolean not null default false -- by the client, while the thread has other responses
);
create index response_thread on response (thread_id);
create index response_account on response (account_id);
create index response_created on response (created_at);
