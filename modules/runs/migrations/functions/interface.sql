-- ry: number 0025 compatible
-- Functions that other modules may call: sdk/sql/runs.v1.sql.

create or replace function run_state(account uuid, run uuid, out status text, out thread_id uuid, out project_id uuid)
returns record language sql stable as $$
  select r.status, r.thread_id, r.project_id from runs.runs r where r.id = run and r.account_id = account
$$;
