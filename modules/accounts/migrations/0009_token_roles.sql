-- ry: compatible
-- The highest role that a token of the account's identity provider has named. The role of the account itself is in `role`.
alter table account add column token_role smallint not null default 0;
