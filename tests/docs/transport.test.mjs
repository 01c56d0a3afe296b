// Executes the commands of docs/transport.md in each language, up to a tool call through the new transport.
import assert from 'node:assert/strict';
import { execFile, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { bridgeUnix, bridgeWebSocket } from '../e2e/lib/bridge.mjs';
import { node, serverOf } from '../e2e/lib/mcp.mjs';
import { Server, binary, build, makeDatabase, root, waitFor } from '../e2e/lib/server.mjs';
import { block, page, replaced } from './lib.mjs';

const text = page('transport.md');
const everything = [node, serverOf('everything'), 'stdio'];
// The machine's compiler cache, if it has one.
const ccache = (process.env.PATH ?? '').split(':').map((p) => path.join(p, 'ccache')).find((p) => existsSync(p));
let dir, database, server, cached = {};

before(async () => {
  dir = mkdtempSync('/tmp/ry-pigeon-');
  if (ccache) cached = { CMAKE_C_COMPILER_LAUNCHER: ccache, CMAKE_CXX_COMPILER_LAUNCHER: ccache, CCACHE_BASEDIR: dir, CCACHE_NOHASHDIR: '1' };
  const modules = path.join(dir, 'modules');
  mkdirSync(modules);
  for (const file of readdirSync(path.join(build, 'modules')).filter((f) => f.endsWith('.so')))
    symlinkSync(path.join(build, 'modules', file), path.join(modules, file));
  database = makeDatabase();
  server = await new Server({ database, set: [`modules.path=${modules}`] }).start();
  execFileSync('cmake', ['--install', build, '--component', 'sdk', '--prefix', path.join(dir, 'sdk')]);
  // Emulates the paths of an installed server.
  mkdirSync(path.join(server.dir, 'modules.d'));
  writeFileSync(path.join(dir, 'runyard'), `#!/bin/sh
for a; do [ "$a" = --config ] && exec '${binary}' "$@" --set 'modules.path=${modules}' --set 'data_dir=${server.dir}/data' --set 'http.listen=${new URL(server.url).host}'; done
exec '${binary}' "$@"
`, { mode: 0o755 });
});
after(async () => {
  await server?.close();
  database?.drop();
  if (dir) rmSync(dir, { recursive: true, force: true });
});

async function runBlock(title, cwd, pairs) {
  const script = replaced(block(text, title), pairs);
  const env = { ...process.env, PATH: `${dir}:${process.env.PATH}`, CMAKE_PREFIX_PATH: path.join(dir, 'sdk'), ...cached };
  try {
    return (await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], { cwd, env, timeout: 220000 })).stdout;
  } catch (e) {
    throw new Error(`${title}:\n${script}\n${e.stdout}\n${e.stderr}`);
  }
}

// Starts the MCP server of the page at another address; returns a function that stops it and its child processes.
async function serverOfThePage(socket) {
  const script = replaced(block(text, 'server'), [['/run/runyard-demo/pigeon.sock', socket], ['/run/runyard-demo', path.dirname(socket)]]);
  // npx finds the package in this directory without network access.
  const shell = spawn('bash', ['-c', `${script}\nwait`], { cwd: path.join(root, 'tests/e2e'), detached: true, stdio: 'ignore' });
  const exited = new Promise((resolve) => shell.on('exit', resolve));
  await waitFor('the socket', () => existsSync(socket), 20000);
  return async () => {
    process.kill(-shell.pid, 'SIGTERM');
    await exited;
  };
}

for (const [lang, name] of [['c', 'carrier_pigeon'], ['cpp', 'pigeon_cpp'], ['rust', 'pigeon_rust']]) {
  test(`from an empty directory to a tool call, in ${lang}`, { timeout: 450000 }, async () => {
    const cwd = path.join(dir, lang);
    mkdirSync(cwd);
    const made = await runBlock('make', cwd, [['--lang c ', `--lang ${lang} `], ['carrier_pigeon', name]]);
    assert.match(made, new RegExp(`^module *${name} 0\\.1\\.0$`, 'm'));
    const socket = path.join(dir, `${lang}.sock`);
    const peer = lang === 'cpp' ? await bridgeWebSocket(everything) : await bridgeUnix(socket, everything);
    try {
      const at = [['unix:///run/runyard-demo/pigeon.sock', peer.url]];
      assert.match(await runBlock('check', cwd, [['carrier_pigeon', name], ...at]), /^\d+ passed, 0 failed/m);
      const paths = [['/usr/lib/runyard/modules', path.join(dir, 'modules')], ['/etc/runyard/runyard.toml', server.config]];
      await runBlock('install', cwd, [['carrier_pigeon', name], ['/etc/runyard/modules.d', path.join(server.dir, 'modules.d')], ...paths]);
      const call = [['carrier_pigeon', name], ['http://127.0.0.1:8080', server.url], paths[1]];
      assert.match(await runBlock('call', cwd, [...call, ...at]), /Echo: coo/);
      const reloaded = await runBlock('reload', cwd, [['carrier_pigeon', name], ...paths]);
      assert.match(reloaded, new RegExp(`${name}.*(unloaded|still mapped)`), reloaded);
      assert.match(await runBlock('call', cwd, [...call, ...at]), /Echo: coo/);
      if (lang === 'c') {
        const pageSocket = path.join(dir, 'page.sock'), stop = await serverOfThePage(pageSocket);
        try {
          assert.match(await runBlock('call', cwd, [...call, ['/run/runyard-demo/pigeon.sock', pageSocket]]), /Echo: coo/);
        } finally {
          await stop();
        }
      }
    } finally {
      peer.close();
    }
  });
}

test('a missing socket and a file that is not a socket cause different errors', async () => {
  if (process.getuid() !== 0) return;
  const closed = path.join(dir, 'closed.sock');
  const listener = await bridgeUnix(closed, everything);
  const notASocket = path.join(dir, 'no.sock');
  writeFileSync(notASocket, '');
  try {
    const token = server.token({ role: 'admin' });
    for (const [socket, cause] of [[path.join(dir, 'none.sock'), /No such file or directory/], [notASocket, /Connection refused|not a socket/i]]) {
      const r = await fetch(`${server.url}/admin/mcp/call`, { method: 'POST', headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ type: 'carrier_pigeon', config: { url: `unix://${socket}` }, tool: 'echo', arguments: {} }) });
      assert.equal(r.status, 502);
      assert.match(await r.text(), cause);
    }
  } finally {
    listener.close();
  }
});

test('the files that the page mentions exist in the generated project', () => {
  for (const file of ['carrier_pigeon.c', 'session.c']) {
    assert.ok(text.includes(`\`${file}\``));
    assert.ok(existsSync(path.join(dir, 'c/carrier_pigeon', file)), file);
  }
});
