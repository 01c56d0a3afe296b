-- ry: compatible
-- Ids with which an account revokes remembered approvals. New ones have the id of the approval that was remembered.
alter table remembered_approvals add column id uuid not null default gen_random_uuid();
create unique index remembered_approvals_id on remembered_approvals (id);
create index remembered_approvals_of_account on remembered_approvals (account_id, id desc);
