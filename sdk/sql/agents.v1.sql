-- Agents, see ry/svc/agents.h.

-- The agent for a new run, with its current version and model. `wanted` NULL selects the account's default agent.
-- `agent` is NULL if there is none; the caller then creates it with resolve_all.
-- used by: runs
create function agents.find(account uuid, wanted uuid, OUT agent uuid, OUT version integer, OUT model text) returns record;

-- The same for several new runs, in the order of the arguments; creates missing default agents.
-- used by: runs
create function agents.resolve_all(accounts uuid[], wanted uuid[], OUT agents uuid[], OUT versions integer[], OUT models text[]) returns record;

-- The current name of an agent of the account. NULL: the agent is unknown, deleted, or belongs to another account.
-- used by: runs
create function agents.agent_name(account uuid, agent uuid) returns text;
