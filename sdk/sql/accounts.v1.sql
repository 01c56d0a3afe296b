-- Accounts, see ry/svc/accounts.h. Amounts are micro-credits: 1 credit is 1 000 000.

-- Locks the account's row (FOR UPDATE) until the end of the transaction. No row: unknown account.
-- used by: runs
create function accounts.lock_account(account uuid) returns TABLE(tier text, balance_micro bigint);

-- Locks the row for writers (FOR NO KEY UPDATE) without waiting. tier NULL: the account is unknown or closed, or another session holds its lock.
-- used by: runs
create function accounts.try_lock_account(account uuid, OUT tier text, OUT balance_micro bigint) returns record;

-- The same for several accounts, in the order of the argument.
-- used by: runs
create function accounts.try_lock_accounts(accounts uuid[], OUT tiers text[], OUT balances bigint[]) returns record;

-- The balance without a lock. NULL: unknown account.
-- used by: runs
create function accounts.balance(account uuid) returns bigint;

-- Appends an entry to the ledger and returns the new balance. (kind, ref) is unique: a repetition changes nothing. kind: grant, charge, revoke,
-- referral, adjust. A charge may make the balance negative. Publishes credits.low when the balance crosses a threshold.
-- used by: referrals, runs
create function accounts.ledger_add(account uuid, delta_micro bigint, kind text, ref text, note jsonb DEFAULT '{}'::jsonb) returns bigint;

-- Adds an entry to the audit log of administrators' actions. Raises RY404 for an unknown account.
-- used by: referrals
create function accounts.audit_add(p_actor text, p_action text, p_account uuid, p_detail jsonb) returns void;

-- E-mail address and name; both may be empty. No row: unknown account.
-- used by: notifications, referrals
create function accounts.contact(account uuid) returns TABLE(email text, display_name text, verified boolean);

-- Further data of the profile; both may be empty.
-- used by: notifications
create function accounts.profile(account uuid) returns TABLE(phone text, avatar text);

-- Whether the account's address can become verified: this server verifies addresses, or an identity provider does it for this account.
-- used by: notifications, referrals
create function accounts.can_verify(account uuid) returns boolean;

-- The mailbox of an address: the address without the differences that a provider ignores.
-- used by: referrals
create function accounts.mailbox(p_address text) returns text;

-- Whether the account is the owner of its mailbox, usually the first account with it. True for an account without an address.
-- used by: referrals
create function accounts.owns_mailbox(account uuid) returns boolean;

-- The account with this e-mail address; NULL: none.
-- used by: notifications
create function accounts.find_by_email(email text) returns uuid;

-- The next account ids after the given one, in order, to process all accounts in batches.
-- used by: notifications
create function accounts.ids_after(account uuid, most bigint) returns SETOF uuid;

-- All ledger entries of a kind with their references, for a comparison with the caller's own records. Reads every entry of the kind.
-- used by: referrals
create function accounts.ledger_entries(p_kind text) returns TABLE(ref text, delta_micro bigint);
