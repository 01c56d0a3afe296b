// Servers that the attacks run against, in the mode and without the protection that the environment names:
//   RY_SECURITY_USER=unprivileged   as root, the server is started as the user nobody: sandboxes are user namespaces
//   RY_SECURITY_WITHOUT=NAME        the protection NAME of protections.mjs is off
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
// Of the sandboxes of these servers.
export const confinement = isRoot && !unprivileged ? 'drop_root' : 'user_namespace';

function whyNot() {
  if (!unprivileged) return undefined;
  if (!isRoot) return 'the test without this mode has an unprivileged server already';
  if (!can(...nobody, 'test', '-x', binary, '-a', '-r', path.join(build, 'modules/runs.so'))) return 'the user nobody cannot read the build';
  if (!can(...nobody, 'bwrap', '--unshare-all', '--ro-bind', '/', '/', '--proc', '/proc', 'true')) return 'the user nobody has no user namespaces here';
  return undefined;
}
// Why the tests of this mode cannot run here.
export const unable = whyNot();

export class Server extends AnyServer {
  constructor({ set = [], wrap = [], ...options } = {}) {
    const off = protections[without];
    super({ ...options, set: [...set, ...(off?.set ?? [])], wrap: unprivileged ? [...nobody, ...wrap] : wrap });
    this.off = off;
  }

  async start(options = {}) {
    if (unprivileged) {
      mkdirSync(path.join(this.dir, 'data'), { recursive: true });
      execFileSync('chown', ['-R', '65534:65534', this.dir]);
      const { socket } = this.database ?? {};
      if (socket) await waitFor('the relay', () => existsSync(socket) && (statSync(socket).mode & 0o777) === 0o777);
    }
    await super.start({ timeout: 90000, ...options });
    // Other servers and later starts find it done.
    if (this.off?.sql && !this.database.off) {
      this.database.off = this.off;
      this.database.sql(this.off.sql);
    }
    return this;
  }

  // Also of directories that are deeper than Node.js can remove.
  async close() {
    await this.stop();
    if (this.ownDir && !process.env.RY_KEEP) spawnSync('rm', ['-rf', this.dir]);
  }
}

// Another user may not enter the directory of the socket: connections pass through a relay.
export function makeDatabase() {
  const database = makePlainDatabase();
  if (!unprivileged || unable) return database;
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
