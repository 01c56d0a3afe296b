-- What other people do with an address must keep its owner neither from signing up nor from resetting the password.

-- Writes down a sign-up and asks for its mail, as before. Of one address each network has four that wait, and all
-- together sixty: others cannot push the owner's out.
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

-- Whether to mail another link: three an hour, and more only when no link in the mailbox is fresh. Whoever asks, the
-- owner has a link that is good for at least half its life, and gets at most some mails an hour.
create function may_mail_reset(p_account uuid, p_minutes int) returns boolean language sql stable as $$
  select count(*) < 3
         or coalesce(max(r.created_at) < now() - least(interval '10 minutes', make_interval(secs => p_minutes * 30)), true)
    from accounts.reset r
   where r.account_id = p_account and r.created_at > now() - interval '1 hour'
$$;
