// docs/limits.md: the table that `runyard settings --limits` prints.
//   node tests/docs/limits.mjs > docs/limits.md
import { fileURLToPath } from 'node:url';
import { settings } from './configuration.mjs';

const head = `# Limits

Every resource that an account, an address or a remote server can use has a limit. This table lists them: what is limited, per
what it is counted, the setting with its default, what a client gets at the limit, and the metric and the alert that show it.
It is made from the schemas of the settings (\`runyard settings --limits\` prints it for the modules that are installed). Do not edit:
\`node tests/docs/limits.mjs > docs/limits.md\` writes it, and a test compares.

- Limits with \`tiers.NAME\` in their setting differ by the tier of the account. A tier of your own starts with the values of \`free\`.
- HTTP statuses are counted by route in \`runyard_http_requests_total\`. The alerts are in [docs/prometheus](prometheus).
- The default \`0\` means no limit. In production \`runyard check\` warns about limits of \`http\` and \`database\` that are off.
- Webhooks have no limit per account: they are settings of the operator (\`runs.webhooks\`, the module \`webhooks\`), and accounts have none.
- [Security](security.md) describes the limits that require kernel support (control groups), and what is not limited without
  it. \`runyard check\` and \`/readyz\` report missing support.

`;

export const limits = () => head + settings('--limits');

if (process.argv[1] === fileURLToPath(import.meta.url)) process.stdout.write(limits());
