-- ry: no_tx compatible
-- Lists by metadata. Includes the account, so that a filter of one account does not read the runs of others.
create index concurrently if not exists runs_of_metadata on runs using gin ((array[account_id]), metadata jsonb_path_ops)
  where metadata is not null;
