-- Agent runs, see ry/svc/runs.h.

-- State of a run, for statements of modules that store run ids. Locks nothing. All columns are NULL if the run is unknown or belongs to another
-- account. status: running (also while the run waits in a queue), completed, failed or stopped.
create function runs.run_state(account uuid, run uuid, OUT status text, OUT thread_id uuid, OUT project_id uuid) returns record;

-- Whether the approval waits for a decision. If so, locks it (FOR SHARE), so that decisions about it wait until the end of the transaction.
-- used by: notifications
create function runs.lock_pending_approval(p_approval uuid) returns boolean;

-- Makes a link valid with which its recipient decides about this approval once: GET and POST /approval-decision?link=TOKEN. p_token_hash: SHA-256 of
-- TOKEN. Replaces the former link of the approval. False: the approval is unknown, belongs to another account or does not wait for a decision.
-- used by: notifications
create function runs.put_approval_link(p_account uuid, p_approval uuid, p_token_hash bytea) returns boolean;
