// A TCP link that can be cut (nothing arrives, and no error is reported) and made slow.
import net from 'node:net';

// Most bytes that wait in a slow direction before its sender has to wait.
const most = 1 << 20;

// One TCP link, from a port of its own to `to`.
export class Relay {
  #directions = new Set();
  delay = 0;  // milliseconds in each direction
  cut = false;

  constructor(at, to) { Object.assign(this, { at, to }); }
  async listen() {
    this.server = net.createServer({ allowHalfOpen: true, noDelay: true }, (near) => {
      const far = net.connect({ ...this.to, allowHalfOpen: true, noDelay: true });
      this.#carry(near, far);
      this.#carry(far, near);
    });
    await new Promise((resolve, reject) => this.server.once('error', reject).listen({ ...this.at, backlog: 4096 }, resolve));
    return this.at;
  }
  // Connections are refused until listen(); those that are there stay.
  refuse() { this.server.close(); }
  // Bytes, ends and resets of one direction, in order.
  #carry(from, into) {
    const waiting = [];
    let bytes = 0, timer;
    const flush = () => {
      timer = undefined;
      while (waiting.length && !this.cut) {
        const left = waiting[0].at - Date.now();
        if (left > 0) { timer = setTimeout(flush, left); break; }
        const { data, end } = waiting.shift();
        if (data) { bytes -= data.length; into.write(data); }
        else if (end === 'end') into.end();
        else { into.destroy(); this.#directions.delete(flush); }
      }
      if (bytes < most && !into.writableNeedDrain) from.resume();
    };
    const put = (what) => {
      waiting.push({ at: Date.now() + this.delay, ...what });
      if (!timer) flush();
      if (bytes >= most || into.writableNeedDrain) from.pause();
    };
    this.#directions.add(flush);
    from.on('data', (data) => { bytes += data.length; put({ data }); });
    from.on('end', () => put({ end: 'end' }));
    from.on('error', () => {});
    from.on('close', () => put({ end: 'close' }));
    into.on('drain', flush);
    this.sockets ??= new Set();
    this.sockets.add(from);
    from.on('close', () => this.sockets.delete(from));
  }
  setCut(yes) {
    this.cut = yes;
    if (!yes) for (const flush of [...this.#directions]) flush();
  }
  close() {
    for (const s of this.sockets ?? []) s.destroy();
    this.server?.close();
  }
}
