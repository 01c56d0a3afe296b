-- ry: compatible
-- Metadata of a run: a JSON object of texts that the start gave; null: none. Output: the final answer of a run with an output
-- schema, as JSON; null: none, or the run has not ended. The webhook that the start named, with its sealed secret; null: none.
alter table runs add column metadata jsonb, add column output jsonb, add column webhook_url text, add column webhook_secret text;
