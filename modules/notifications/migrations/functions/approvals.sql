-- ry: number 0010 compatible
-- Notifications about approvals of tool calls. They are not sent after the decision.

-- Whether the approval waits for a decision; if so, locks it. A function of its own, because the module runs, whose function it calls, may be missing.
create or replace function lock_approval(p_approval uuid) returns boolean language plpgsql as $$
begin
  return runs.lock_pending_approval(p_approval);
end $$;

-- Before an attempt: ends the notification p_id, and entries of its digest, if their approvals do not wait for a decision any more.
create or replace function drop_resolved(p_id uuid) returns void language plpgsql as $$
declare
  c_reason constant text := 'The approval no longer waits for a decision';
  v notifications.notification;
  v_approval uuid;
begin
  select n.* into v from notifications.notification n where n.id = p_id and n.state = 'queued' for update;
  if not found then
    return;
  end if;
  -- An attempt that was interrupted may have sent the entries, which then end with it.
  if not v.under_way then
    update notifications.notification n set state = 'suppressed', reason = c_reason, carrier = null, pending = 0
      from notifications.approval a
     where n.carrier = p_id and n.state = 'gathered' and a.notification_id = n.id and not notifications.lock_approval(a.approval_id);
  end if;
  select a.approval_id into v_approval from notifications.approval a where a.notification_id = p_id;
  if v_approval is null or notifications.lock_approval(v_approval) then
    return;
  end if;
  if notifications.has_arrived(p_id) then
    update notifications.notification n set pending = 0 where n.id = p_id;  -- begin_attempt() ends it
  elsif not v.under_way then
    perform notifications.hand_over(p_id, v.pending, v.expires_at, false);
    perform notifications.settle(p_id, 'suppressed', c_reason);
  elsif not exists (select 1 from notifications.notification n where n.carrier = p_id) then
    perform notifications.settle(p_id, 'suppressed', c_reason);
  end if;
end $$;

-- As begin_attempt(), without notifications of approvals that were decided since.
create or replace function begin_delivery(p_id uuid, p_job bigint, p_fence bigint, p_served int)
returns table (what text, wait_ms bigint, tid text, account_id uuid, workflow text, payload jsonb, items jsonb,
               channels int, epoch int, attempt int, expires_unix_us bigint, tokens jsonb, email text, name text,
               phone text, avatar text, broadcast uuid)
language plpgsql as $$
begin
  perform core.job_hold(p_job, p_fence);
  perform notifications.drop_resolved(p_id);
  return query select b.* from notifications.begin_attempt(p_id, p_job, p_fence, p_served, true, true) b;
end $$;

-- The approval was decided, has expired or was cancelled: marks its inbox entry as read, and ends its notification if that waits. version: of the
-- inbox, if it changed; otherwise null.
create or replace function resolve_approval(p_account uuid, p_approval uuid, p_status text, out version bigint) language plpgsql as $$
declare
  v notifications.notification;
begin
  select n.* into v from notifications.notification n join notifications.approval a on a.notification_id = n.id
   where a.approval_id = p_approval and n.account_id = p_account for update of n;
  if not found then
    return;
  end if;
  if v.state = 'queued' and not v.under_way then
    perform notifications.drop_resolved(v.id);
  end if;
  select r.version into version from notifications.inbox_read(p_account, v.id) r where r.marked > 0;
  update notifications.inbox i set payload = i.payload || jsonb_build_object('status', p_status)
   where i.account_id = p_account and i.id = v.id;
end $$;
