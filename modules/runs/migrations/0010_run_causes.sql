-- ry: compatible
-- Why runs failed, in words that are for operators alone: the last errors of providers and of the server itself.
create table run_causes (
  run_id uuid primary key references runs (id) on delete cascade,
  causes jsonb not null               -- array of {at, step, text}
);
