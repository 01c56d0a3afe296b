// A dedicated PostgreSQL cluster with the default fsync, so that an immediate stop is a realistic crash.
import { execFile, execFileSync } from 'node:child_process';
import { appendFileSync, chownSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

function binDirectory() {
  const root = '/usr/lib/postgresql';
  const versions = readdirSync(root).sort((a, b) => Number(a) - Number(b));
  return path.join(root, versions.at(-1), 'bin');
}

export class Postgres {
  // PostgreSQL refuses to run as root.
  #as = process.getuid() === 0 ? ['setpriv', '--reuid=postgres', '--regid=postgres', '--init-groups'] : [];
  #bin = binDirectory();

  // machine: see links.mjs; if given, the server also listens there on TCP port `port`.
  constructor({ machine, port = 5432 } = {}) {
    Object.assign(this, { machine, port });
    this.dir = mkdtempSync('/tmp/ry-chaos-pg-');
    if (this.#as.length) {
      const id = (flag) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
      chownSync(this.dir, id('-u'), id('-g'));
    }
    this.url = `postgresql://postgres@/postgres?host=${this.dir}&port=${port}`;
  }
  async #run(program, ...args) {
    const [command, ...rest] = [...this.machine?.wrap ?? [], ...this.#as, path.join(this.#bin, program), ...args];
    await run(command, rest, { cwd: '/', maxBuffer: 1 << 24 });
  }
  async make() {
    await this.#run('initdb', '-D', `${this.dir}/data`, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8', '--no-sync');
    if (this.machine) appendFileSync(`${this.dir}/data/pg_hba.conf`, 'host all all samenet trust\nhost replication all samenet trust\n');
    await this.start();
    return this;
  }
  // Recreates the cluster as a streaming replica of `main`, with the application name "standby".
  async follow(main) {
    if (this.up) await this.stop();
    rmSync(`${this.dir}/data`, { recursive: true, force: true });
    await this.#run('pg_basebackup', '-D', `${this.dir}/data`, '-R', '-X', 'stream', '-c', 'fast', '--no-sync',
      '-d', `host=${main.machine.address} port=${main.port} user=postgres application_name=standby`);
    await this.start();
  }
  async promote() { await this.#run('pg_ctl', '-D', `${this.dir}/data`, '-w', '-t', '60', 'promote'); }
  async start() {
    const options = `-c listen_addresses='${this.machine?.address ?? ''}' -c port=${this.port} -c unix_socket_directories='${this.dir}' -c max_connections=250`;
    await this.#run('pg_ctl', '-D', `${this.dir}/data`, '-w', '-t', '60', '-l', `${this.dir}/server.log`, 'start', '-o', options);
    if (this.refusing) await this.machine.listening(true);
    this.refusing = false;
    this.up = true;
  }
  async stop(mode = 'immediate') {
    this.up = false;
    this.refusing = this.machine !== undefined;
    if (this.refusing) await this.machine.listening(false);
    await this.#run('pg_ctl', '-D', `${this.dir}/data`, '-w', '-m', mode, 'stop');
  }
  // Returns rows as arrays of strings.
  async rows(sql) {
    const { stdout } = await run('psql', ['-XqAt', '-F', '\x1f', '-R', '\x1e', '-v', 'ON_ERROR_STOP=1', this.url, '-c', sql], { maxBuffer: 1 << 28 });
    const text = stdout.replace(/\n$/, '');
    return text === '' ? [] : text.split('\x1e').map((row) => row.split('\x1f'));
  }
  async value(sql) { return (await this.rows(sql))[0]?.[0]; }
  async drop() {
    if (this.up) await this.stop().catch(() => {});
    if (!process.env.RY_KEEP) rmSync(this.dir, { recursive: true, force: true });
  }
}
