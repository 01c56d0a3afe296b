-- One mailbox counts as one person, and sign-ups that nothing can confirm qualify at once.

alter table referral drop constraint referral_void_reason_check;
alter table referral add constraint referral_void_reason_check
  check (void_reason in ('code_refreshed', 'self_referral', 'disposable_address', 'revoked', 'same_mailbox', 'account_deleted'));

-- The progress of a referred account. If its address cannot be verified, the sign-up qualifies.
create or replace function qualifies(p_account uuid) returns boolean language plpgsql stable as $$
declare
  v_rule text;
begin
  if not accounts.owns_mailbox(p_account) then
    return false;
  end if;
  if not accounts.can_verify(p_account) then
    return true;
  end if;
  select s.qualify into v_rule from referrals.setting s;
  return case v_rule
    when 'signup' then true
    when 'email_verified' then coalesce((select c.verified from accounts.contact(p_account) c), false)
    else exists (select 1 from referrals.first_run f where f.account_id = p_account) end;
end $$;

-- Pending referrals of accounts whose mailbox belongs to another account become void. The address may have changed since
-- the sign-up. Codes are locked first, as everywhere.
create function void_same_mailbox(p_accounts uuid[]) returns void language plpgsql as $$
declare
  v_ids uuid[];
begin
  select array_agg(r.id) into v_ids from referrals.referral r
   where r.referred_account_id = any (p_accounts) and r.status = 'pending' and r.void_reason is null
     and not accounts.owns_mailbox(r.referred_account_id);
  if v_ids is null then
    return;
  end if;
  perform 1 from referrals.code c
   where c.id in (select r.code_id from referrals.referral r where r.id = any (v_ids)) order by c.id for share;
  perform 1 from referrals.referral r where r.id = any (v_ids) order by r.id for update;
  update referrals.referral r set void_reason = 'same_mailbox', voided_at = clock_timestamp()
   where r.id = any (v_ids) and r.status = 'pending' and r.void_reason is null;
end $$;

-- As before, without those whose mailbox belongs to another account.
create or replace function qualify(p_accounts uuid[]) returns int language plpgsql as $$
declare
  v_n int;
begin
  perform referrals.void_same_mailbox(p_accounts);
  update referrals.referral r
     set qualified_at = coalesce(r.qualified_at, clock_timestamp()), look_at = clock_timestamp()
    from (select p.id from referrals.referral p
           where p.referred_account_id = any (p_accounts) and p.status = 'pending' and p.void_reason is null
           order by p.id for update) q
   where r.id = q.id;
  get diagnostics v_n = row_count;
  return v_n;
end $$;

create or replace function award(p_accounts uuid[]) returns void language plpgsql as $$
begin
  perform referrals.void_same_mailbox(p_accounts);
  perform referrals.settle((select array_agg(r.id) from referrals.referral r
    where r.referred_account_id = any (p_accounts) and r.status = 'pending' and r.void_reason is null), true);
end $$;

-- As before, and: a second account of one mailbox earns nothing.
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
  -- Serialises with other sign-ups and a refresh of this code, so that each transaction sees the rows of the earlier one.
  select * into v_code from referrals.code c
   where c.code = upper(p_code collate "C") and coalesce(c.expires_at > now(), true)
     for no key update;
  if not found then
    return 'unknown_code';
  end if;
  if v_code.account_id = p_account then
    return 'self';
  end if;
  select c.email into v_mail from accounts.contact(p_account) c;
  if not found then
    return 'unknown_account';
  end if;
  v_network := referrals.network_of(p_network);
  v_signals := referrals.signals_of(v_code.account_id, v_mail, v_network);
  if v_mail <> '' and referrals.plain_address(v_mail)
       = (select referrals.plain_address(c.email) from accounts.contact(v_code.account_id) c) then
    v_void := 'self_referral';
  elsif not accounts.owns_mailbox(p_account) then
    v_void := 'same_mailbox';
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

-- As before, with the new reasons.
create or replace function history(p_account uuid, p_limit bigint, p_offset bigint) returns text
language plpgsql stable as $$
begin
  return (
    select coalesce(json_agg(json_build_object(
             'id', h.id, 'referrer_id', h.referrer_id, 'referral_code', h.code,
             'referred_account_id', h.referred_account_id, 'referred_at', referrals.iso_time(h.referred_at),
             'status', h.status, 'credits_awarded', case when h.void_reason is null then h.credits_awarded else 0 end,
             'reason', h.reason, 'message', case h.reason
               when 'code_refreshed' then 'The code was refreshed before this referral counted'
               when 'self_referral' then 'Referring yourself does not count'
               when 'same_mailbox' then 'This mailbox had an account before'
               when 'account_deleted' then 'The account was deleted before this referral counted'
               when 'disposable_address' then 'Throw-away addresses do not count'
               when 'revoked' then 'This referral was revoked'
               when 'under_review' then 'This referral is being reviewed'
               when 'cap_reached' then 'Maximum earnable limit reached'
               when 'code_suspended' then 'The code is suspended'
               when 'on_hold' then 'The credits come after a waiting time'
               when 'not_qualified' then case (select s.qualify from referrals.setting s)
                 when 'first_run' then 'The first run of this account is still to come'
                 else 'The e-mail address of this account is not confirmed yet' end end)
             order by h.referred_at desc, h.id desc), '[]')::text
      from (select r.*, c.code, referrals.reason_of(r, c.suspended_at is not null) as reason
              from referrals.referral r join referrals.code c on c.id = r.code_id
             where r.referrer_id = p_account
             order by r.referred_at desc, r.id desc limit p_limit offset p_offset) h);
end $$;

-- The referral through which an account came, as its owner sees it; null: it came by itself. What concerns the referrer
-- alone (a review, a suspended code) is not told apart.
create function received(p_account uuid) returns text language plpgsql stable as $$
begin
  return (
    select json_build_object(
             'status', h.status, 'referred_at', referrals.iso_time(h.referred_at),
             'credits', case when h.void_reason is null then h.referee_credits else 0 end,
             'bonus_credits', h.bonus, 'reason', h.reason,
             'message', case h.reason
               when 'under_review' then 'Your referral is being reviewed'
               when 'cap_reached' then 'The person who invited you has reached the limit of referral credits'
               when 'on_hold' then 'Your credits come after a waiting time'
               when 'not_qualified' then case h.qualify
                 when 'first_run' then 'Your credits come after your first run'
                 else 'Confirm your e-mail address to receive your credits' end
               when 'same_mailbox' then 'Your mailbox had an account before'
               when 'void' then 'The referral code was not valid any more' end)::text
      from (select r.*, s.bonus, s.qualify,
                   case coalesce(referrals.reason_of(r, c.suspended_at is not null), '')
                     when '' then null
                     when 'code_suspended' then 'under_review'
                     when 'code_refreshed' then 'void' when 'self_referral' then 'void' when 'revoked' then 'void'
                     when 'disposable_address' then 'void' when 'account_deleted' then 'void'
                     else referrals.reason_of(r, c.suspended_at is not null) end as reason
              from referrals.setting s, referrals.referral r join referrals.code c on c.id = r.code_id
             where r.referred_account_id = p_account) h);
end $$;

-- What the next friend of an account brings to either side: {"referrer": credits, "referee": credits}. Nothing at the limit.
create function offer(p_account uuid, out referrer int, out referee int) language plpgsql stable as $$
begin
  select greatest(0, least(s.bonus, coalesce(k.cap, s.cap) - coalesce(k.earned, 0))) into referrer
    from referrals.setting s left join referrals.counter k on k.account_id = p_account;
  referee := case when referrer > 0 then (select s.bonus from referrals.setting s) else 0 end;
end $$;

-- A deleted account: its code earns nothing any more, what it waits for becomes void, and addresses that it invited are
-- forgotten. Amounts that were paid stay written down.
create function forget(p_account uuid) returns void language plpgsql as $$
begin
  perform 1 from referrals.code c
   where c.account_id = p_account
      or c.id in (select r.code_id from referrals.referral r where r.referred_account_id = p_account)
   order by c.id for update;
  perform 1 from referrals.referral r
   where (r.referrer_id = p_account or r.referred_account_id = p_account) and r.status = 'pending'
   order by r.id for update;
  update referrals.referral r set void_reason = 'account_deleted', voided_at = clock_timestamp()
   where (r.referrer_id = p_account or r.referred_account_id = p_account) and r.status = 'pending' and r.void_reason is null;
  update referrals.referral r set network = null, domain = null where r.referred_account_id = p_account;
  update referrals.code c set is_active = false, expires_at = least(c.expires_at, now()) where c.account_id = p_account;
  delete from referrals.invitation i where i.account_id = p_account;
  delete from referrals.origin o where o.account_id = p_account;
  delete from referrals.first_run f where f.account_id = p_account;
end $$;
