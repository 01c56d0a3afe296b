-- The files of the workspaces, so that a node that has none of them, or older ones, can make them again.
-- projects.workspace_version grows with each change; who writes holds the project's row lock.
create table workspace_files (
  project_id uuid not null,
  path text collate "C" not null,     -- '%' and what is no UTF-8 as %XX
  kind smallint not null,             -- RY_SANDBOX_FILE, _DIR, _LINK
  mode int not null,
  size bigint not null,
  modified_ns bigint not null,
  target text,                        -- of a link, encoded like path
  chunks text[] not null,             -- digests of the pieces of 1 MiB, in order
  primary key (project_id, path)
);

-- So that nodes remove their copies of what is deleted, and of nothing else.
create table deleted_projects (
  project_id uuid primary key,
  deleted_at timestamptz not null default now()
);

-- Pieces of files, once for each project, so that one account cannot feel what another one stored.
-- refs = 0: put there by a change that was not committed (yet); the hourly prune removes it after a day.
create table workspace_chunks (
  project_id uuid not null,
  digest text collate "C" not null,   -- BLAKE2b-256, hex
  refs bigint not null default 0,
  made_at timestamptz not null default now(),
  bytes bytea not null,
  primary key (project_id, digest)
);
alter table workspace_chunks alter column bytes set storage external;
create index workspace_chunks_unused on workspace_chunks (made_at) where refs = 0;

-- p_bytes: the pieces one after the other.
create function put_chunks(p_project uuid, p_digests text[], p_sizes bigint[], p_bytes bytea)
returns void language plpgsql as $$
declare
  v_at int := 1;
begin
  for i in 1 .. cardinality(p_digests) loop
    insert into runs.workspace_chunks as c (project_id, digest, bytes)
    values (p_project, p_digests[i], substring(p_bytes from v_at for p_sizes[i]::int))
    on conflict (project_id, digest) do update set made_at = now() where c.refs = 0;
    v_at := v_at + p_sizes[i]::int;
  end loop;
end $$;

-- Takes over what changed in a workspace: p_gone and p_paths with their entries (p_chunks: digests with
-- commas). With p_job only while that lease is held: raises RYF01 otherwise.
-- outcome: ok (version, and the one before it); gone (no such project); missing (detail: digests of pieces
-- that have to be put first); too_large (detail: bytes the project would have), too_many (detail: entries).
create function keep_workspace(
  p_project uuid, p_job bigint, p_fence bigint, p_gone text[], p_paths text[], p_kinds bigint[],
  p_modes bigint[], p_sizes bigint[], p_modified bigint[], p_targets text[], p_chunks text[],
  p_new text[], p_new_sizes bigint[], p_bytes bytea, p_max_bytes bigint, p_max_files bigint)
returns table (outcome text, detail text, version bigint, previous bigint)
language plpgsql as $$
#variable_conflict use_column
declare
  v_bytes bigint;
  v_count bigint;
  v_old text[];
  v_new text[];
begin
  select p.workspace_version, p.workspace_bytes, p.workspace_files
    into previous, v_bytes, v_count
    from runs.projects p where p.id = p_project for no key update;
  if not found then
    outcome := 'gone'; return next; return;
  end if;
  if p_job is not null then
    perform core.job_hold(p_job, p_fence);
  end if;
  select v_bytes - coalesce(sum(f.size), 0), v_count - count(*)
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
  outcome := 'ok';
  return next;
end $$;

-- The names that are taken beneath uploads/; nobody adds one before the transaction ends.
create function upload_names(p_project uuid) returns setof text language sql as $$
  select 1 from runs.projects p where p.id = p_project for no key update;
  select substr(f.path, 9) from runs.workspace_files f
   where f.project_id = p_project and f.path > 'uploads/' and f.path < 'uploads0'
$$;
