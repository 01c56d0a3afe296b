-- ry: number 0011 compatible

-- Queues an e-mail with a link that sets a new password, unless the account already has enough recent ones (may_mail_reset).
-- p_bodies: the sealed text and HTML of the e-mail. Returns the outcome of mail.enqueue, or null without an e-mail.
-- The advisory lock makes concurrent requests for one account count each other's links; plpgsql takes a new snapshot for
-- each statement, so the count after the lock is current.
create or replace function queue_reset(p_account uuid, p_to text, p_subject text, p_bodies text, p_key text,
                                       p_token_hash bytea, p_minutes int)
returns text language plpgsql as $$
declare
  v_valid interval := make_interval(mins => p_minutes);
  v_outcome text;
begin
  perform pg_advisory_xact_lock(hashtextextended('accounts.reset:' || p_account, 0));
  if not accounts.may_mail_reset(p_account, p_minutes) then
    return null;
  end if;
  select e.outcome into v_outcome
    from mail.enqueue('account', p_to, p_subject, p_bodies, key => p_key, ttl => v_valid) e;
  if v_outcome = 'queued' then
    insert into accounts.reset (token_hash, account_id, expires_at) values (p_token_hash, p_account, now() + v_valid);
  end if;
  return v_outcome;
end
$$;
