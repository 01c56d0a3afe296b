-- What people see of their referrals, as JSON.
create function stats(p_account uuid) returns text language plpgsql stable as $$
declare
  v_cap int;
begin
  select s.cap into v_cap from referrals.setting s;
  return (
    select json_build_object(
             'referral_code', (select c.code from referrals.code c where c.account_id = p_account and c.is_active),
             'total_referrals', n.total, 'successful_referrals', n.successful,
             'total_credits_earned', coalesce(k.earned - k.revoked, 0),
             'remaining_earnable_credits', greatest(0, coalesce(k.cap, v_cap) - coalesce(k.earned, 0)),
             'max_earnable_credits', coalesce(k.cap, v_cap),
             'has_reached_limit', coalesce(k.earned, 0) >= coalesce(k.cap, v_cap),
             'last_referral_at', referrals.iso_time(n.last_at),
             'revoked_credits', coalesce(k.revoked, 0))::text
      from (select count(*) as total, max(r.referred_at) as last_at,
                   count(*) filter (where r.status = 'successful' and r.void_reason is null) as successful
              from referrals.referral r where r.referrer_id = p_account) n
      left join referrals.counter k on k.account_id = p_account);
end $$;

-- Why a referral has not earned; null: it has.
create function reason_of(r referrals.referral, p_suspended boolean) returns text language sql immutable as $$
  select case when r.void_reason is not null then r.void_reason
              when r.status = 'successful' then null
              when r.review = 'flagged' then 'under_review'
              when r.cap_reached then 'cap_reached'
              when p_suspended then 'code_suspended'
              when r.qualified_at is null then 'not_qualified'
              else 'on_hold' end
$$;

create function history(p_account uuid, p_limit bigint, p_offset bigint) returns text
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
