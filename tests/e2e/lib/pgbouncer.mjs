// A real pgbouncer in transaction mode in front of a test's database. It has few sessions and uses them round-robin, so
// that session state left behind by one transaction becomes visible to others.
import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { freePort, waitFor } from './server.mjs';

export class Pooler {
  constructor(database, { sessions = 4, settings = '' } = {}) {
    this.database = database;
    this.dir = mkdtempSync(path.join(tmpdir(), 'ry-pgbouncer-'));
    chmodSync(this.dir, 0o755);
    this.sessions = sessions;
    this.settings = settings;
  }

  async start() {
    this.port ??= await freePort();
    const { user, name, host } = /\/\/(?<user>[^@]*)@\/(?<name>[^?]*)\?(?:.*&)?host=(?<host>[^&]*)/.exec(this.database.url).groups;
    const ini = path.join(this.dir, 'pgbouncer.ini');
    writeFileSync(ini, `
[databases]
${name} = host=${decodeURIComponent(host)} user=${user} dbname=${name}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${this.port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
server_round_robin = 1
default_pool_size = ${this.sessions}
max_client_conn = 500
${this.settings}
`);
    this.url = `postgresql://${user}@127.0.0.1:${this.port}/${name}`;
    this.log = '';
    const userArgs = process.getuid() === 0 ? ['-u', 'postgres'] : [];  // pgbouncer refuses to run as root
    this.process = spawn('/usr/sbin/pgbouncer', [...userArgs, ini], { stdio: ['ignore', 'ignore', 'pipe'] });
    this.process.stderr.on('data', (d) => (this.log += d));
    this.exited = new Promise((r) => this.process.on('exit', r));
    await waitFor('pgbouncer', () => {
      if (this.process.exitCode !== null) throw new Error(`pgbouncer exited:\n${this.log}`);
      try { return this.sql('select 1'); } catch { return false; }
    });
    return this;
  }

  // Runs one transaction in the next session of the rotation.
  sql(text) {
    return execFileSync('psql', ['-XqAt', '-v', 'ON_ERROR_STOP=1', this.url, '-c', text],
      { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  }

  async stop() {
    if (this.process?.exitCode === null && !this.process.signalCode) this.process.kill('SIGINT');
    await this.exited;
  }
  async kill() {
    this.process.kill('SIGKILL');
    await this.exited;
  }
  async close() {
    await this.kill();
    rmSync(this.dir, { recursive: true, force: true });
  }
}
