-- ry: compatible
-- Names of contexts that are not UUIDs: the client's context id of a thread whose id is derived from it.
create table context (
  account_id uuid not null,
  thread_id uuid not null,
  context_id text not null check (octet_length(context_id) <= 256),
  created_at timestamptz not null default now(),
  primary key (account_id, thread_id)
);
create index context_age on context (account_id, created_at desc);
