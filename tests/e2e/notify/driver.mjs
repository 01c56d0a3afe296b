// Runs a driver of notify.orchestrator/1 with the program orchestrator_call.
import { spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';

const build = process.env.RY_BUILD_DIR ?? path.resolve(import.meta.dirname, '../../../build');

export const Result = { accepted: 1, delivered: 2, skipped: 3, retry: 4, retryNew: 5, refused: 6, gone: 7, paused: 8 };
export const Status = { ok: 0, invalid: 3, notFound: 5, permissionDenied: 7, exhausted: 8, unavailable: 14, unauthenticated: 16 };
export const Channel = { email: 1, push: 2, inApp: 4 };

// call({trigger: {...}}) resolves to the result of the call; calls run one after another.
export class Driver {
  constructor(module, settings, { mode = 'staging', folder = 'modules' } = {}) {
    this.child = spawn(path.join(build, 'bin/orchestrator_call'), [path.join(build, folder, `${module}.so`), JSON.stringify(settings), mode],
      { stdio: ['pipe', 'pipe', 'pipe'] });
    this.err = '';
    this.pending = [];
    this.child.stderr.on('data', (c) => (this.err += c));
    createInterface({ input: this.child.stdout }).on('line', (l) => this.pending.shift()?.resolve(JSON.parse(l)));
    this.exited = new Promise((resolve) => this.child.on('close', (code) => {
      for (const w of this.pending.splice(0)) w.reject(new Error(`orchestrator_call exited with ${code}: ${this.err}`));
      resolve(code);
    }));
  }
  call(line) {
    return new Promise((resolve, reject) => {
      this.pending.push({ resolve, reject });
      this.child.stdin.write(JSON.stringify(line) + '\n');
    });
  }
  async close() {
    this.child.stdin.end();
    const code = await this.exited;
    if (code !== 0) throw new Error(`orchestrator_call exited with ${code}: ${this.err}`);
  }
}
