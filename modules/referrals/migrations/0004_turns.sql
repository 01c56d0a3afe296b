-- Sign-ups with one code take turns: each one's signals count the referrals before it, also those of the same moment.
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
