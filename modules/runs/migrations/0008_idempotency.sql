-- Deletes a thread with its runs and messages. outcome: ok, not_found, busy (a run is not finished). project_id is set if the
-- project has no further thread and was deleted too. While nodes have copies of its workspace, it counts towards the
-- account's threads and files; release_deleted() ends that. Idempotency keys stay for their 24 hours, so that a client that
-- repeats a start late gets the first response instead of a second run.
create or replace function delete_thread(p_account uuid, p_thread uuid)
returns table (outcome text, project_id uuid) language plpgsql as $$
#variable_conflict use_column
declare
  v_project uuid;
  v_bytes bigint;
  v_files bigint;
  v_held boolean := false;
begin
  perform 1 from accounts.lock_account(p_account);
  select t.project_id into v_project from runs.threads t
   where t.id = p_thread and t.account_id = p_account;
  if not found then
    outcome := 'not_found'; return next; return;
  end if;
  if exists (select 1 from runs.runs r where r.thread_id = p_thread and r.status = 'running') then
    outcome := 'busy'; return next; return;
  end if;
  -- Planned each time, with the ids: only the partitions that hold them are touched.
  execute 'delete from runs.events e where e.run_id = any ($1)'
    using array(select r.id from runs.runs r where r.thread_id = p_thread);
  delete from runs.uploads u using runs.runs r where r.thread_id = p_thread and u.run_id = r.id;
  delete from runs.runs r where r.thread_id = p_thread;
  delete from runs.messages m where m.thread_id = p_thread;
  delete from runs.threads t where t.id = p_thread;
  update runs.projects p set threads = p.threads - 1 where p.id = v_project and p.threads > 1;
  if not found then
    delete from runs.projects p where p.id = v_project returning p.workspace_bytes, p.workspace_files into v_bytes, v_files;
    delete from runs.workspace_files f where f.project_id = v_project;
    delete from runs.workspace_chunks c where c.project_id = v_project;
    v_held := exists (select 1 from runs.workspace_copies c where c.project_id = v_project);
    insert into runs.deleted_projects as d (project_id, account_id, held, bytes, files)
    values (v_project, p_account, v_held, coalesce(v_bytes, 0), coalesce(v_files, 0))
      on conflict (project_id) do update
      set deleted_at = excluded.deleted_at, account_id = excluded.account_id, held = excluded.held, bytes = excluded.bytes,
          files = excluded.files;
    project_id := v_project;
    if not v_held and v_files > 0 then
      perform runs.add_workspace(p_account, -v_bytes, -v_files);
    end if;
  end if;
  if not v_held then
    update runs.account_usage u set threads = greatest(u.threads - 1, 0) where u.account_id = p_account;
  end if;
  outcome := 'ok';
  return next;
end $$;
