-- Projects, threads, messages, runs and the event log of the runs. Rows refer to each other without
-- foreign keys: each is written and removed by the functions of 0002 alone, under the account's
-- lock, and the checks would cost a fifth of a start. Nor has `runs` checks of values: the server reads the text of
-- each anew for every statement.
create table projects (
  id uuid primary key,
  account_id uuid not null,
  name text not null default '',
  sandbox_id uuid,                    -- null until files were sent or a tool used the workspace
  workspace_version bigint not null default 0,  -- see 0003
  workspace_bytes bigint not null default 0,
  workspace_files bigint not null default 0,
  threads int not null default 1,     -- goes with the last; counting them would take longer the more an account has
  created_at timestamptz not null default now()
);

create table threads (
  id uuid primary key,
  project_id uuid not null,
  account_id uuid not null,
  title text not null default '',
  created_at timestamptz not null default now()
);
create index threads_of_account on threads (account_id, created_at desc, id desc);

-- Kept under the account's lock, so that a start costs the same with ten and with a hundred thousand
-- threads or runs. `runs_bound` is no count of slots: it only grows with each start and says that at
-- most so many runs can be running. When it reaches the limit the rows are counted and it is set to
-- what was found, so a crash cannot leak a slot.
create table account_usage (
  account_id uuid primary key,
  threads bigint not null default 0,
  runs_bound bigint not null default 0
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);

-- `body` is the message in the neutral form of llm.provider/1. A message of the role 'summary' stands for
-- all messages of its thread up to covers_to when a model is asked; readers do not see it. `reasoning`
-- is the member of that name of an assistant's message: for the provider's eyes only.
create table messages (
  thread_id uuid not null,
  position bigint generated always as identity,
  id uuid not null,
  run_id uuid not null,
  role text not null,
  body text not null,
  covers_to bigint,
  reasoning text,
  created_at timestamptz not null default now(),
  primary key (thread_id, position)
);
create index messages_summaries on messages (thread_id, position) where role = 'summary';

create table runs (
  id uuid primary key,                -- a UUIDv7 of ours: its order is the order of start
  account_id uuid not null,
  project_id uuid not null,
  thread_id uuid not null,
  agent_id uuid not null,
  agent_version int not null,
  model text not null,
  mode text,
  memory_enabled boolean,
  status text not null default 'running', -- or completed, failed, stopped
  job_id bigint not null,
  fence bigint not null,              -- of the worker that may write
  step int not null default 0,        -- model answers persisted
  border_seq bigint not null default 1,   -- last event that was appended together with a step
  attempts int not null default 0,        -- of the step since then, that workers who are gone may have shown
  seq_reserved bigint not null,       -- events up to here may have been delivered before they were durable
  timeout_seconds int not null,
  budget_micro bigint,                -- what the run may cost; null: no budget
  budget_policy text,                 -- hard, soft, finish_turn
  stop_requested_at timestamptz,
  waiting boolean not null default false, -- for a slot or for the thread's earlier run; no job yet
  waiting_message uuid,               -- of the user's message, which joins the thread at admission
  waiting_body text,
  queue_place int,                    -- as last told to the readers
  slot_limit bigint,                  -- of concurrent runs, by the plan when it was last looked at
  admitted_at timestamptz,            -- null: at the start
  reason text,
  error text,
  error_code text,
  input_tokens bigint not null default 0,
  output_tokens bigint not null default 0,
  cached_tokens bigint not null default 0,
  charged_micro bigint not null default 0,
  queue_wait_ms bigint,               -- from the start to its first worker
  first_token_ms bigint,              -- from the start to the first piece of an answer
  started_at timestamptz not null default now(),
  completed_at timestamptz
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
create index runs_of_account on runs (account_id, status, id desc);
create index runs_waiting on runs (account_id, id) where waiting;
create index runs_going_on_thread on runs (thread_id, id desc) where status = 'running';
create index runs_of_thread on runs (thread_id, id desc);

-- Append-only. A row holds events that follow each other, seq to last_seq, as they stand in the stream:
-- "id: N\ndata: {...}\n\n" for each. Pieces of an answer's text, which are nearly all events, are one line together: their
-- type, the number of the first, and a JSON array of the texts, as in `llm_response_chunk 7 ["Hello"," world"]\n\n`. The view
-- `event` is what to read them with. A row costs much by itself and little more with each event in it, so
-- whoever writes makes few, of at most 31 000 bytes and 40 KiB of the stream: compressed they fit a page and stay within their table. They are compressed
-- where PostgreSQL was built with lz4: that takes less time than the pages and the WAL it saves.
-- Partitioned by the time of the runs' start, which their ids begin with, so that the log is trimmed by dropping what is
-- old, and a run is in one partition: see core.partitions_make() and trim_log(). A unique index and no key: pg_restore --clean
-- cannot drop the keys of partitions.
create table events (
  run_id uuid not null,
  seq bigint not null,
  last_seq bigint not null,
  wire text not null
) partition by range (run_id);
create unique index events_of_run on events (run_id, seq);
alter table events alter column wire set storage main;
create table events_default partition of events default
  with (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_vacuum_scale_factor = 0.02, toast_tuple_target = 8160);
do $$ begin
  alter table events alter column wire set compression lz4;
  alter table events_default alter column wire set compression lz4;
  alter table events_default set (toast_tuple_target = 512);
  alter table messages alter column body set compression lz4;
  alter table messages alter column reasoning set compression lz4;
exception when feature_not_supported then
  null;  -- pglz takes too long
end $$;

-- The same, one row for each event; `payload` is the JSON object of the data line.
create view event as
  select e.run_id, x.seq, x.payload
    from events e, unnest(string_to_array(left(e.wire, -2), E'\n\n')) t (block),
         lateral (
           select split_part(split_part(t.block, E'\n', 1), ' ', 2)::bigint as seq,
                  substr(t.block, strpos(t.block, E'\ndata: ') + 7) as payload
            where t.block like 'id: %'
           union all
           select l.seq + c.n - 1, format('{"type": "%s", "sequence": %s, "content": %s}', l.type, l.seq + c.n - 1, c.text)
             from (select split_part(t.block, ' ', 1) as type, split_part(t.block, ' ', 2)::bigint as seq,
                          substr(t.block, strpos(t.block, '['))::json as texts where t.block not like 'id: %') l,
                  json_array_elements(l.texts) with ordinality c (text, n)) x;

-- Files that came with a start, by their final names beneath uploads/. They are looked at before the
-- model's first answer; a worker that takes over does it again where `found` is still null.
create table uploads (
  run_id uuid not null,
  name text not null,
  project_id uuid not null,
  size bigint not null,
  media_type text not null,
  found text,                         -- text, image or none
  detail text,                        -- of none: why
  created_at timestamptz not null default now(),
  primary key (run_id, name)
);

-- Answers to starts with an Idempotency-Key, for 24 hours.
create table idempotency (
  account_id uuid not null,
  key text not null,
  body_hash text not null,
  run_id uuid not null,
  thread_id uuid not null,
  project_id uuid not null,
  sandbox_id uuid,
  created_at timestamptz not null default now(),
  primary key (account_id, key)
);
create index idempotency_by_age on idempotency (created_at);

-- Streams of runs that are read from the log, on whatever node: with the runs' own readers they say who looks at
-- a thread. A row that its node does not renew is void; none outlives a crash of the database, when all are
-- written anew.
create unlogged table watcher (
  id uuid primary key,
  thread_id uuid not null,
  until timestamptz not null
);
create index watcher_thread on watcher (thread_id);
