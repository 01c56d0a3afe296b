-- ry: compatible
-- Chunks that no file refers to yet (refs = 0) count towards a limit of their account: files of refused starts, and of changes
-- that are being stored.

alter table workspace_chunks add column account_id uuid;  -- null in rows of earlier releases

-- As put_chunks without p_account. False, and nothing is stored, if the account's chunks that no file refers to would have more
-- than p_most bytes.
create function put_chunks(p_account uuid, p_project uuid, p_digests text[], p_sizes bigint[], p_bytes bytea, p_most bigint)
returns boolean language plpgsql as $$
declare
  v_at int := 1;
  v_pending bigint;
begin
  select coalesce(sum(octet_length(c.bytes)), 0) into v_pending
    from runs.workspace_chunks c where c.account_id = p_account and c.refs = 0;
  if v_pending + octet_length(p_bytes) > p_most then
    return false;
  end if;
  for i in 1 .. cardinality(p_digests) loop
    insert into runs.workspace_chunks as c (project_id, digest, bytes, account_id)
    values (p_project, p_digests[i], substring(p_bytes from v_at for p_sizes[i]::int), p_account)
    on conflict (project_id, digest) do update set made_at = now(), account_id = p_account where c.refs = 0;
    v_at := v_at + p_sizes[i]::int;
  end loop;
  return true;
end $$;

-- Removes the chunks of a start that was refused. Chunks of an existing project stay: another start may be about to refer to
-- them.
create function drop_chunks(p_account uuid, p_project uuid) returns void language sql as $$
  delete from runs.workspace_chunks c
   where c.project_id = p_project and c.account_id = p_account and c.refs = 0
     and not exists (select 1 from runs.projects p where p.id = p_project)
$$;
