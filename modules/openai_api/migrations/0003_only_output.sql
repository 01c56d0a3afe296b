-- ry: compatible
-- The run has a schema: only its validated output is text of the response.
alter table response add column only_output boolean not null default false;
