-- Starting credits are granted once per mailbox, however its address is written.

-- The mailbox behind an address: without case, compatibility forms, quotes and sub-address; one spelling where a provider
-- delivers several spellings or several of its domains into one mailbox. Two addresses of one mailbox may still differ
-- (other providers have other rules), two mailboxes never become one.
create function mailbox(p_address text) returns text language plpgsql immutable as $$
declare
  v_all text := btrim(p_address);
  v_local text;
  v_domain text;
  v_bare text;
begin
  if getdatabaseencoding() = 'UTF8' then
    v_all := normalize(v_all, NFKC);
  end if;
  v_all := lower(v_all collate "C");
  if v_all !~ '@' then
    return v_all;
  end if;
  v_domain := rtrim(regexp_replace(v_all, '^.*@', ''), '.');
  v_local := regexp_replace(v_all, '@[^@]*$', '');
  v_local := regexp_replace(v_local, '^"(.*)"$', '\1');
  -- Fastmail delivers anything@user.fastmail.com to user@fastmail.com.
  if v_domain ~ '^[^.]+\.fastmail\.(com|fm)$' then
    v_local := split_part(v_domain, '.', 1);
    v_domain := split_part(v_domain, '.', 2) || '.' || split_part(v_domain, '.', 3);
  end if;
  v_bare := split_part(v_local, '+', 1);
  if v_domain ~ '^(yahoo\.[a-z.]+|ymail\.com|rocketmail\.com)$' then
    v_bare := split_part(v_bare, '-', 1);
  elsif v_domain in ('gmail.com', 'googlemail.com') then
    v_bare := replace(v_bare, '.', '');
    v_domain := 'gmail.com';
  elsif v_domain in ('proton.me', 'protonmail.com', 'protonmail.ch', 'pm.me') then
    v_bare := translate(v_bare, '.-_', '');
    v_domain := 'proton.me';
  elsif v_domain in ('icloud.com', 'me.com', 'mac.com') then
    v_domain := 'icloud.com';
  elsif v_domain ~ '^(ya\.ru|yandex\.(ru|com|by|kz|ua|com\.tr|fr))$' then
    v_bare := replace(v_bare, '-', '.');
    v_domain := 'yandex.ru';
  end if;
  return coalesce(nullif(v_bare, ''), v_local) || '@' || v_domain;
end $$;

-- Mailboxes whose owner had the starting credits. Only a hash of the mailbox: it outlives the account.
create table granted_mailbox (
  mailbox bytea primary key,
  at timestamptz not null default now()
);

insert into granted_mailbox (mailbox)
select distinct sha256(convert_to(accounts.mailbox(a.email), 'UTF8')) from accounts.account a where a.email <> ''
on conflict do nothing;

-- As the former one. p_mailbox: the address for mailbox(), with its domain in ASCII; empty: nothing is known of it.
create function provision(p_subject text, p_id uuid, p_email text, p_name text, p_verified boolean,
                          p_referral_code text, p_tier text, p_grant_micro bigint,
                          p_network text, p_phone text, p_avatar text, p_mailbox text)
returns table (id uuid, subject text, tier text, role smallint, email text, display_name text,
               verified boolean, fresh boolean)
language plpgsql as $$
#variable_conflict use_column
declare
  v accounts.account;
  v_fresh boolean := false;
  v_newly_verified boolean := false;
  v_grant boolean := p_grant_micro > 0;
begin
  select * into v from accounts.account a where a.subject = p_subject;
  if not found then
    insert into accounts.account as a (id, subject, tier, email, display_name, phone, avatar, verified_at)
    values (coalesce(p_id, accounts.new_id()), p_subject, p_tier, p_email, p_name, p_phone, p_avatar,
            case when p_verified then now() end)
    on conflict do nothing
    returning a.* into v;
    v_fresh := found;
    if not v_fresh then
      select * into v from accounts.account a where a.subject = p_subject;
      if not found then
        raise sqlstate 'RY403' using message = 'This subject is the id of another account';
      end if;
    end if;
  end if;

  if v_fresh then
    v_newly_verified := p_verified;
    perform core.event_publish('account.created', v.id::text,
      jsonb_strip_nulls(jsonb_build_object('account_id', v.id, 'email', v.email,
        'name', v.display_name, 'referral_code', nullif(p_referral_code, ''),
        'network', nullif(p_network, ''))));
    if v_grant and p_mailbox <> '' then
      -- Of two accounts made at once the second one waits here for the first.
      insert into accounts.granted_mailbox (mailbox)
      values (sha256(convert_to(accounts.mailbox(p_mailbox), 'UTF8'))) on conflict do nothing;
      v_grant := found;
    end if;
    if v_grant then
      perform accounts.ledger_add(v.id, p_grant_micro, 'grant', 'start:' || v.id,
                                  jsonb_build_object('tier', p_tier));
    end if;
  elsif (p_verified and v.verified_at is null) or (p_email <> '' and p_email <> v.email)
        or (p_name <> '' and p_name <> v.display_name) or (p_phone <> '' and p_phone <> v.phone)
        or (p_avatar <> '' and p_avatar <> v.avatar) then
    -- Locked first: of two calls at once only one sees the account unverified.
    select * into v from accounts.account a where a.subject = p_subject for no key update;
    v_newly_verified := p_verified and v.verified_at is null;
    update accounts.account a
       set email = coalesce(nullif(p_email, ''), a.email),
           display_name = coalesce(nullif(p_name, ''), a.display_name),
           phone = coalesce(nullif(p_phone, ''), a.phone), avatar = coalesce(nullif(p_avatar, ''), a.avatar),
           -- A changed address is unverified unless the identity provider says otherwise.
           verified_at = case when v_newly_verified then now()
                              when not p_verified and p_email <> '' and lower(p_email) <> lower(a.email) then null
                              else a.verified_at end
     where a.id = v.id
     returning a.* into v;
  end if;
  if v_newly_verified then
    perform core.event_publish('account.verified', v.id::text,
                               jsonb_build_object('account_id', v.id));
  end if;
  return query select v.id, v.subject, v.tier, v.role, v.email, v.display_name,
                      v.verified_at is not null, v_fresh;
end $$;

-- Of log-ins, whose addresses have their domain in ASCII, and of nodes that run the former release.
create or replace function provision(p_subject text, p_id uuid, p_email text, p_name text, p_verified boolean,
                          p_referral_code text, p_tier text, p_grant_micro bigint,
                          p_network text default '', p_phone text default '', p_avatar text default '')
returns table (id uuid, subject text, tier text, role smallint, email text, display_name text,
               verified boolean, fresh boolean)
language plpgsql as $$
begin
  return query select * from accounts.provision(p_subject, p_id, p_email, p_name, p_verified, p_referral_code, p_tier,
                                                p_grant_micro, p_network, p_phone, p_avatar, p_email);
end $$;

-- As the former one, with the address for mailbox().
create function identity_event(p_hook text, p_subject text, p_id uuid, p_email text, p_name text,
                               p_verified boolean, p_code text, p_network text, p_tier text,
                               p_grant_micro bigint, p_mailbox text)
returns boolean language plpgsql as $$
begin
  insert into accounts.webhook_seen (id) values (p_hook) on conflict do nothing;
  if not found then
    return false;
  end if;
  perform accounts.provision(p_subject, p_id, p_email, p_name, p_verified, p_code, p_tier, p_grant_micro,
                             p_network, '', '', p_mailbox);
  return true;
end $$;
