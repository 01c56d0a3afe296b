-- Addresses of one mailbox count as one person, as for starting credits.
create or replace function plain_address(p_address text) returns text language sql stable as $$
  select accounts.mailbox(p_address)
$$;

-- Digest of the registered domain of an address, as far as it can be determined without the public suffix list. Null for
-- e-mail providers, whose users are unrelated.
create function domain_of(p_address text) returns text language plpgsql stable as $$
declare
  v_labels text[] := string_to_array(split_part(accounts.mailbox(p_address), '@', 2), '.');
  v_n int := coalesce(cardinality(v_labels), 0);
  v_domain text;
begin
  if v_n < 2 then
    return null;
  end if;
  v_domain := v_labels[v_n - 1] || '.' || v_labels[v_n];
  if v_n > 2 and length(v_labels[v_n]) = 2
     and v_labels[v_n - 1] in ('ac', 'co', 'com', 'edu', 'go', 'gob', 'gov', 'ne', 'net', 'nom', 'or', 'org') then
    v_domain := v_labels[v_n - 2] || '.' || v_domain;  -- co.uk, com.au
  end if;
  if v_domain ~ '^(yahoo|ymail|rocketmail|hotmail|outlook|live|msn|gmx|web|yandex|qq|163|126|sina|naver|daum|rediffmail)\.'
     or v_domain in ('gmail.com', 'proton.me', 'icloud.com', 'fastmail.com', 'fastmail.fm', 'aol.com', 'zoho.com',
                     'mail.com', 'mail.ru', 'bk.ru', 'inbox.ru', 'list.ru', 'rambler.ru', 'tutanota.com', 'tuta.com',
                     'tuta.io', 'hey.com', 'mailbox.org', 'posteo.de', 'posteo.net', 't-online.de', 'freenet.de',
                     'orange.fr', 'free.fr', 'laposte.net', 'sfr.fr', 'libero.it', 'virgilio.it', 'wp.pl', 'o2.pl',
                     'onet.pl', 'interia.pl', 'seznam.cz', 'centrum.cz', 'comcast.net', 'verizon.net', 'att.net',
                     'sbcglobal.net', 'cox.net', 'bigpond.com', 'btinternet.com', 'duck.com', 'ya.ru', 'uol.com.br') then
    return null;
  end if;
  return encode(sha256(convert_to(v_domain, 'UTF8')), 'hex');
end $$;

alter table referral add column domain text;  -- domain_of() the address that signed up
create index referral_domain on referral (referrer_id, domain) where domain is not null;

-- As before, and: the fourth and later ones of one domain.
create or replace function signals_of(p_referrer uuid, p_address text, p_network text) returns jsonb
language plpgsql stable as $$
declare
  v jsonb := '{}';
  v_of_domain int;
begin
  if position('+' in split_part(p_address, '@', 1)) > 0 then
    v := v || '{"tagged_address": 1}';
  end if;
  if p_network is not null and (select count(*) from (select from referrals.referral r
       where r.referrer_id = p_referrer and r.network = p_network limit 2) two) = 2 then
    v := v || '{"same_network": 2}';
  end if;
  if exists (select from referrals.origin o where o.account_id = p_referrer and o.network = p_network) then
    v := v || '{"network_of_referrer": 1}';
  end if;
  -- Colleagues share a domain, too: it is no reason by itself, but adds to others. Of an office it says nothing that
  -- same_network does not say.
  v_of_domain := (select count(*) from (select from referrals.referral r
    where r.referrer_id = p_referrer and r.domain = referrals.domain_of(p_address) limit 5) five);
  if v_of_domain >= 3 and not v ? 'same_network' then
    v := v || jsonb_build_object('same_domain', case when v_of_domain >= 5 then 2 else 1 end);
  end if;
  if (select count(*) from (select from referrals.referral r
       where r.referrer_id = p_referrer and r.referred_at > now() - interval '1 day'
       limit (select s.velocity from referrals.setting s)) most)
     >= (select s.velocity from referrals.setting s) then
    v := v || '{"velocity": 3}';
  end if;
  if exists (select 1 from referrals.counter k, referrals.setting s
              where k.account_id = p_referrer and k.revoked >= 3 * s.bonus and k.revoked * 3 >= k.earned) then
    v := v || '{"revoked_before": 3}';
  end if;
  return v;
end $$;

-- As before, with the domain.
create or replace function attach(p_account uuid, p_code text, p_network text) returns text language plpgsql as $$
declare
  v_code referrals.code;
  v_mail text;
  v_network text;
  v_signals jsonb;
  v_void text;
  v_id uuid;
  v_outcome text;
begin
  -- A refresh of this code waits for us, or we see that it is no longer active.
  select * into v_code from referrals.code c
   where c.code = upper(p_code collate "C") and coalesce(c.expires_at > now(), true) for share;
  if not found then
    return 'unknown_code';
  end if;
  if v_code.account_id = p_account then
    return 'self';
  end if;
  select c.email into v_mail from accounts.contact(p_account) c;
  v_network := referrals.network_of(p_network);
  v_signals := referrals.signals_of(v_code.account_id, v_mail, v_network);
  if v_mail <> '' and referrals.plain_address(v_mail)
       = (select referrals.plain_address(c.email) from accounts.contact(v_code.account_id) c) then
    v_void := 'self_referral';
  elsif not v_code.is_active then
    v_void := 'code_refreshed';
  elsif split_part(lower(v_mail collate "C"), '@', 2)
        = any (select unnest(s.disposable) from referrals.setting s) then
    v_void := 'disposable_address';
  end if;
  insert into referrals.referral as r (referrer_id, referred_account_id, code_id, qualified_at, void_reason,
                                       voided_at, review, signals, network, domain)
  select v_code.account_id, p_account, v_code.id,
         case when referrals.qualifies(p_account) then clock_timestamp() end,
         v_void, case when v_void is not null then clock_timestamp() end,
         case when s.flag_score > 0 and v_void is null
                   and (select coalesce(sum(e.value::int), 0) from jsonb_each_text(v_signals) e) >= s.flag_score
              then 'flagged' end,
         v_signals, v_network, referrals.domain_of(v_mail)
    from referrals.setting s
  on conflict on constraint referral_once do nothing
  returning r.id, case when r.void_reason is not null then 'void' else coalesce(r.review, 'pending') end
  into v_id, v_outcome;
  if not found then
    return 'already_referred';
  end if;
  perform core.event_publish('referral.pending', v_code.account_id::text,
    jsonb_build_object('referral_id', v_id, 'referrer_id', v_code.account_id,
                       'referred_account_id', p_account, 'state', v_outcome));
  return coalesce((select s.outcome from referrals.settle(array[v_id]) s), v_outcome);
end $$;
