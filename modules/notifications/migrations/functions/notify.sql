-- ry: number 0011 compatible

-- Whether the account viewed the thread during the last presence_seconds.
create or replace function is_viewing(p_account uuid, p_thread uuid) returns boolean language sql stable as $$
  select exists (select 1 from notifications.presence p, notifications.setting s
                  where p.account_id = p_account and p.thread_id = p_thread
                    and p.seen_at > clock_timestamp() - make_interval(secs => s.presence_seconds))
$$;

-- Stores a notification once: repeated calls with the same key have the outcome 'duplicate'. Other outcomes: 'queued' (a job
-- delivers it), 'gathered' (it goes out with an earlier one), 'sent' (it goes only into the inbox), 'suppressed' and 'failed'
-- (with the reason). p_asked: the channels that the sender requests, as bits. p_viewed: the sender knows that the account views the
-- thread. p_refused: a reason that the sender gives for not delivering; empty: none. inbox_version: of the account's inbox, if it
-- got an entry; inbox_evicted: entries that were removed for it. p_approval: the approval that the account is asked for; it is
-- suppressed if that was decided.
create or replace function notify(p_key text, p_account uuid, p_workflow text, p_payload jsonb, p_asked int,
                       p_thread uuid, p_viewed boolean, p_refused text, p_title text, p_body text,
                       p_url text, p_ttl_seconds bigint,
                       p_inbox_most bigint, p_details jsonb, p_broadcast uuid, p_approval uuid)
returns table (id uuid, outcome text, reason text, inbox_version bigint, inbox_evicted bigint) language plpgsql as $$
#variable_conflict use_column
declare
  v_allowed int;
  v_rest int;
  v_minutes int := 0;
  v_at timestamptz := clock_timestamp();
  v_carrier uuid;
  v_gathering boolean := false;
  v notifications.notification;
begin
  reason := '';
  inbox_evicted := 0;
  v_allowed := notifications.allowed(p_account, p_workflow, p_asked);
  if p_details ? 'duration_ms' and not notifications.is_long_enough(p_account, p_workflow, (p_details ->> 'duration_ms')::bigint) then
    v_allowed := v_allowed & ~1;
  end if;
  v_rest := v_allowed & 3;
  if p_refused <> '' then
    outcome := 'failed';
    reason := p_refused;
  elsif p_approval is not null and not notifications.lock_approval(p_approval) then
    outcome := 'suppressed';
    reason := 'The approval no longer waits for a decision';
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
    v_minutes := notifications.digest_minutes(p_account, p_workflow);
  end if;
  if outcome = 'queued' and v_minutes > 0 then
    -- Of several concurrent notifications, one becomes the carrier of the digest.
    perform pg_advisory_xact_lock(hashtextextended('notifications ' || p_account || ' ' || p_workflow, 0));
    select n.id into v_carrier from notifications.notification n
     where n.account_id = p_account and n.workflow = p_workflow and n.gathering and n.pending = v_rest for update;
    if found then
      outcome := 'gathered';
    else
      v_gathering := true;
      v_at := v_at + make_interval(mins => v_minutes);
    end if;
  end if;

  insert into notifications.notification as n
    (id, key, tid, account_id, workflow, payload, thread_id, state, reason, pending, gathering, carrier,
     ttl, expires_at, ended_at, broadcast_id)
  values (notifications.new_id(), p_key, left(encode(sha256(convert_to(p_key, 'UTF8')), 'hex'), 32),
          p_account, p_workflow,
          -- An unverified address may belong to another person, who must not receive text that the account chose.
          case when p_details is null then p_payload
               else p_payload || jsonb_build_object('$details', case when accounts.can_verify(p_account)
                 and not coalesce((select c.verified from accounts.contact(p_account) c), false)
                 then p_details - array['result', 'arguments', 'decidable'] else p_details end) end, p_thread, outcome, reason,
          case when outcome in ('queued', 'gathered') then v_rest else 0 end, v_gathering, v_carrier,
          make_interval(secs => p_ttl_seconds), least(v_at + make_interval(secs => p_ttl_seconds), case when p_approval is not null then (p_payload ->> 'expires_at')::timestamptz end),
          case when outcome <> 'queued' then clock_timestamp() end,
          p_broadcast)
  on conflict do nothing  -- of the key or of the tid, which is derived from it
  returning n.* into v;
  if not found then
    select n.id, n.reason into id, reason from notifications.notification n where n.key = p_key;
    outcome := 'duplicate';
    return next;
    return;
  end if;
  id := v.id;
  if p_approval is not null then
    insert into notifications.approval (approval_id, notification_id) values (p_approval, id) on conflict do nothing;
  end if;
  if outcome in ('queued', 'gathered', 'sent') and v_allowed & 4 <> 0 then
    select a.version, a.evicted into inbox_version, inbox_evicted
      from notifications.inbox_add(p_account, id, p_workflow, p_title, p_body, p_url, p_payload, p_inbox_most) a;
    insert into notifications.delivery (notification_id, account_id, channel, state, provider)
    values (id, p_account, 4, 'delivered', 'inbox');
  end if;
  if outcome = 'queued' then
    perform notifications.enqueue_delivery(v, case when v_gathering then v_at end);
  end if;
  return next;
end $$;

-- For nodes of the previous release.
create or replace function notify(p_key text, p_account uuid, p_workflow text, p_payload jsonb, p_asked int,
                       p_thread uuid, p_viewed boolean, p_refused text, p_title text, p_body text,
                       p_url text, p_ttl_seconds bigint,
                       p_inbox_most bigint, p_details jsonb, p_broadcast uuid)
returns table (id uuid, outcome text, reason text, inbox_version bigint, inbox_evicted bigint) language sql as $$
  select * from notifications.notify(p_key, p_account, p_workflow, p_payload, p_asked, p_thread, p_viewed, p_refused, p_title, p_body,
                                     p_url, p_ttl_seconds, p_inbox_most, p_details, p_broadcast, null::uuid)
$$;
