-- Agents of an account and versions of an agent are limited.

-- As before. RY402 when the account has as many agents as its plan allows; a plan that shrank forbids only more.
create function add_agent(p_account uuid, p_agent uuid, p_name text, p_description text, p_prompt text,
                          p_model text, p_mcps jsonb, p_default boolean, p_most_mcps bigint, p_tier text,
                          p_most_agents bigint)
returns void language plpgsql as $$
declare
  v_agents bigint;
begin
  -- Of many at once each counts what the ones before it made.
  perform agents.lock_owner(p_account);
  select count(*) into v_agents from agents.agent a where a.account_id = p_account;
  if v_agents >= p_most_agents then
    raise sqlstate 'RY402' using
      message = 'The plan''s number of agents is reached',
      detail = json_build_object('message', 'The plan''s number of agents is reached', 'current_count', v_agents,
                                 'limit', p_most_agents, 'tier_name', p_tier, 'error_code', 'AGENT_LIMIT_EXCEEDED');
  end if;
  perform agents.add_agent(p_account, p_agent, p_name, p_description, p_prompt, p_model, p_mcps, p_default,
                           p_most_mcps, p_tier);
end $$;

-- As before. Of the versions the newest p_kept stay.
create function revise(p_account uuid, p_agent uuid, p_expected int, p_name text, p_description text,
                       p_prompt text, p_model text, p_mcps jsonb, p_default boolean, p_most_mcps bigint,
                       p_tier text, p_kept bigint) returns int
language plpgsql as $$
declare
  v_version int;
begin
  v_version := agents.revise(p_account, p_agent, p_expected, p_name, p_description, p_prompt, p_model, p_mcps,
                             p_default, p_most_mcps, p_tier);
  delete from agents.agent_version v where v.agent_id = p_agent and v.version <= v_version - p_kept;
  return v_version;
end $$;
