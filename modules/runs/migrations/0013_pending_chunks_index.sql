-- ry: no_tx compatible
create index concurrently if not exists workspace_chunks_pending on workspace_chunks (account_id) where refs = 0;
