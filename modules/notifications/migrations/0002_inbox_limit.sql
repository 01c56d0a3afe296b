-- An account's inbox keeps its newest 1000 entries; without a limit it would grow until keep_days had passed.
create or replace function inbox_add(p_account uuid, p_id uuid, p_workflow text, p_title text, p_body text, p_url text,
                          p_payload jsonb) returns bigint language plpgsql as $$
declare
  v notifications.inbox_head;
  v_unread int;
begin
  insert into notifications.inbox_head as h (account_id, last_seq, unread, version) values (p_account, 1, 1, 1)
  on conflict (account_id) do update
     set last_seq = h.last_seq + 1, unread = h.unread + 1, version = h.version + 1
  returning h.* into v;
  insert into notifications.inbox (account_id, seq, id, workflow, title, body, action_url, payload)
  values (p_account, v.last_seq, p_id, p_workflow, p_title, p_body, p_url, p_payload);
  with gone as (
    delete from notifications.inbox i where i.account_id = p_account and i.seq <= v.last_seq - 1000
    returning i.read_at)
  select count(*) filter (where g.read_at is null) into v_unread from gone g;
  if v_unread > 0 then
    update notifications.inbox_head h set unread = greatest(0, h.unread - v_unread) where h.account_id = p_account;
  end if;
  return v.version;
end $$;
