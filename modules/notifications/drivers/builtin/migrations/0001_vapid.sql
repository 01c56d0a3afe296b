-- The key by which push services of browsers know this deployment, made at the first start without one in the
-- settings. sealed: the private key, for the place "notify_builtin.vapid".
create table vapid (
  only_row boolean primary key default true check (only_row),
  sealed bytea not null,
  made_at timestamptz not null default now()
);
