// `runyard check` reports all errors of a configuration that `runyard serve` would reject, each with its file and line.
// Needs no database, because an invalid configuration is rejected before the server connects.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { binary, build } from './lib/server.mjs';

let dir;
before(() => { dir = mkdtempSync(path.join(tmpdir(), 'ry-check-')); });
after(() => rmSync(dir, { recursive: true, force: true }));

const modules = (...names) => names.map((n) => `[modules.${n}]\nenabled = true\n`).join('');
const needed = modules('accounts', 'agents', 'runs', 'llm_openai', 'llm_offline');

// Runs a command with `text` appended to three lines of configuration. Returns its exit code and output.
function run(command, text, { env = {}, args = [] } = {}) {
  const file = path.join(dir, 'a.toml');
  writeFileSync(file, `modules.path = "${build}/modules"\ndata_dir = "${dir}/data"\ndatabase.url = "postgresql://nobody@127.0.0.1:1/none"\n${text}`);
  const { status, stdout, stderr } = spawnSync(binary, [command, '--config', file, ...args],
    { encoding: 'utf8', cwd: dir, env: { PATH: process.env.PATH, ...env }, timeout: 120_000 });
  return { status, stdout, stderr: stderr.replaceAll(`${file}:`, 'a.toml:') };
}
// Returns the reported errors with line numbers relative to `text`.
function errors(command, text, more) {
  const { status, stderr } = run(command, text, more);
  assert.equal(status, 2, `${command}: ${stderr}`);
  return stderr.split('\n').filter((l) => l.startsWith('a.toml:'))
    .map((l) => l.replace(/^a\.toml:(\d+)/, (_, n) => `${n - 3}`));
}

test('check and serve reject unknown options of a model provider', () => {
  const text = `[runs.providers.main]
kind = "openai"
[runs.providers.main.options]
stream_usage = true
max_token_field = "max_tokens"
[runs.providers."to/o"]
kind = "offline"
[runs.providers.slow]
kind = "offline"
options = { delay_ms = "long" }
[runs.providers.far]
kind = "openai"
timeout_seconds = 100000
${needed}`;
  for (const command of ['check', 'serve'])
    assert.deepEqual(errors(command, text), [
      `6:17: runs.providers."to/o": must have a name without '/': models are called <provider>/<model>`,
      '5:1: runs.providers.main.options.max_token_field: is not known to the driver; its options are wire, max_tokens_field, stream_usage, send_reasoning, encrypted_reasoning, extra_body, dialect, alternate_roles, max_tools, max_tool_description, output_schema',
      '10:13: runs.providers.slow.options.delay_ms: must be a whole number from 0 to 60000',
      '13:1: runs.providers.far.timeout_seconds: must be a whole number from 1 to 86400',
    ], command);
  assert.equal(run('check', needed).status, 0);
});

test('the errors of all modules are reported together with their lines', () => {
  const text = `[runs]
default_model = "nobody/x"
event_retention = "1s"
[runs.webhooks.a]
url = "ftp://x"
secret = "short"
statuses = ["completed", "done"]
[accounts]
default_tier = "gold"
local_login = true
[notifications]
webhook_secrets = ["short"]
templates_dir = "/nowhere"
[mail]
host = "smtp.example.org"
from = "not an address"
[notify_novu]
base_url = "https://novu.example.org/v1"
${needed}${modules('notifications', 'notify_novu', 'mail')}`;
  for (const command of ['check', 'serve']) {
    const { status, stderr } = run(command, text);
    assert.equal(status, 2, stderr);
    for (const expected of [
      'a.toml:5:1: runs.default_model: "nobody/x" is not a known model',
      'a.toml:6:1: runs.event_retention: must be from 60 to ',
      'a.toml:8:1: runs.webhooks.a.url: must begin with https:// or http://',
      'a.toml:9:1: runs.webhooks.a.secret: must be "whsec_"',
      'a.toml:10:26: runs.webhooks.a.statuses[1]: must be completed, failed or stopped',
      'a.toml:12:1: accounts.default_tier: names no tier of accounts.tiers',
      'a.toml:13:1: accounts.local_login: needs the base URL of the links in e-mails',
      'a.toml:15:20: notifications.webhook_secrets[0]: must be "whsec_"',
      'a.toml:16:1: notifications.templates_dir: /nowhere cannot be read',
      'a.toml:19:1: mail.from: is not a bare e-mail address',
      'a.toml:21:1: notify_novu.base_url must not end in /v1',
    ]) assert.ok(stderr.includes(expected), `${command} does not report: ${expected}\n${stderr}`);
    assert.ok(!stderr.includes('"short"'), 'a secret is printed');
  }
});

test('settings of a disabled module are reported as having no effect', () => {
  const { status, stdout } = run('check', `[mail]\nhots = "typo.example.org"\n[modules.mail]\nenabled = false\n${needed}`);
  assert.equal(status, 0);
  assert.match(stdout, /^note: .*a\.toml:4:2: mail: has no effect and was not checked: the module is not enabled$/m);
  assert.doesNotMatch(run('check', needed).stdout, /note:/);
});
