// A TCP relay whose link can be cut (data is silently held back, no error is reported) or delayed.
import net from 'node:net';

// Maximum number of bytes buffered in one direction before the relay stops reading from the sender.
const maxBuffered = 1 << 20;

// Listens on its own port and forwards connections to `to`.
export class Relay {
  #directions = new Set();
  delay = 0;  // milliseconds in each direction
  cut = false;

  constructor(at, to) { Object.assign(this, { at, to }); }
  async listen() {
    this.server = net.createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
      const upstream = net.connect({ ...this.to, allowHalfOpen: true, noDelay: true });
      this.#forward(client, upstream);
      this.#forward(upstream, client);
    });
    await new Promise((resolve, reject) => this.server.once('error', reject).listen({ ...this.at, backlog: 4096 }, resolve));
    return this.at;
  }
  // New connections are refused until listen(); open ones are kept.
  refuse() { this.server.close(); }
  // Forwards data, end and reset of one direction, in order.
  #forward(from, into) {
    const waiting = [];
    let bytes = 0, timer;
    const flush = () => {
      timer = undefined;
      while (waiting.length && !this.cut) {
        const remaining = waiting[0].at - Date.now();
        if (remaining > 0) { timer = setTimeout(flush, remaining); break; }
        const { data, end } = waiting.shift();
        if (data) { bytes -= data.length; into.write(data); }
        else if (end === 'end') into.end();
        else { into.destroy(); this.#directions.delete(flush); }
      }
      if (bytes < maxBuffered && !into.writableNeedDrain) from.resume();
    };
    const enqueue = (item) => {
      waiting.push({ at: Date.now() + this.delay, ...item });
      if (!timer) flush();
      if (bytes >= maxBuffered || into.writableNeedDrain) from.pause();
    };
    this.#directions.add(flush);
    from.on('data', (data) => { bytes += data.length; enqueue({ data }); });
    from.on('end', () => enqueue({ end: 'end' }));
    from.on('error', () => {});
    from.on('close', () => enqueue({ end: 'close' }));
    into.on('drain', flush);
    this.sockets ??= new Set();
    this.sockets.add(from);
    from.on('close', () => this.sockets.delete(from));
  }
  setCut(on) {
    this.cut = on;
    if (!on) for (const flush of [...this.#directions]) flush();
  }
  close() {
    for (const s of this.sockets ?? []) s.destroy();
    this.server?.close();
  }
}
