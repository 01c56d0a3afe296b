// PostgreSQL with a synchronous streaming replica, and failover to it: every commit is on both servers, so no
// acknowledged commit is lost with one of them.
import { waitFor } from '../../e2e/lib/server.mjs';
import { Postgres } from './postgres.mjs';

export class ReplicatedPostgres {
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
  // Makes the other server a replica of the main one, whatever its state.
  async attach() {
    await this.other.follow(this.main);
    await this.main.rows(`alter system set synchronous_standby_names = 'standby'`);
    await this.main.rows('select pg_reload_conf()');
    await waitFor('the replica to be synchronous', async () =>
      (await this.main.value(`select count(*) from pg_stat_replication where sync_state = 'sync'`)) === '1', 60000);
  }
  // The old server accepts no writes any more when the new one is promoted.
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
