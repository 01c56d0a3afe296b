// Programs with a home directory of their own and without the environment of the caller.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

export function makeHome() {
  const dir = mkdtempSync(path.join(tmpdir(), 'ry-client-'));
  return { dir, remove: () => rmSync(dir, { recursive: true, force: true }) };
}

// Runs a program to its end. Returns its exit code and output.
export async function run(command, args, { home, env = {}, input = '', timeout = 90000 } = {}) {
  const child = spawn(command, args, {
    cwd: home.dir, stdio: ['pipe', 'pipe', 'pipe'], timeout, killSignal: 'SIGKILL',
    env: { PATH: `${path.dirname(process.execPath)}:${process.env.PATH}`, HOME: home.dir, LANG: 'C.UTF-8', NO_COLOR: '1', NO_PROXY: '*', ...env } });
  const out = { stdout: '', stderr: '' };
  child.stdout.on('data', (d) => (out.stdout += d));
  child.stderr.on('data', (d) => (out.stderr += d));
  child.stdin.end(input);
  out.code = await new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  return out;
}
