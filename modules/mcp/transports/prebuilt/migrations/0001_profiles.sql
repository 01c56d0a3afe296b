-- An account's credentials for an integration, or for a server that it names itself (url, type; integration
-- is empty then). credentials: sealed for the place "mcp.profile:<id>". connection: what was agreed with
-- the authorization server, tokens included, sealed for "mcp.connection:<id>".
create table profile (
  id uuid primary key,
  account_id uuid not null,
  integration text not null,
  url text not null default '',
  type text not null default '',
  display_name text not null,
  credentials bytea not null,
  connection bytea,
  connected boolean not null default false,
  -- Until then one server is busy with the tokens.
  busy_until timestamptz,
  created_at timestamptz not null default now()
);
create index profile_list on profile (account_id, id);

-- A user's consent that is waited for; one for each profile. state: SHA-256 of what the link carries.
-- flow: sealed for "mcp.consent:<profile id>".
create table consent (
  profile_id uuid primary key references profile (id) on delete cascade,
  state bytea not null unique,
  flow bytea not null,
  expires_at timestamptz not null
);
