-- ry: compatible
-- Questions to a person: rows of runs.approvals with the kinds question (of the tool ask_user), elicitation and url (of a tool that
-- requests input during a call). See migrations/functions/questions.sql.
alter table approvals
  add column round int not null default 0,       -- of a call that requests input repeatedly; 0: not requested by a tool
  add column request text not null default '',   -- the tool's name of the request
  add column question text,                      -- JSON object: message, and schema, or url and host
  add column content text,                       -- the answer, JSON object; deleted when it has been passed on
  add column content_digest bytea,               -- of the answer
  add column state text,                         -- opaque state with which the tool continues; in one row of each round
  add column held_by bigint;                     -- the fence of the worker whose call is open; null: the call has returned

-- The name stays, because request_approvals() refers to it.
alter table approvals
  drop constraint approvals_run_id_step_tool_call_id_key,
  add constraint approvals_run_id_step_tool_call_id_key unique (run_id, step, tool_call_id, round, request);

create index approvals_shown_of_account on approvals (account_id, id desc) where kind <> 'client';
create index approvals_shown_pending_of_account on approvals (account_id, id desc) where kind <> 'client' and status = 'pending';
drop index approvals_of_account;
drop index approvals_pending_of_account;
