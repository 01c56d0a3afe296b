-- An account's credentials for an integration; sealed for the place "mcp.profile:<id>".
create table profile (
  id uuid primary key,
  account_id uuid not null,
  integration text not null,
  display_name text not null,
  credentials bytea not null,
  created_at timestamptz not null default now()
);
create index profile_list on profile (account_id, id);
