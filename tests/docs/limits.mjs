// docs/limits.md: the table that `runyard settings --limits` prints.
//   node tests/docs/limits.mjs > docs/limits.md
import { fileURLToPath } from 'node:url';
import { settings } from './configuration.mjs';

const head = `# Limits

Every resource that an account, an address or a remote server can use has a limit. For each limit, the table names the resource,
the unit that the limit applies to, the setting with its default, the response at the limit, and the metric and alert that report it.
The table is generated from the settings schemas (\`runyard settings --limits\` prints it for the installed modules). Do not edit
it: run \`node tests/docs/limits.mjs > docs/limits.md\`. A test checks that it is up to date.

- Limits with \`tiers.NAME\` in their setting differ by the tier of the account. A custom tier inherits the values of \`free\`.
- HTTP statuses are counted by route in \`runyard_http_requests_total\`. The alerts are in [docs/prometheus](prometheus).
- \`0\` means no limit in \`http.limits\`, \`http.body_timeout_seconds\`, \`http.body_min_rate_bytes\`, \`http.read_min_rate_bytes\`,
  \`database.statement_timeout_seconds\`, \`runs.sandboxes\`, \`runs.account_sandboxes\`, \`sandbox_bubblewrap.min_free_mb\` and
  \`sandbox_bubblewrap.min_available_mb\`. In production, \`runyard check\` warns about such a \`0\`, except in \`runs.sandboxes\`.
- By default, these limits are off: \`http.limits.address_per_minute\`, \`account_per_minute\`, \`account_streams\` and \`runs.sandboxes\`.
  Set them if untrusted users share the server.
- Some limits are fixed. An account has at most 50 sessions; a further log-in ends the oldest. Per e-mail address, at most 4 sign-ups
  of a network and 60 in total are pending; older ones are dropped. Per e-mail address and client address (IPv6: /64),
  the server accepts at most 5 sign-ups and 3 password resets per hour and 10 log-ins per 15 minutes; further attempts get a 429 with \`Retry-After\`.
- Most limits without an alert only reduce what the server stores or what a command can use (older entries are deleted, contents are
  truncated, requests wait, a command cannot allocate more). The exceptions are those whose column "At the limit" names a status.
- The operator configures webhooks (\`runs.webhooks\`, the module \`webhooks\`). In addition, a start can name one webhook for its run (\`webhook_url\`): at most one
  message per run, with at most 16 attempts. Accounts take turns.
- [Security](security.md) describes the limits that require kernel support (control groups), and what is not limited without
  that support. \`runyard check\` and \`/readyz\` report missing support.

`;

export const limits = () => head + settings('--limits');

if (process.argv[1] === fileURLToPath(import.meta.url)) process.stdout.write(limits());
