// Servers that are attacked. Environment variables select the mode and the disabled protection:
//   RY_SECURITY_USER=unprivileged   root starts the server as the user nobody: sandboxes are user namespaces
//   RY_SECURITY_WITHOUT=NAME        the protection NAME of protections.mjs is disabled
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Server as AnyServer, binary, build, makeDatabase as makePlainDatabase, waitFor } from '../../e2e/lib/server.mjs';
import { protections, without } from './protections.mjs';

export * from '../../e2e/lib/server.mjs';

const nobody = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', '--'];
const can = (...command) => spawnSync(command[0], command.slice(1)).status === 0;
const isRoot = process.getuid() === 0;
export const unprivileged = process.env.RY_SECURITY_USER === 'unprivileged';
// The kind of sandbox of these servers.
export const confinement = isRoot && !unprivileged ? 'drop_root' : 'user_namespace';

function reasonToSkip() {
  if (!unprivileged) return undefined;
  if (!isRoot) return 'without this mode the server is already unprivileged';
  if (!can(...nobody, 'test', '-x', binary, '-a', '-r', path.join(build, 'modules/runs.so'))) return 'the user nobody cannot read the build';
  if (!can(...nobody, 'bwrap', '--unshare-all', '--ro-bind', '/', '/', '--proc', '/proc', 'true')) return 'the user nobody cannot create user namespaces here';
  return undefined;
}
// The reason why the tests of this mode cannot run here, or undefined.
export const skipReason = reasonToSkip();

export class Server extends AnyServer {
  constructor({ set = [], wrap = [], ...options } = {}) {
    const disabled = protections[without];
    super({ ...options, set: [...set, ...(disabled?.set ?? [])], wrap: unprivileged ? [...nobody, ...wrap] : wrap });
    this.disabled = disabled;
  }

  async start(options = {}) {
    if (unprivileged) {
      mkdirSync(path.join(this.dir, 'data'), { recursive: true });
      execFileSync('chown', ['-R', '65534:65534', this.dir]);
      const { socket } = this.database ?? {};
      if (socket) await waitFor('the relay', () => existsSync(socket) && (statSync(socket).mode & 0o777) === 0o777);
    }
    await super.start({ timeout: 90000, ...options });
    // Runs only once per database, not for other servers and later starts.
    if (this.disabled?.sql && !this.database.disabled) {
      this.database.disabled = this.disabled;
      this.database.sql(this.disabled.sql);
    }
    return this;
  }

  // rm also removes directories that are too deep for Node.js.
  async close() {
    await this.stop();
    if (this.ownDir && !process.env.RY_KEEP) spawnSync('rm', ['-rf', this.dir]);
  }
}

// The user nobody may not enter the directory of the socket, so connections pass through a relay.
export function makeDatabase() {
  const database = makePlainDatabase();
  if (!unprivileged || skipReason) return database;
  const dir = mkdtempSync(path.join(tmpdir(), 'ry-relay-'));
  chmodSync(dir, 0o711);
  const name = '.s.PGSQL.5432', host = decodeURIComponent(/host=([^&]*)/.exec(database.url)[1]);
  const relay = spawn(process.execPath, [path.join(import.meta.dirname, 'relay.mjs'), path.join(dir, name), path.join(host, name)], { stdio: ['pipe', 'ignore', 'inherit'] });
  relay.unref();
  relay.stdin.unref();
  const drop = () => {
    relay.stdin.end();
    database.drop();
    rmSync(dir, { recursive: true, force: true });
  };
  return { ...database, url: database.url.replace(/host=[^&]*/, `host=${encodeURIComponent(dir)}`), drop, socket: path.join(dir, name) };
}
