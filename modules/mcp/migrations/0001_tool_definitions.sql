-- The definitions of tools that an account has accepted: as its runs first saw them, or as it approved them later.
-- server: hash over the type and the address of the server. fingerprint: hashes of the parts of the definition.
create table tool_definition (
  account_id uuid not null,
  server text not null,
  tool text not null,
  fingerprint text not null,
  accepted_at timestamptz not null default now(),
  primary key (account_id, server, tool)
);
create index tool_definition_age on tool_definition (account_id, accepted_at);
