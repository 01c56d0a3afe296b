-- The response that continues a run after answers to its approval requests has an id of its own in run_id.
alter table response
  add column continued_run uuid,                  -- null: the response is the first one of the run run_id
  add column answered text not null default '';   -- JSON: for each response of the run after the first, up to this one, the answered requests
create index response_continued_run on response (continued_run) where continued_run is not null;
