-- ry: compatible
-- Rules that make the operator's policy for tool calls stricter. text, because jsonb refuses \u0000, which a rule may contain.

alter table agent_version add column tool_policy text not null default '[]';

create or replace function set_version_bytes() returns trigger language plpgsql as $$
begin
  new.bytes := octet_length(new.name) + octet_length(new.description) + octet_length(new.system_prompt)
             + octet_length(new.custom_mcps::text) + octet_length(new.tool_policy);
  return new;
end $$;

-- Creates an agent. RY402: the account has as many agents, or MCP servers, as its plan allows; after a downgrade,
-- existing ones stay.
create function create_agent(p_account uuid, p_agent uuid, p_name text, p_description text, p_prompt text,
                             p_model text, p_mcps jsonb, p_default boolean, p_tool_policy text, p_most_mcps bigint,
                             p_tier text, p_most_agents bigint)
returns void language plpgsql as $$
declare
  v_agents bigint;
begin
  -- Concurrent calls wait here, so each of them counts the agents that the earlier ones created.
  perform agents.lock_owner(p_account);
  select count(*) into v_agents from agents.agent a where a.account_id = p_account;
  if v_agents >= p_most_agents then
    raise sqlstate 'RY402' using
      message = 'The plan''s number of agents is reached',
      detail = json_build_object('message', 'The plan''s number of agents is reached', 'current_count', v_agents,
                                 'limit', p_most_agents, 'tier_name', p_tier, 'error_code', 'AGENT_LIMIT_EXCEEDED');
  end if;
  perform agents.check_mcp_limit(p_account, p_agent, 0, jsonb_array_length(p_mcps), p_most_mcps, p_tier);
  insert into agents.agent (id, account_id, name, description, model_name)
  values (p_agent, p_account, p_name, p_description, nullif(p_model, ''));
  insert into agents.agent_version
    (agent_id, version, name, description, system_prompt, model_name, custom_mcps, tool_policy)
  values (p_agent, 1, p_name, p_description, p_prompt, nullif(p_model, ''), p_mcps, p_tool_policy);
  if p_default then
    perform agents.make_default(p_account, p_agent);
  end if;
end $$;

-- Changes an agent and returns its version; null leaves a value unchanged, an empty model name selects the deployment's
-- default. Without a change there is no new version; is_default belongs to no version. RY404: unknown, or of another
-- account; RY409: another change came first; RY402: too many MCP servers; RY422: the default agent cannot stop being it.
-- The newest p_kept versions stay, as long as they have at most p_kept_bytes together; the current one always stays.
create function change_agent(p_account uuid, p_agent uuid, p_expected int, p_name text, p_description text,
                             p_prompt text, p_model text, p_mcps jsonb, p_default boolean, p_tool_policy text,
                             p_most_mcps bigint, p_tier text, p_kept bigint, p_kept_bytes bigint) returns int
language plpgsql as $$
declare
  v_old agents.agent_version;
  v_new agents.agent_version;
  v_now int;
  v_is_default boolean;
begin
  if p_mcps is not null or p_default then
    perform agents.lock_owner(p_account);
  end if;
  select a.version, a.is_default into v_now, v_is_default from agents.agent a
   where a.id = p_agent and a.account_id = p_account for no key update;
  if not found then
    raise sqlstate 'RY404' using message = 'Worker not found';
  end if;
  if p_expected <> 0 and p_expected <> v_now then
    raise sqlstate 'RY409' using message = 'The agent was changed meanwhile: its version is ' || v_now;
  end if;
  if v_is_default and not p_default then
    raise sqlstate 'RY422' using
      message = 'is_default cannot be taken from the default agent; give it to another one';
  end if;
  select * into v_old from agents.agent_version v where v.agent_id = p_agent and v.version = v_now;
  if p_mcps is not null then
    perform agents.check_mcp_limit(p_account, p_agent, jsonb_array_length(v_old.custom_mcps),
                                   jsonb_array_length(p_mcps), p_most_mcps, p_tier);
  end if;
  if p_default then
    perform agents.make_default(p_account, p_agent);
  end if;
  v_new := v_old;
  v_new.name := coalesce(p_name, v_old.name);
  v_new.description := coalesce(p_description, v_old.description);
  v_new.system_prompt := coalesce(p_prompt, v_old.system_prompt);
  v_new.model_name := nullif(coalesce(p_model, v_old.model_name), '');
  v_new.custom_mcps := coalesce(p_mcps, v_old.custom_mcps);
  v_new.tool_policy := coalesce(p_tool_policy, v_old.tool_policy);
  if v_new is distinct from v_old then
    v_new.version := v_now + 1;
    v_new.created_at := now();
    insert into agents.agent_version select v_new.*;
    update agents.agent
       set version = v_new.version, name = v_new.name, description = v_new.description,
           model_name = v_new.model_name, updated_at = now()
     where id = p_agent;
  end if;
  delete from agents.agent_version v
   using (select o.version,
                 sum(coalesce(o.bytes, octet_length(o.description) + octet_length(o.system_prompt)
                                       + octet_length(o.custom_mcps::text))) over (order by o.version desc) as total
            from agents.agent_version o where o.agent_id = p_agent) n
   where v.agent_id = p_agent and v.version = n.version and n.version < v_new.version
     and (n.version <= v_new.version - p_kept or n.total > p_kept_bytes);
  return v_new.version;
end $$;

-- Nodes of an earlier release call these two. They keep the policy.
create or replace function add_agent(p_account uuid, p_agent uuid, p_name text, p_description text, p_prompt text,
                                     p_model text, p_mcps jsonb, p_default boolean, p_most_mcps bigint, p_tier text,
                                     p_most_agents bigint)
returns void language sql as $$
  select agents.create_agent(p_account, p_agent, p_name, p_description, p_prompt, p_model, p_mcps, p_default, '[]', p_most_mcps,
                             p_tier, p_most_agents)
$$;
create or replace function revise(p_account uuid, p_agent uuid, p_expected int, p_name text, p_description text,
                                  p_prompt text, p_model text, p_mcps jsonb, p_default boolean, p_most_mcps bigint,
                                  p_tier text, p_kept bigint, p_kept_bytes bigint) returns int
language sql as $$
  select agents.change_agent(p_account, p_agent, p_expected, p_name, p_description, p_prompt, p_model, p_mcps, p_default, null,
                             p_most_mcps, p_tier, p_kept, p_kept_bytes)
$$;
drop function add_agent(uuid, uuid, text, text, text, text, jsonb, boolean, bigint, text);
drop function revise(uuid, uuid, int, text, text, text, text, jsonb, boolean, bigint, text, bigint);
drop function revise(uuid, uuid, int, text, text, text, text, jsonb, boolean, bigint, text);
