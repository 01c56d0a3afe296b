-- E-mail, see ry/svc/mail.h, which describes the arguments.

-- Writes one message to the outbox; it is sent after the commit. Always one row: 'queued', 'duplicate' (a message has this key), 'suppressed' (the
-- recipient unsubscribed or the address bounced) or 'throttled'. Raises RY422 for an invalid address.
-- used by: accounts, notifications, referrals
create function mail.enqueue(category text, address text, subject text, body_text text, body_html text DEFAULT NULL::text, bulk boolean DEFAULT false, key text DEFAULT NULL::text, ttl interval DEFAULT '2 days'::interval) returns TABLE(id uuid, outcome text);
