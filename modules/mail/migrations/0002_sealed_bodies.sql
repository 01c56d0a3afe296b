-- Bodies hold links that give access to accounts, so they are sealed with the deployment's key, which is not in the database.
-- A sealed message has the text 'ry-sealed:u:' (it holds {{unsubscribe_url}}) or 'ry-sealed:-:' and Base64 in body_text, and no
-- body_html. Callers of other modules seal before they call enqueue(); the module seals the others at its start and every ten
-- minutes.

-- Rows that are not sealed yet.
create index message_plain on message (id)
  where body_html is not null or body_text not like 'ry-sealed:%';

-- As the former begin_attempt, for workers that open sealed bodies.
create function begin_attempt(p_id uuid, p_job bigint, p_fence bigint, p_gap_ms bigint, p_opens boolean)
returns table (what text, wait_ms bigint, address text, subject text, body_text text, body_html text,
               bulk boolean, token uuid, attempt int)
language plpgsql as $$
#variable_conflict use_column
declare
  v mail.message;
  v_free timestamptz;
begin
  perform core.job_hold(p_job, p_fence);
  select * into v from mail.message m where m.id = p_id for update;
  what := 'over';
  if not found or v.state <> 'queued' then
    return next;
    return;
  end if;
  if not p_opens and v.body_text like 'ry-sealed:%' then
    what := 'wait';
    wait_ms := 5000;
    return next;
    return;
  end if;
  if v.expires_at <= clock_timestamp() or mail.is_out(v.address, v.category) then
    update mail.message m
       set state = case when v.expires_at <= clock_timestamp() then 'dead' else 'suppressed' end,
           ended_at = clock_timestamp(), under_way = false,
           maybe_duplicate = v.maybe_duplicate or v.under_way,
           -- A suppressed message is never sent, a dead one may be requeued.
           body_text = case when v.expires_at <= clock_timestamp() then v.body_text end,
           body_html = case when v.expires_at <= clock_timestamp() then v.body_html end
     where m.id = p_id;
    return next;
    return;
  end if;
  if p_gap_ms > 0 then
    select p.next_at into v_free from mail.pace p for update;
    if v_free > clock_timestamp() then
      what := 'wait';
      wait_ms := 1 + (extract(epoch from v_free - clock_timestamp()) * 1000)::bigint;
      return next;
      return;
    end if;
    update mail.pace set next_at = clock_timestamp() + make_interval(secs => p_gap_ms / 1000.0);
  end if;
  update mail.message m
     set attempts = v.attempts + 1, under_way = true,
         maybe_duplicate = v.maybe_duplicate or v.under_way
   where m.id = p_id;
  if v.bulk or v.body_text like 'ry-sealed:u:%'
     or position('{{unsubscribe_url}}' in concat(v.body_text, v.body_html)) > 0 then
    insert into mail.subscription as s (address, category) values (mail.fold(v.address), v.category)
    on conflict on constraint subscription_pkey do nothing;
    select s.token into token from mail.subscription s
     where s.address = mail.fold(v.address) and s.category = v.category;
  end if;
  what := 'send';
  address := v.address;
  subject := v.subject;
  body_text := v.body_text;
  body_html := v.body_html;
  bulk := v.bulk;
  attempt := v.attempts + 1;
  return next;
end $$;

-- Of nodes that run the former release and cannot open sealed bodies: they leave those messages to the other nodes.
create or replace function begin_attempt(p_id uuid, p_job bigint, p_fence bigint, p_gap_ms bigint)
returns table (what text, wait_ms bigint, address text, subject text, body_text text, body_html text,
               bulk boolean, token uuid, attempt int)
language plpgsql as $$
begin
  return query select * from mail.begin_attempt(p_id, p_job, p_fence, p_gap_ms, false);
end $$;

-- Bodies of suppressed messages were kept without use.
update message set body_text = null, body_html = null where state = 'suppressed';
