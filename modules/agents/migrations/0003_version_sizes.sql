-- ry: compatible
-- The size of a version: pages of versions are cut without reading the versions that they leave out, and old versions are
-- deleted by size as well.

alter table agent_version add column bytes bigint;  -- of the texts and of custom_mcps as text; null in earlier rows

create function set_version_bytes() returns trigger language plpgsql as $$
begin
  new.bytes := octet_length(new.name) + octet_length(new.description) + octet_length(new.system_prompt)
             + octet_length(new.custom_mcps::text);
  return new;
end $$;
create trigger agent_version_bytes before insert on agent_version
  for each row execute function agents.set_version_bytes();

-- As before. Of the versions, the newest p_kept stay, as long as they have at most p_kept_bytes together; the current one
-- always stays.
create function revise(p_account uuid, p_agent uuid, p_expected int, p_name text, p_description text,
                       p_prompt text, p_model text, p_mcps jsonb, p_default boolean, p_most_mcps bigint,
                       p_tier text, p_kept bigint, p_kept_bytes bigint) returns int
language plpgsql as $$
declare
  v_version int;
begin
  v_version := agents.revise(p_account, p_agent, p_expected, p_name, p_description, p_prompt, p_model, p_mcps,
                             p_default, p_most_mcps, p_tier, p_kept);
  delete from agents.agent_version v
   using (select o.version,
                 sum(coalesce(o.bytes, octet_length(o.description) + octet_length(o.system_prompt)
                                       + octet_length(o.custom_mcps::text))) over (order by o.version desc) as total
            from agents.agent_version o where o.agent_id = p_agent) n
   where v.agent_id = p_agent and v.version = n.version and n.version < v_version and n.total > p_kept_bytes;
  return v_version;
end $$;
