-- ry: compatible
-- Declared in sdk/sql/agents.v1.sql.
create function agent_name(account uuid, agent uuid) returns text language sql stable as $$
  select a.name from agents.agent a where a.id = agent_name.agent and a.account_id = agent_name.account
$$;
