-- Agents, see ry/svc/agents.h.

-- The agent of a start, its current version and its model. wanted NULL: the account's default agent. agent NULL: there is none, and the caller
-- creates it with resolve_all.
-- used by: runs
create function agents.find(account uuid, wanted uuid, OUT agent uuid, OUT version integer, OUT model text) returns record;

-- The same for several starts, in the order of the arguments; creates missing default agents.
-- used by: runs
create function agents.resolve_all(accounts uuid[], wanted uuid[], OUT agents uuid[], OUT versions integer[], OUT models text[]) returns record;
