-- ry: compatible
-- Prompts that have joined a run in progress and are not messages of its thread yet. See migrations/functions/steer.sql.
create table joined_prompts (
  run_id uuid not null,
  position bigint generated always as identity,
  message_id uuid not null,             -- of the message that the prompt becomes
  body text not null,                   -- as in messages
  primary key (run_id, position)
);

-- The number of rows in joined_prompts: checkpoints read it together with the run.
alter table runs add column pending_prompts int not null default 0;

-- The message of a start that joined a run; null: the start began the run.
alter table idempotency add column message_id uuid;

-- The function gets another parameter with a default, so nodes of an earlier release can call the new one.
drop function if exists commit_steps(
  boolean, uuid[], uuid[], bigint[], bigint[], bigint[], bigint[], bigint[], bigint[], bigint[], bigint[], bigint[], text[],
  text[], text[], text[], text[], text[], text[], bigint[], bigint[], bigint[], bigint[], bigint[], text[], bigint[], uuid[],
  text[], text[], bigint[], text[], bigint[], text[], bigint[]);
