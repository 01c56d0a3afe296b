// PostgreSQL with a streaming replica that every commit waits for, and the fail-over to it: what commits is
// on both, so nothing that was answered is lost with one of them.
import { waitFor } from '../../e2e/lib/server.mjs';
import { Postgres } from './postgres.mjs';

export class Pair {
  constructor(network) { this.network = network; }
  async make() {
    this.all = [];
    for (const name of ['postgres0', 'postgres1']) {
      const machine = await this.network.machine(name);
      const server = new Postgres({ machine, port: machine.port() });
      this.all.push(server);
    }
    [this.main, this.other] = this.all;
    await this.main.make();
    await this.attach();
    return this;
  }
  // The other one becomes the replica of the main one, whatever it was.
  async attach() {
    await this.other.follow(this.main);
    await this.main.rows(`alter system set synchronous_standby_names = 'standby'`);
    await this.main.rows('select pg_reload_conf()');
    await waitFor('the replica to be waited for', async () =>
      (await this.main.value(`select count(*) from pg_stat_replication where sync_state = 'sync'`)) === '1', 60000);
  }
  // No client writes to the old server any more when the new one opens.
  async failOver(stopOld = () => this.main.stop('immediate')) {
    await stopOld();
    [this.main, this.other] = [this.other, this.main];
    await this.main.promote();
  }
  async urlFor(machine, options) {
    const hosts = [];
    for (const server of this.all) {
      const { host, port } = await this.network.link(machine, server.machine, { host: server.machine.address, port: server.port }, options);
      hosts.push(`${host}:${port}`);
    }
    return `postgresql://postgres@${hosts.join(',')}/postgres`;
  }
  get up() { return this.main.up; }
  rows(sql) { return this.main.rows(sql); }
  value(sql) { return this.main.value(sql); }
  async drop() { for (const server of this.all ?? []) await server.drop(); }
}
