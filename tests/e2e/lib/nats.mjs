// A real nats-server with JetStream on a free loopback port with its own store, and a client that implements just
// enough of the text protocol to misbehave.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { freePort, waitFor } from './server.mjs';

export class Nats {
  constructor({ args = [], config = '', jetstream = true } = {}) {
    this.dir = mkdtempSync(path.join(tmpdir(), 'ry-nats-'));
    this.store = path.join(this.dir, 'store');
    writeFileSync(path.join(this.dir, 'nats.conf'), config);
    this.args = ['-c', path.join(this.dir, 'nats.conf'), ...(jetstream ? ['-js', '-sd', this.store] : []), ...args];
  }
  async start() {
    this.port ??= await freePort();
    this.url = `nats://127.0.0.1:${this.port}`;
    // Retried, because another connection may have taken the port in the meantime.
    await waitFor('nats-server', async () => {
      this.process = spawn('nats-server', ['-a', '127.0.0.1', '-p', String(this.port), ...this.args], { stdio: ['ignore', 'ignore', 'pipe'] });
      this.log = '';
      this.process.stderr.on('data', (d) => (this.log += d));
      this.exited = new Promise((resolve) => this.process.on('exit', resolve));
      const ready = () => this.log.includes('Server is ready');
      await waitFor('nats-server to be ready or to exit', () => ready() || this.gone);
      if (this.gone) console.error(this.log);
      return ready();
    }, 60000);
    return this;
  }
  get gone() { return this.process.exitCode !== null || this.process.signalCode !== null; }
  async kill() {
    this.process.kill('SIGKILL');
    await this.exited;
  }
  wipe() { rmSync(this.store, { recursive: true, force: true }); }
  async close() {
    if (!this.gone) await this.kill();
    rmSync(this.dir, { recursive: true, force: true });
  }
}

// publish() sends a message, request() sends one and returns the response. subscribe() adds the messages that others
// publish to `heard`, as {subject, headers, data}.
export async function natsClient(url, options = {}) {
  const { hostname, port } = new URL(url);
  const socket = net.connect({ host: hostname, port, noDelay: true });
  const heard = [];
  let unparsed = Buffer.alloc(0), pongs = 0, requests = 0;
  socket.on('error', () => {});
  socket.on('data', (d) => {
    unparsed = Buffer.concat([unparsed, d]);
    for (;;) {
      const eol = unparsed.indexOf('\r\n');
      if (eol < 0) return;
      const fields = unparsed.subarray(0, eol).toString().split(' ');
      if (fields[0] === 'MSG' || fields[0] === 'HMSG') {
        const size = Number(fields.at(-1)), head = fields[0] === 'HMSG' ? Number(fields.at(-2)) : 0;
        if (unparsed.length < eol + 4 + size) return;
        const all = unparsed.subarray(eol + 2, eol + 2 + size);
        heard.push({ subject: fields[1], headers: all.subarray(0, head).toString(), data: Buffer.from(all.subarray(head)) });
        unparsed = unparsed.subarray(eol + 4 + size);
        continue;
      }
      if (fields[0] === 'PING') socket.write('PONG\r\n');
      if (fields[0] === 'PONG') pongs++;
      unparsed = unparsed.subarray(eol + 2);
    }
  });
  const flush = async () => {
    const pongsBefore = pongs;
    socket.write('PING\r\n');
    await waitFor('a PONG from nats-server', () => pongs > pongsBefore);
  };
  const send = (subject, reply, data, headers) => {
    const head = Buffer.from(headers), bytes = Buffer.from(data);
    const line = headers ? `HPUB ${subject} ${reply}${head.length} ${head.length + bytes.length}` : `PUB ${subject} ${reply}${bytes.length}`;
    socket.write(Buffer.concat([Buffer.from(`${line}\r\n`), head, bytes, Buffer.from('\r\n')]));
  };
  socket.write(`CONNECT ${JSON.stringify({ verbose: false, headers: true, ...options })}\r\n`);
  await flush();
  return {
    heard,
    flush,
    async publish(subject, data, headers = '') {
      send(subject, '', data, headers);
      await flush();
    },
    async subscribe(subject) {
      socket.write(`SUB ${subject} 1\r\n`);
      await flush();
    },
    // Returns the server's response, parsed as JSON.
    async request(subject, data, headers = '') {
      const inbox = `_INBOX.test${++requests}`;
      socket.write(`SUB ${inbox} inbox${requests}\r\n`);
      send(subject, `${inbox} `, data, headers);
      const { data: answer } = await waitFor(`the response to ${subject}`, () => heard.find((m) => m.subject === inbox));
      return JSON.parse(answer.toString());
    },
    close: () => socket.destroy(),
  };
}
