-- UUIDv7: increasing in time, so that new rows land at the end of their indexes.
create function new_id() returns uuid language sql volatile as $$
  select encode(
    set_bit(set_bit(
      overlay(uuid_send(gen_random_uuid())
              placing substring(int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3)
              from 1 for 6),
      52, 1), 53, 1), 'hex')::uuid
$$;

-- What runs and lists need of an agent's current version stands here as well.
create table agent (
  id uuid primary key,
  account_id uuid not null,
  is_default boolean not null default false,
  version int not null default 1,
  name text not null,
  description text not null default '',
  model_name text,  -- null: the deployment's default
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
) with (fillfactor = 90);
create unique index agent_default on agent (account_id) where is_default;
create index agent_list on agent (account_id, id);

-- Immutable: a run and a cache may keep what they read.
create table agent_version (
  agent_id uuid not null references agent on delete cascade,
  version int not null,
  name text not null,
  description text not null default '',
  system_prompt text not null default '',
  model_name text,
  custom_mcps jsonb not null default '[]' check (jsonb_typeof(custom_mcps) = 'array'),
  created_at timestamptz not null default now(),
  primary key (agent_id, version)
);
create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'a version of an agent never changes' using errcode = 'restrict_violation';
end $$;
create trigger agent_version_immutable before update on agent_version
  for each statement execute function refuse_change();

-- The account's default agent, made when there is none.
create function ensure_default(p_account uuid) returns uuid language plpgsql as $$
declare
  v_id uuid;
begin
  select a.id into v_id from agents.agent a where a.account_id = p_account and a.is_default;
  if found then return v_id; end if;
  insert into agents.agent as a (id, account_id, is_default, name, description)
  values (agents.new_id(), p_account, true, 'Assistant', 'The default agent')
  on conflict (account_id) where is_default do nothing
  returning a.id into v_id;
  if found then
    insert into agents.agent_version (agent_id, version, name, description)
    values (v_id, 1, 'Assistant', 'The default agent');
  else
    select a.id into v_id from agents.agent a where a.account_id = p_account and a.is_default;
  end if;
  return v_id;
end $$;

create function resolve(account uuid, agent uuid)
returns table (agent_id uuid, version int, model_name text) language plpgsql as $$
#variable_conflict use_column
declare
  v_default uuid;
begin
  if resolve.agent is not null then
    return query select a.id, a.version, a.model_name from agents.agent a
                  where a.id = resolve.agent and a.account_id = resolve.account;
    return;
  end if;
  return query select a.id, a.version, a.model_name from agents.agent a
                where a.account_id = resolve.account and a.is_default;
  if found then return; end if;
  v_default := agents.ensure_default(resolve.account);
  return query select a.id, a.version, a.model_name from agents.agent a where a.id = v_default;
end $$;

-- Which agent is the default and how many MCP servers there are concern all agents of an account: whoever
-- changes one of them comes here first, before any row is locked.
create function lock_owner(p_account uuid) returns void language sql volatile as $$
  select pg_advisory_xact_lock(hashtextextended('agents:' || p_account, 0))
$$;

-- How many MCP servers the current versions of an account's agents name, without those of one agent.
create function mcp_count(p_account uuid, p_without uuid) returns bigint language sql stable as $$
  select coalesce(sum(jsonb_array_length(v.custom_mcps)), 0)
    from agents.agent a
    join agents.agent_version v on v.agent_id = a.id and v.version = a.version
   where a.account_id = p_account and a.id is distinct from p_without
$$;

-- RY402 when an agent's servers, grown from p_before to p_wanted, would be more than the plan allows over all
-- agents. Called under lock_owner().
create function check_mcp_limit(p_account uuid, p_agent uuid, p_before bigint, p_wanted bigint,
                                p_most bigint, p_tier text) returns void
language plpgsql as $$
declare
  v_others bigint;
begin
  if p_wanted <= p_before then return; end if;
  v_others := agents.mcp_count(p_account, p_agent);
  if v_others + p_wanted <= p_most then return; end if;
  raise sqlstate 'RY402' using
    message = 'The plan''s number of custom MCP servers is reached',
    detail = json_build_object('message', 'The plan''s number of custom MCP servers is reached',
                               'current_count', v_others + p_before, 'limit', p_most,
                               'tier_name', p_tier, 'error_code', 'CUSTOM_WORKER_LIMIT_EXCEEDED');
end $$;

-- Called under lock_owner().
create function make_default(p_account uuid, p_agent uuid) returns void language plpgsql as $$
begin
  update agents.agent set is_default = false
   where account_id = p_account and is_default and id <> p_agent;
  update agents.agent set is_default = true, updated_at = now()
   where id = p_agent and not is_default;
end $$;

create function add_agent(p_account uuid, p_agent uuid, p_name text, p_description text, p_prompt text,
                          p_model text, p_mcps jsonb, p_default boolean, p_most_mcps bigint, p_tier text)
returns void language plpgsql as $$
begin
  perform agents.lock_owner(p_account);
  perform agents.check_mcp_limit(p_account, p_agent, 0, jsonb_array_length(p_mcps), p_most_mcps, p_tier);
  insert into agents.agent (id, account_id, name, description, model_name)
  values (p_agent, p_account, p_name, p_description, nullif(p_model, ''));
  insert into agents.agent_version
    (agent_id, version, name, description, system_prompt, model_name, custom_mcps)
  values (p_agent, 1, p_name, p_description, p_prompt, nullif(p_model, ''), p_mcps);
  if p_default then
    perform agents.make_default(p_account, p_agent);
  end if;
end $$;

-- What resolve() finds without making anything; nulls: nothing.
create function find(account uuid, wanted uuid, out agent uuid, out version int, out model text)
language plpgsql stable set plan_cache_mode = force_generic_plan as $$
begin
  if wanted is null then
    select a.id, a.version, a.model_name into agent, version, model from agents.agent a
     where a.account_id = find.account and a.is_default;
  else
    select a.id, a.version, a.model_name into agent, version, model from agents.agent a
     where a.id = find.wanted and a.account_id = find.account;
  end if;
end $$;

-- resolve() for many, by the place of the account. An agent that is null means the default, which is
-- made when there is none. null: unknown or foreign.
create function resolve_all(accounts uuid[], wanted uuid[], out agents uuid[], out versions int[],
                            out models text[])
language plpgsql set plan_cache_mode = force_generic_plan as $$
begin
  for v_attempt in 1..2 loop
    select array_agg(a.id order by w.n), array_agg(a.version order by w.n),
           array_agg(a.model_name order by w.n)
      into agents, versions, models
      from unnest(resolve_all.accounts, resolve_all.wanted) with ordinality w (account, agent, n)
      left join lateral (
        select x.id, x.version, x.model_name from agents.agent x
         where x.id = w.agent and x.account_id = w.account
        union all
        select x.id, x.version, x.model_name from agents.agent x
         where w.agent is null and x.account_id = w.account and x.is_default) a on true;
    exit when array_position(agents, null) is null;
    perform agents.ensure_default(w.account)
       from unnest(resolve_all.accounts, resolve_all.wanted, agents) w (account, agent, found)
      where w.found is null and w.agent is null and w.account is not null;
    exit when not found;
  end loop;
end $$;

-- Takes a change over; null leaves a value as it is, an empty model name means the deployment's default. No
-- change, no new version; which agent is the default is part of no version. RY404: unknown or foreign; RY409:
-- another change came first; RY402: too many MCP servers; RY422: the default agent cannot just stop being it.
create function revise(p_account uuid, p_agent uuid, p_expected int, p_name text, p_description text,
                       p_prompt text, p_model text, p_mcps jsonb, p_default boolean, p_most_mcps bigint,
                       p_tier text) returns int
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
  if v_new is not distinct from v_old then
    return v_now;
  end if;
  v_new.version := v_now + 1;
  v_new.created_at := now();
  insert into agents.agent_version select v_new.*;
  update agents.agent
     set version = v_new.version, name = v_new.name, description = v_new.description,
         model_name = v_new.model_name, updated_at = now()
   where id = p_agent;
  return v_new.version;
end $$;

-- RY404: unknown or foreign; RY409: the default agent stays.
create function remove(p_account uuid, p_agent uuid) returns void language plpgsql as $$
declare
  v_default boolean;
begin
  select a.is_default into v_default from agents.agent a
   where a.id = p_agent and a.account_id = p_account for update;
  if not found then
    raise sqlstate 'RY404' using message = 'Worker not found';
  end if;
  if v_default then
    raise sqlstate 'RY409' using message = 'The default agent cannot be deleted';
  end if;
  delete from agents.agent where id = p_agent;
end $$;
