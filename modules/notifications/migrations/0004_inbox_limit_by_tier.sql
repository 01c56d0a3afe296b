-- The number of entries that an inbox keeps is a setting. p_most: of this account, by its tier.

create function inbox_add(p_account uuid, p_id uuid, p_workflow text, p_title text, p_body text, p_url text, p_payload jsonb,
                          p_most bigint, out version bigint, out evicted bigint) language plpgsql as $$
#variable_conflict use_column
declare
  v notifications.inbox_head;
  v_unread bigint;
begin
  insert into notifications.inbox_head as h (account_id, last_seq, unread, version) values (p_account, 1, 1, 1)
  on conflict (account_id) do update
     set last_seq = h.last_seq + 1, unread = h.unread + 1, version = h.version + 1
  returning h.* into v;
  insert into notifications.inbox (account_id, seq, id, workflow, title, body, action_url, payload)
  values (p_account, v.last_seq, p_id, p_workflow, p_title, p_body, p_url, p_payload);
  with gone as (
    delete from notifications.inbox i where i.account_id = p_account and i.seq <= v.last_seq - p_most
    returning i.read_at)
  select count(*), count(*) filter (where g.read_at is null) into evicted, v_unread from gone g;
  if v_unread > 0 then
    update notifications.inbox_head h set unread = greatest(0, h.unread - v_unread) where h.account_id = p_account;
  end if;
  version := v.version;
end $$;

-- As the former notify, with the limit of the inbox. inbox_evicted: entries that were removed for the new one.
create function notify(p_key text, p_account uuid, p_workflow text, p_payload jsonb, p_asked int,
                       p_thread uuid, p_viewed boolean, p_refused text, p_title text, p_body text,
                       p_url text, p_ttl_seconds bigint,
                       p_inbox_most bigint)
returns table (id uuid, outcome text, reason text, inbox_version bigint, inbox_evicted bigint) language plpgsql as $$
#variable_conflict use_column
declare
  v_allowed int;
  v_rest int;
  v_minutes int := 0;
  v_at timestamptz := clock_timestamp();
  v_carrier uuid;
  v_gathering boolean := false;
begin
  reason := '';
  inbox_evicted := 0;
  v_allowed := notifications.allowed(p_account, p_workflow, p_asked);
  v_rest := v_allowed & 3;
  if p_refused <> '' then
    outcome := 'failed';
    reason := p_refused;
  elsif p_thread is not null and (p_viewed or notifications.is_viewing(p_account, p_thread)) then
    outcome := 'suppressed';
    reason := 'User is actively viewing thread';
  elsif v_allowed = 0 then
    outcome := 'suppressed';
    reason := 'The account''s settings do not want it';
  elsif v_rest = 0 then
    outcome := 'sent';
  else
    outcome := 'queued';
    if not notifications.is_urgent(p_workflow) then
      select coalesce((p.workflows -> p_workflow ->> 'digest_minutes')::int, 0) into v_minutes
        from notifications.preference p where p.account_id = p_account;
    end if;
  end if;
  if outcome = 'queued' and v_minutes > 0 then
    -- Of several at once one becomes the carrier.
    perform pg_advisory_xact_lock(hashtextextended('notifications ' || p_account || ' ' || p_workflow, 0));
    select n.id into v_carrier from notifications.notification n
     where n.account_id = p_account and n.workflow = p_workflow and n.gathering for update;
    if found then
      outcome := 'gathered';
    else
      v_gathering := true;
      v_at := v_at + make_interval(mins => v_minutes);
    end if;
  end if;

  insert into notifications.notification as n
    (id, key, tid, account_id, workflow, payload, thread_id, state, reason, pending, gathering, carrier,
     ttl, expires_at, ended_at)
  values (notifications.new_id(), p_key, left(encode(sha256(convert_to(p_key, 'UTF8')), 'hex'), 32),
          p_account, p_workflow, p_payload, p_thread, outcome, reason,
          case when outcome in ('queued', 'gathered') then v_rest else 0 end, v_gathering, v_carrier,
          make_interval(secs => p_ttl_seconds), v_at + make_interval(secs => p_ttl_seconds), case when outcome <> 'queued' then clock_timestamp() end)
  on conflict do nothing  -- also by the tid, which comes from the key
  returning n.id into id;
  if not found then
    select n.id, n.reason into id, reason from notifications.notification n where n.key = p_key;
    outcome := 'duplicate';
    return next;
    return;
  end if;
  if outcome in ('queued', 'gathered', 'sent') and v_allowed & 4 <> 0 then
    select a.version, a.evicted into inbox_version, inbox_evicted
      from notifications.inbox_add(p_account, id, p_workflow, p_title, p_body, p_url, p_payload, p_inbox_most) a;
    insert into notifications.delivery (notification_id, account_id, channel, state, provider)
    values (id, p_account, 4, 'delivered', 'inbox');
  end if;
  if outcome = 'queued' then
    perform core.job_enqueue('notifications.deliver', jsonb_build_object('id', id), 'notifications', 0,
                             case when v_gathering then v_at end, null, 1000);
  end if;
  return next;
end $$;

-- For nodes that run the former release, in which the limit was fixed.
create or replace function notify(p_key text, p_account uuid, p_workflow text, p_payload jsonb, p_asked int,
                       p_thread uuid, p_viewed boolean, p_refused text, p_title text, p_body text,
                       p_url text, p_ttl_seconds bigint)
returns table (id uuid, outcome text, reason text, inbox_version bigint) language plpgsql as $$
begin
  return query select n.id, n.outcome, n.reason, n.inbox_version
    from notifications.notify(p_key, p_account, p_workflow, p_payload, p_asked, p_thread, p_viewed, p_refused, p_title, p_body,
                              p_url, p_ttl_seconds, 1000) n;
end $$;

drop function inbox_add(uuid, uuid, text, text, text, text, jsonb);
