-- ry: number 0012 compatible

-- All ledger entries of a kind with their references, so that another module can compare its own records with the ledger. Reads
-- every entry of the kind: for checks, not for requests.
create or replace function ledger_entries(p_kind text) returns table (ref text, delta_micro bigint) language sql stable as $$
  select l.ref, l.delta_micro from accounts.ledger l where l.kind = p_kind
$$;
