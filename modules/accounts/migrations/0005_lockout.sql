-- Requests of other people must not prevent the owner of an address from signing up or resetting the password.

-- Stores a sign-up and enqueues its e-mail. For one address, at most four sign-ups are pending per network and sixty in
-- total, so requests from other networks cannot evict the owner's.
create or replace function begin_sign_up(p_id uuid, p_email text, p_key text, p_password_hash text, p_proof_hash bytea,
                              p_name text, p_code text, p_network text, p_hours int) returns void
language plpgsql as $$
begin
  insert into accounts.sign_up (id, email, email_key, password_hash, proof_hash, display_name, referral_code,
                                network, expires_at)
  values (p_id, p_email, p_key, p_password_hash, p_proof_hash, p_name, p_code, p_network,
          now() + make_interval(hours => p_hours));
  delete from accounts.sign_up s using (
      select o.id, row_number() over (partition by o.network order by o.created_at desc) as in_network,
             row_number() over (order by o.created_at desc) as in_all
        from accounts.sign_up o where o.email_key = p_key) old
   where s.id = old.id and (old.in_network > 4 or old.in_all > 60);
  perform core.job_enqueue('accounts.letter', jsonb_build_object('kind', 'confirm', 'sign_up', p_id));
end $$;

alter table reset add column created_at timestamptz not null default now();
create index reset_recent on reset (account_id, created_at);

-- Decides whether to send another reset link: three per hour, and more only if the mailbox has no recent link. The owner
-- then always has a link that is valid for at least half its lifetime, and gets only a few e-mails per hour.
create function may_mail_reset(p_account uuid, p_minutes int) returns boolean language sql stable as $$
  select count(*) < 3
         or coalesce(max(r.created_at) < now() - least(interval '10 minutes', make_interval(secs => p_minutes * 30)), true)
    from accounts.reset r
   where r.account_id = p_account and r.created_at > now() - interval '1 hour'
$$;
