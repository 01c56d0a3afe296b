-- ry: no_tx compatible
create index concurrently if not exists runs_failed on runs (id desc) where status = 'failed';
