-- ry: compatible
-- Links with which a person decides about one approval without logging in. See migrations/functions/approvals.sql.
create table approval_links (
  approval_id uuid primary key references approvals on delete cascade,
  token_hash bytea not null unique,     -- SHA-256; the token itself is not stored
  used_at timestamptz                   -- of the decision that was made with the link
);
