// Local MCP servers: only allowed programs start, and they cannot read the server's data, configuration or credentials.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { attack, setUp, tearDown } from './lib/attack.mjs';
import { Server, binary, makeDatabase, sleep, waitFor } from './lib/server.mjs';

let database, dir;

setUp(() => {
  database = makeDatabase();
  dir = mkdtempSync(path.join(tmpdir(), 'ry-places-'));
  chmodSync(dir, 0o755);
});
tearDown(() => {
  rmSync(dir, { recursive: true, force: true });
  database?.drop();
});

// Runs a program as an MCP server; returns its standard error and the response of the tool discovery.
async function runProgram(server, script) {
  const admin = await server.user({ role: 'admin' });
  const from = server.log.length;
  const r = await admin.post('/admin/mcp/tools', { json: { type: 'json', config: { command: '/bin/sh', args: ['-c', `{ ${script}; } >&2; exit 3`] } } });
  await sleep(200);
  return { ...r, output: `${r.text} ${server.log.slice(from)}` };
}

attack('in local mode as well, programs need an allow list or the permission of the operator', ['allowed_commands'], async () => {
  const server = await new Server({ database, programs: 'listed' }).start();
  try {
    const user = await server.user();
    const agent = (await user.get('/agents')).json.agents[0].agent_id;
    const r = await user.request('PUT', `/agents/${agent}/custom-mcp-tools`, { json: { custom_mcps: [
      { name: 'x', type: 'json', config: { command: '/bin/sh', args: ['-c', 'echo it runs >&2'] }, enabledTools: [] }] } });
    assert.equal(r.status, 400, r.text);
    assert.match(r.text, /mcp_json\.allowed_commands/);
    const out = await runProgram(server, 'echo it runs $((40+2))');
    assert.doesNotMatch(out.output, /it runs 42/);
  } finally {
    await server.close();
  }
});

attack('responses contain neither the stderr of a program nor its path', ['program_errors'], async () => {
  const server = await new Server({ database }).start();
  try {
    const r = await runProgram(server, 'echo secret-$((40+2)) in $PWD');
    assert.equal(r.status, 502, r.text);
    assert.doesNotMatch(r.text, /secret-42|\/workspace/);
    await waitFor('stderr to be logged', () => server.log.includes('secret-42'));
  } finally {
    await server.close();
  }
});

// If any program may be started, /home, /opt, /root and /srv are mounted: returns one of them that this user may write
// to.
function mountedDirectory() {
  for (const at of ['/opt', '/srv', homedir()]) {
    try {
      const made = mkdtempSync(path.join(at, '.ry-places-'));
      chmodSync(made, 0o755);
      return made;
    } catch { /* not this one */ }
  }
  return undefined;
}

attack('if any program may run, data, configuration and credentials are empty in the sandbox', ['hidden_paths'], { timeout: 120000 }, async (t) => {
  const shown = mountedDirectory();
  if (!shown || !/^\/(home|opt|root|srv)\//.test(shown)) return t.skip('no writable directory that programs can see');
  const asRoot = process.getuid() === 0;
  const home = asRoot ? mkdtempSync('/home/ry-places-') : undefined;
  const server = new Server({ database, dir: shown });
  try {
    // World-readable, so that only the sandbox prevents access, not the file modes.
    const data = path.join(shown, 'data');
    mkdirSync(path.join(data, 'modules'), { recursive: true });
    mkdirSync(path.join(shown, 'modules.d'));
    for (const file of ['data/planted', 'data/modules/planted', 'modules.d/planted.toml', 'beside']) writeFileSync(path.join(shown, file), file === 'beside' ? 'for-everybody' : '# secret-of-the-server\n', { mode: 0o644 });
    symlinkSync(data, path.join(shown, 'link'));
    if (home) {
      chmodSync(home, 0o755);
      mkdirSync(path.join(home, '.ssh'), { mode: 0o755 });
      mkdirSync(path.join(home, '.config/gh'), { recursive: true, mode: 0o755 });
      for (const file of ['.ssh/id', '.netrc', '.config/gh/hosts.yml']) writeFileSync(path.join(home, file), 'secret-of-a-person', { mode: 0o644 });
    }
    await server.start();
    chmodSync(data, 0o755);
    const at = (...p) => path.join(shown, ...p);
    const paths = [at('data/planted'), at('link/planted'), at('data/modules/planted'), at('modules.d/planted.toml'), at('runyard.toml'), ...(home ? ['.ssh/id', '.netrc', '.config/gh/hosts.yml'].map((f) => path.join(home, f)) : [])];
    const out = await runProgram(server, `cat ${at('beside')}; ls -A ${at('data')} ${at('link')}; cat ${paths.join(' ')}; echo x > ${at('data/by-program')}; cat /proc/1/root${at('data/planted')}`);
    assert.match(out.output, /for-everybody/, 'the directory itself is mounted');
    assert.doesNotMatch(out.output, /secret-of/);
    assert.doesNotMatch(out.output, /auth\.key|secrets\.key|workspaces/, 'not even file names are visible');
    assert.doesNotMatch(out.output, /\[deployment\]/);
    assert.equal(existsSync(at('data/by-program')), false);
  } finally {
    await server.close();
    for (const d of [shown, home]) if (d) rmSync(d, { recursive: true, force: true });
  }
});

attack('configured paths must not expose the files of the server', ['hidden_paths'], () => {
  const data = path.join(dir, 'data'), link = path.join(dir, 'link');
  mkdirSync(data, { recursive: true });
  symlinkSync(data, link);
  const config = path.join(dir, 'runyard.toml');
  for (const [key, exposed] of [['readable', data], ['readable', dir], ['readable', '/'], ['writable', path.join(data, 'spool')], ['readable', link], ['readable', config]]) {
    writeFileSync(config, `data_dir = "${data}"\n[modules]\npath = "${path.dirname(binary)}/../modules"\nmcp = { enabled = true }\nmcp_json = { enabled = true }\naccounts = { enabled = true }\nagents = { enabled = true }\nsandbox_bubblewrap = { enabled = true }\nruns = { enabled = true }\n[mcp_json]\nallowed_commands = ["/bin/true"]\n${key} = ["/opt", "${exposed}"]\n`);
    let output = '';
    try {
      output = execFileSync(binary, ['check', '--config', config], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
      assert.fail(`${key} = ${exposed} is accepted: ${output}`);
    } catch (e) {
      if (e.code === 'ERR_ASSERTION') throw e;
      assert.match(`${e.stdout}${e.stderr}`, new RegExp(`mcp_json\\.${key}\\[1\\].*server's own`), `${key} = ${exposed}`);
    }
  }
});
