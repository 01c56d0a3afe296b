-- Size of all workspaces of an account, and the nodes that have copies of them. A deleted project counts until all nodes
-- have removed its data from their disks.

-- Kept by keep_workspace, delete_thread and release_deleted. The lock on this row comes after that on the project's.
create table account_workspaces (
  account_id uuid primary key,
  bytes bigint not null default 0,
  files bigint not null default 0
);
insert into account_workspaces (account_id, bytes, files)
select p.account_id, sum(p.workspace_bytes), sum(p.workspace_files) from projects p
 where p.workspace_files > 0 group by p.account_id;

-- Nodes that have a directory of a project, with what it takes there as of its last command. A node is its data directory.
create table workspace_copies (
  project_id uuid not null,
  node uuid not null,
  account_id uuid not null,
  bytes bigint not null default 0,
  files bigint not null default 0,
  primary key (project_id, node)
);
create index workspace_copies_of_account on workspace_copies (account_id, node);
create table workspace_nodes (
  node uuid primary key,
  seen_at timestamptz not null default now()
);

-- held: the project still counts to the account's threads and files.
alter table deleted_projects add column account_id uuid, add column held boolean not null default false,
  add column bytes bigint not null default 0, add column files bigint not null default 0;
create index deleted_projects_held on deleted_projects (project_id) where held;

-- A node is about to make a copy. Nothing is noted of a project that does not exist (yet).
create function note_copy(p_project uuid, p_node uuid) returns void language sql as $$
  insert into runs.workspace_copies (project_id, node, account_id, bytes, files)
  select p.id, p_node, p.account_id, p.workspace_bytes, p.workspace_files
    from runs.projects p where p.id = p_project for key share
  on conflict (project_id, node) do nothing
$$;

-- Size of the account's other projects on this node, and of all its projects in the database.
create function workspace_usage(p_account uuid, p_project uuid, p_node uuid)
returns table (other_bytes bigint, other_files bigint, kept_bytes bigint, kept_files bigint, project_bytes bigint, project_files bigint)
language sql stable as $$
  select c.bytes, c.files, coalesce(w.bytes, 0), coalesce(w.files, 0), coalesce(p.workspace_bytes, 0), coalesce(p.workspace_files, 0)
    from (select coalesce(sum(c.bytes), 0)::bigint as bytes, coalesce(sum(c.files), 0)::bigint as files
            from runs.workspace_copies c
           where c.account_id = p_account and c.node = p_node and c.project_id <> p_project) c
    left join runs.account_workspaces w on w.account_id = p_account
    left join runs.projects p on p.id = p_project
$$;

-- The server is about to write a file into the project's copy on this node. False: the account has no room for it.
create function take_space(p_account uuid, p_project uuid, p_node uuid, p_size bigint, p_max_bytes bigint, p_max_files bigint)
returns boolean language plpgsql as $$
declare
  v_bytes bigint;
  v_files bigint;
begin
  select coalesce(sum(c.bytes), 0), coalesce(sum(c.files), 0) into v_bytes, v_files
    from runs.workspace_copies c where c.account_id = p_account and c.node = p_node;
  if v_bytes + p_size > p_max_bytes or v_files >= p_max_files then
    return false;
  end if;
  update runs.workspace_copies c set bytes = c.bytes + p_size, files = c.files + 1
   where c.project_id = p_project and c.node = p_node;
  return true;
end $$;

create function add_workspace(p_account uuid, p_bytes bigint, p_files bigint) returns void language sql as $$
  insert into runs.account_workspaces as w (account_id, bytes, files)
  values (p_account, greatest(p_bytes, 0), greatest(p_files, 0))
  on conflict (account_id) do update set bytes = greatest(w.bytes + p_bytes, 0), files = greatest(w.files + p_files, 0)
$$;

-- As before, and outcome account_bytes or account_files (detail: what the account would have) beyond
-- p_account_bytes and p_account_files; null: no limit. A change that makes the account's files fewer or smaller is taken.
create function keep_workspace(
  p_project uuid, p_job bigint, p_fence bigint, p_gone text[], p_paths text[], p_kinds bigint[],
  p_modes bigint[], p_sizes bigint[], p_modified bigint[], p_targets text[], p_chunks text[],
  p_new text[], p_new_sizes bigint[], p_bytes bytea, p_max_bytes bigint, p_max_files bigint,
  p_account_bytes bigint, p_account_files bigint)
returns table (outcome text, detail text, version bigint, previous bigint)
language plpgsql as $$
#variable_conflict use_column
declare
  v_account uuid;
  v_had_bytes bigint;
  v_had_count bigint;
  v_bytes bigint;
  v_count bigint;
  v_all_bytes bigint;
  v_all_count bigint;
  v_old text[];
  v_new text[];
begin
  select p.workspace_version, p.workspace_bytes, p.workspace_files, p.account_id
    into previous, v_had_bytes, v_had_count, v_account
    from runs.projects p where p.id = p_project for no key update;
  if not found then
    outcome := 'gone'; return next; return;
  end if;
  if p_job is not null then
    perform core.job_hold(p_job, p_fence);
  end if;
  select v_had_bytes - coalesce(sum(f.size), 0), v_had_count - count(*)
    into v_bytes, v_count
    from runs.workspace_files f where f.project_id = p_project and f.path = any (p_gone || p_paths);
  v_bytes := v_bytes + coalesce((select sum(s) from unnest(p_sizes) s), 0);
  v_count := v_count + cardinality(p_paths);
  if v_bytes > p_max_bytes and cardinality(p_paths) > 0 then
    outcome := 'too_large'; detail := v_bytes; return next; return;
  end if;
  if v_count > p_max_files and cardinality(p_paths) > 0 then
    outcome := 'too_many'; detail := v_count; return next; return;
  end if;
  if v_bytes > v_had_bytes or v_count > v_had_count then
    select w.bytes, w.files into v_all_bytes, v_all_count
      from runs.account_workspaces w where w.account_id = v_account for no key update;
    v_all_bytes := coalesce(v_all_bytes, 0) + v_bytes - v_had_bytes;
    v_all_count := coalesce(v_all_count, 0) + v_count - v_had_count;
    if v_all_bytes > p_account_bytes and v_bytes > v_had_bytes then
      outcome := 'account_bytes'; detail := v_all_bytes; return next; return;
    end if;
    if v_all_count > p_account_files and v_count > v_had_count then
      outcome := 'account_files'; detail := v_all_count; return next; return;
    end if;
  end if;
  perform runs.put_chunks(p_project, p_new, p_new_sizes, p_bytes);
  select coalesce(array_agg(d), '{}') into v_old
    from runs.workspace_files f, unnest(f.chunks) d
   where f.project_id = p_project and f.path = any (p_gone || p_paths);
  select coalesce(array_agg(d), '{}') into v_new
    from unnest(p_chunks) c, unnest(string_to_array(nullif(c, ''), ',')) d;
  perform 1 from runs.workspace_chunks c
    where c.project_id = p_project and c.digest = any (v_new || v_old) order by c.digest for no key update;
  select string_agg(distinct d, ',') into detail from unnest(v_new) d
   where not exists (select 1 from runs.workspace_chunks c where c.project_id = p_project and c.digest = d);
  if detail is not null then
    outcome := 'missing'; return next; return;
  end if;
  update runs.workspace_chunks c set refs = c.refs + n.by
    from (select d, sum(s) as by
            from (select unnest(v_new) as d, 1 as s union all select unnest(v_old), -1) x
           group by d having sum(s) <> 0) n
   where c.project_id = p_project and c.digest = n.d;
  delete from runs.workspace_chunks c
   where c.project_id = p_project and c.digest = any (v_old) and c.refs <= 0;
  delete from runs.workspace_files f where f.project_id = p_project and f.path = any (p_gone);
  insert into runs.workspace_files as f (project_id, path, kind, mode, size, modified_ns, target, chunks)
  select p_project, e.path, e.kind, e.mode, e.size, e.modified, nullif(e.target, ''),
         coalesce(string_to_array(nullif(e.chunks, ''), ','), '{}')
    from unnest(p_paths, p_kinds, p_modes, p_sizes, p_modified, p_targets, p_chunks)
         e (path, kind, mode, size, modified, target, chunks)
  on conflict (project_id, path) do update
    set kind = excluded.kind, mode = excluded.mode, size = excluded.size,
        modified_ns = excluded.modified_ns, target = excluded.target, chunks = excluded.chunks;
  version := previous + 1;
  update runs.projects p set workspace_version = previous + 1, workspace_bytes = v_bytes,
                             workspace_files = v_count
   where p.id = p_project;
  if v_bytes <> v_had_bytes or v_count <> v_had_count then
    perform runs.add_workspace(v_account, v_bytes - v_had_bytes, v_count - v_had_count);
  end if;
  outcome := 'ok';
  return next;
end $$;

-- Of a node that runs an earlier version.
create or replace function keep_workspace(
  p_project uuid, p_job bigint, p_fence bigint, p_gone text[], p_paths text[], p_kinds bigint[],
  p_modes bigint[], p_sizes bigint[], p_modified bigint[], p_targets text[], p_chunks text[],
  p_new text[], p_new_sizes bigint[], p_bytes bytea, p_max_bytes bigint, p_max_files bigint)
returns table (outcome text, detail text, version bigint, previous bigint)
language sql as $$
  select * from runs.keep_workspace(p_project, p_job, p_fence, p_gone, p_paths, p_kinds, p_modes, p_sizes, p_modified,
                                    p_targets, p_chunks, p_new, p_new_sizes, p_bytes, p_max_bytes, p_max_files,
                                    null::bigint, null::bigint)
$$;

-- Removes a thread and all that hangs on it. outcome: ok, not_found, busy. project_id is set when no
-- thread of the project is left: its workspace may go too. While nodes have copies of it, it counts to the account's
-- threads and files; release_deleted() ends that.
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
  delete from runs.idempotency i where i.account_id = p_account and i.thread_id = p_thread;
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

-- Stops counting a deleted project once no node has a copy, or once a new project with the same id exists (its directory
-- then belongs to the new project). Returns true if the project no longer counts.
create function release_deleted(p_project uuid) returns boolean language plpgsql as $$
declare
  v_account uuid;
  v_bytes bigint;
  v_files bigint;
begin
  select d.account_id into v_account from runs.deleted_projects d where d.project_id = p_project and d.held;
  if not found then
    return true;
  end if;
  perform 1 from accounts.lock_account(v_account);
  update runs.deleted_projects d set held = false
   where d.project_id = p_project and d.held
     and (not exists (select 1 from runs.workspace_copies c where c.project_id = p_project)
          or exists (select 1 from runs.projects p where p.id = p_project))
  returning d.bytes, d.files into v_bytes, v_files;
  if not found then
    return false;
  end if;
  update runs.account_usage u set threads = greatest(u.threads - 1, 0) where u.account_id = v_account;
  if v_files > 0 then
    perform runs.add_workspace(v_account, -v_bytes, -v_files);
  end if;
  return true;
end $$;

-- The node has removed its copy.
create function copy_removed(p_project uuid, p_node uuid) returns boolean language plpgsql as $$
begin
  delete from runs.workspace_copies c where c.project_id = p_project and c.node = p_node;
  return runs.release_deleted(p_project);
end $$;

-- Copies on nodes that were not seen for a day do not count; such a node notes them again when it comes back.
create function forget_lost_copies() returns void language plpgsql as $$
begin
  delete from runs.workspace_copies c using runs.workspace_nodes n
   where n.node = c.node and n.seen_at < now() - interval '1 day';
  delete from runs.workspace_nodes n where n.seen_at < now() - interval '1 day';
  perform runs.release_deleted(d.project_id) from runs.deleted_projects d where d.held;
end $$;
