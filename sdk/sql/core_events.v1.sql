-- Domain events, see ry/if/events.h: delivered to every consumer at least once if the caller's transaction commits.

-- Publishes one event and returns its id. p_key: the object that it is about; docs/events.md lists kinds and payloads.
-- used by: accounts, mail, notifications, referrals
create function core.event_publish(p_kind text, p_key text, p_payload jsonb) returns bigint;

-- Publishes several events. Returns whether any of them has a consumer.
-- used by: runs
create function core.events_publish(p_kinds text[], p_keys text[], p_payloads jsonb[]) returns boolean;
