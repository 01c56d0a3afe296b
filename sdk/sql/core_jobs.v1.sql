-- Durable jobs, see ry/if/jobs.h. A fence is the number of a claim: a worker that lost its lease has an old one.

-- Adds a job in the caller's transaction. p_node: the caller's node_id; the job is then created leased to it, and the caller passes id and fence to
-- adopt() after the commit. p_unique_key: no row is returned if an unfinished job has this key. p_share: the account whose turn the job takes.
-- used by: accounts, mail, notifications, runs, webhooks
create function core.job_enqueue(p_kind text, p_args jsonb, p_queue text DEFAULT 'default'::text, p_priority integer DEFAULT 0, p_run_at timestamp with time zone DEFAULT NULL::timestamp with time zone, p_unique_key text DEFAULT NULL::text, p_max_attempts integer DEFAULT NULL::integer, p_node uuid DEFAULT NULL::uuid, p_share uuid DEFAULT NULL::uuid) returns TABLE(id bigint, fence bigint);

-- Adds a job that is leased to p_node with the fence 1, without the checks of job_enqueue. Returns the id.
-- used by: runs
create function core.job_create_leased(p_kind text, p_queue text, p_args jsonb, p_max_attempts integer, p_node uuid, p_share uuid) returns bigint;

-- The same for several jobs in one statement; p_node NULL: the jobs wait in the queue. Skips NULL elements of p_args. Returns the ids in the order of the others.
-- used by: runs
create function core.jobs_create_leased(p_kind text, p_queue text, p_args jsonb[], p_max_attempts integer, p_node uuid, p_shares uuid[] DEFAULT NULL::uuid[]) returns bigint[];

-- Locks the job's row. Raises RYF01 (RY_ABORTED, "jobs.fence_lost") if the fence is not the current one. Call it in every transaction that a
-- worker without the lease must not commit.
-- used by: mail, notifications, runs
create function core.job_hold(p_id bigint, p_fence bigint) returns void;

-- The same for several jobs.
-- used by: runs
create function core.jobs_hold(p_ids bigint[], p_fences bigint[]) returns void;

-- Checks the fence like job_hold and ends the job in this transaction; the worker then finishes with RY_JOB_DONE_IN_TX.
-- used by: mail, notifications, runs
create function core.job_complete(p_id bigint, p_fence bigint) returns void;

-- The same for several jobs.
-- used by: runs
create function core.jobs_complete(p_ids bigint[], p_fences bigint[]) returns void;

-- Asks the job's worker to end it (RY_REASON_USER) after this transaction has committed. Never removes a job. Returns false if no worker has it now.
-- used by: runs
create function core.job_cancel(p_id bigint) returns boolean;

-- The node that executes a job, and how often a worker of the job was lost. No row: no node executes it.
-- used by: runs
create function core.job_place(p_id bigint) returns TABLE(node uuid, crashes integer);

-- The number of waiting jobs of a kind, counted up to p_limit.
-- used by: runs
create function core.jobs_waiting(p_kind text, p_limit integer) returns bigint;

-- Whether the node is asked to claim no more jobs. False for an unknown node.
-- used by: runs
create function core.node_draining(p_node uuid) returns boolean;

-- Raises the fence of a waiting job to at least p_fence. Use it for a job that continues the work of an earlier job, so that workers of the earlier job have lower fences.
-- used by: runs
create function core.job_raise_fence(p_id bigint, p_fence bigint) returns void;
