-- Agent runs, see ry/svc/runs.h.

-- State of a run, for statements of modules that store run ids. Locks nothing. All columns are NULL if the run is unknown or belongs to another
-- account. status: running (also while the run waits in a queue), completed, failed or stopped.
create function runs.run_state(account uuid, run uuid, OUT status text, OUT thread_id uuid, OUT project_id uuid) returns record;
