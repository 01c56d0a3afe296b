-- A project id may be given again after its project was deleted, while a node still has a copy of the old one. The
-- versions of each project begin at the time it was made, in microseconds, so that such a copy is older than all of them.
alter table projects
  alter column workspace_version set default (extract(epoch from clock_timestamp()) * 1000000)::bigint;
