// Every protection that the attacks in this directory test, and how a test server is started without it:
//   set    settings that disable it, or raise its limit beyond what any attack reaches
//   sql    statements on the test's database after the first start, which replace the protecting function
//   build  a switch of a build with -DRY_TEST_WITHOUT_PROTECTIONS=ON (without_protection.hpp)
// Limits on processes and memory are raised, not removed: the machine must survive the attack.
const build = (name) => ({ build: name });
const set = (...settings) => ({ set: settings });
const sql = (text) => ({ sql: text });

export const protections = {
  // disk
  workspace_bytes: set('sandbox_bubblewrap.workspace_mb=100000', 'runs.account_workspace_bytes.free=107374182400'),
  workspace_files: set('sandbox_bubblewrap.workspace_files=2000000', 'runs.account_workspace_files.free=2000000'),
  account_workspace: set('runs.account_workspace_bytes.free=107374182400'),
  disk_reserve: set('sandbox_bubblewrap.min_free_mb=0'),
  unlinked_files: build('unlinked_files'),
  pending_chunks: build('pending_chunks'),
  prompt_rate: build('prompt_rate'),
  counted_mappings: build('counted_mappings'),
  workspace_depth: build('workspace_depth'),
  workspace_growth: build('workspace_growth'),
  tree_removal: build('tree_removal'),
  quarantine: build('quarantine'),
  held_threads: sql(`create function runs.note_nothing() returns trigger language plpgsql as 'begin return null; end';
    create trigger note_nothing before insert on runs.workspace_copies for each row execute function runs.note_nothing()`),
  special_files: build('special_files'),
  // sandbox
  priority: set('sandbox_bubblewrap.nice=0'),
  processes: set('sandbox_bubblewrap.processes=400'),
  memory: set('sandbox_bubblewrap.memory_mb=8192'),
  open_files: set('sandbox_bubblewrap.open_files=1000'),
  file_size: set('sandbox_bubblewrap.file_mb=512'),
  tmp_size: set('sandbox_bubblewrap.tmp_mb=1024'),
  output_size: set('sandbox_bubblewrap.output_kb=1024'),
  init_limits: build('init_limits'),
  system_calls: build('system_calls'),
  kernel_files: build('kernel_files'),
  // HTTP
  foreign_requests: build('foreign_requests'),
  response_headers: build('response_headers'),
  utf8_paths: build('utf8_paths'),
  address_connections: set('http.limits.address_connections=0'),
  max_connections: set('http.max_connections=20000'),
  descriptors: build('descriptors'),
  unsent_bytes: set('http.limits.account_unsent_bytes=0', 'http.limits.unsent_bytes=0'),
  file_streaming: { ...build('file_streaming'), ...set('http.limits.account_unsent_bytes=0', 'http.limits.unsent_bytes=0') },
  reader_rate: set('http.read_min_rate_bytes=0'),
  upload_count: set('http.limits.account_uploads=0', 'http.limits.uploads=0'),
  upload_space: set('http.limits.account_upload_bytes=0', 'http.limits.upload_bytes=0'),
  upload_rate: set('http.body_min_rate_bytes=0'),
  upload_time: set('http.body_timeout_seconds=3600'),
  // local MCP programs, and addresses that users give
  allowed_commands: set('mcp_json.allow_any_command=true'),
  hidden_paths: build('hidden_paths'),
  program_errors: build('program_errors'),
  own_addresses: build('own_addresses'),
  address_guard: set('deployment.mode=local'),
  lookup_turns: build('lookup_turns'),
  // identity
  setup_code: set('accounts.login.setup_code='),
  mailbox_grant: sql(`create or replace function accounts.mailbox(p_address text) returns text language sql volatile as 'select gen_random_uuid()::text'`),
  throttle: sql(`create or replace function accounts.throttle_take(p_keys text[], p_room bigint[], p_seconds bigint[]) returns int language sql as 'select 0'`),
  refresh_tokens: sql(`create or replace function accounts.trim_refresh_tokens(p_session uuid) returns void language sql as ''`),
  reset_mails: sql(`create or replace function accounts.may_mail_reset(p_account uuid, p_minutes int) returns boolean language sql stable as 'select true'`),
  pending_sign_ups: sql(`create function accounts.keep_one() returns trigger language plpgsql as $$ begin delete from accounts.sign_up where email_key = new.email_key; return new; end $$;
    create trigger keep_one before insert on accounts.sign_up for each row execute function accounts.keep_one()`),
  reset_token_first: build('reset_token_first'),
  hash_turns: build('hash_turns'),
  key_revocation: sql(`create or replace function accounts.revoke_keys(p_actor text, p_account uuid) returns void language sql as ''`),
  session_end: sql(`create or replace function accounts.end_sessions(p_account uuid, p_only uuid, p_but uuid) returns setof uuid language sql as 'select null::uuid where false'`),
  consent_browser: build('consent_browser'),
  warning_pace: build('warning_pace'),
  invited_domain: sql(`create or replace function referrals.domain_of(p_address text) returns text language sql stable as 'select null::text'`),
  referral_alias: build('referral_alias'),
  row_limits: set('agents.max_agents.free=1000', 'agents.versions_kept=1000', 'accounts.tiers.free.api_keys=1000', 'accounts.tiers.pro.api_keys=1000', 'mcp_prebuilt.max_profiles=1000', 'accounts.tiers.free.threads=1000', 'accounts.tiers.free.custom_mcps=1000', 'notifications.tokens_per_provider=100'),
  key_rate: set('accounts.new_api_keys_hour=1000000'),
  inbox_limit: set('notifications.inbox_entries.free=1000', 'notifications.inbox_entries.pro=1000'),
  deployment_warnings: build('deployment_warnings'),
  postgres_user: build('postgres_user'),
};

// The disabled protection; undefined if none.
export const without = process.env.RY_SECURITY_WITHOUT;
if (without !== undefined && !protections[without]) throw new Error(`RY_SECURITY_WITHOUT=${without}: there is no such protection`);
if (protections[without]?.build) process.env.RY_TEST_WITHOUT = protections[without].build;
