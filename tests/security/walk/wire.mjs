// An HTTP client on plain sockets: sends requests that HTTP libraries refuse, and reuses connections.
import net from 'node:net';

// With more idle connections the limit per address would be reached, and all further requests would get a 503.
const maxIdle = 20;
const crlf = Buffer.from('\r\n\r\n');
const noBody = (method, status) => method === 'HEAD' || status === 204 || status === 304;

// Collects one response from the bytes of a connection.
class ResponseReader {
  constructor(method) {
    this.method = method;
    this.pending = Buffer.alloc(0);
    this.body = [];
    this.done = false;
    this.remaining = undefined;  // remaining bytes of a body with a length, or of the current chunk
  }
  take(bytes) {
    this.pending = this.pending.length ? Buffer.concat([this.pending, bytes]) : bytes;
    while (!this.done && this.#step());
  }
  end() {
    if (this.status && !this.done && this.framing === 'close') this.done = true;
  }
  get stream() { return this.header('content-type')?.startsWith('text/event-stream') ?? false; }
  header(name) { return this.headers?.find(([k]) => k.toLowerCase() === name)?.[1]; }
  #line() {
    const at = this.pending.indexOf('\r\n');
    if (at < 0) return undefined;
    const line = this.pending.subarray(0, at).toString('latin1');
    this.pending = this.pending.subarray(at + 2);
    return line;
  }
  #step() {
    if (!this.status) return this.#head();
    if (this.framing === 'chunked' && this.remaining === undefined) {
      const line = this.#line();
      if (line === undefined) return false;
      if (line === '') return true;  // the end of the chunk before
      this.remaining = parseInt(line, 16);
      if (Number.isNaN(this.remaining)) throw new Error(`a chunk has the size ${JSON.stringify(line.slice(0, 40))}`);
      if (this.remaining > 0) return true;
      this.framing = 'trailer';
      return true;
    }
    if (this.framing === 'trailer') {
      const line = this.#line();
      if (line === '') this.done = true;
      return line !== undefined;
    }
    if (this.pending.length === 0) return false;
    const piece = this.pending.subarray(0, this.remaining ?? this.pending.length);
    this.pending = this.pending.subarray(piece.length);
    this.body.push(piece);
    if (this.remaining !== undefined) this.remaining -= piece.length;
    if (this.remaining === 0) {
      if (this.framing === 'length') this.done = true;
      else this.remaining = undefined;
    }
    return true;
  }
  #head() {
    const at = this.pending.indexOf(crlf);
    if (at < 0) return false;
    const [first, ...lines] = this.pending.subarray(0, at).toString('latin1').split('\r\n');
    this.pending = this.pending.subarray(at + 4);
    const status = Number(/^HTTP\/1\.[01] (\d{3})(?: |$)/.exec(first)?.[1] ?? NaN);
    if (Number.isNaN(status)) throw new Error(`the status line is ${JSON.stringify(first.slice(0, 80))}`);
    if (status < 200) return true;  // 100 Continue
    this.headers = lines.map((l) => {
      const colon = l.indexOf(':');
      if (colon <= 0 || /\s/.test(l.slice(0, colon))) throw new Error(`a header is ${JSON.stringify(l.slice(0, 80))}`);
      return [l.slice(0, colon), l.slice(colon + 1).trim()];
    });
    this.status = status;
    const length = this.header('content-length');
    if (noBody(this.method, status)) this.done = true;
    else if (/chunked/i.test(this.header('transfer-encoding') ?? '')) this.framing = 'chunked';
    else if (length !== undefined) {
      if (!/^\d+$/.test(length)) throw new Error(`Content-Length is ${JSON.stringify(length)}`);
      this.framing = 'length';
      this.remaining = Number(length);
      this.done = this.remaining === 0;
    } else this.framing = 'close';
    return true;
  }
}

export class WireClient {
  #idle = [];  // {socket, release}
  constructor(url) {
    const { hostname, port } = new URL(url);
    this.at = { host: hostname, port: Number(port) };
  }
  // Sends the bytes of one request. The response: {status, headers, header(name), body, ms}, `stream` if it is an event
  // stream, of which the first `streamMs` are read. `failure` is the reason if there is none. `halfClose`: the request
  // is incomplete and the client closes its side.
  async exchange(bytes, { method, limitMs, streamMs = 300, fresh = false, halfClose = false }) {
    const started = Date.now();
    for (;;) {
      const kept = fresh || halfClose ? undefined : this.#idle.pop()?.release();
      const socket = kept ?? net.connect(this.at).on('error', () => {});
      const out = await this.#onSocket(socket, bytes, { method, limitMs, streamMs, halfClose });
      out.ms = Date.now() - started;
      // The server may close an idle connection at any time: the request was not handled.
      if (kept && out.failure && out.received === 0 && !out.timedOut) continue;
      const reusable = !out.failure && !out.stream && !halfClose && !out.excess && !/close/i.test(out.header('connection') ?? '') && !socket.destroyed;
      if (reusable && this.#idle.length < maxIdle) this.#keep(socket);
      else socket.destroy();
      return out;
    }
  }
  // The server closes connections that are idle for long; such a socket must not be reused.
  #keep(socket) {
    const drop = () => {
      this.#idle = this.#idle.filter((s) => s.socket !== socket);
      socket.destroy();
    };
    this.#idle.push({ socket, release: listen(socket, { data: drop, end: drop, close: drop }) });
  }
  #onSocket(socket, bytes, { method, limitMs, streamMs, halfClose }) {
    return new Promise((resolve) => {
      const reader = new ResponseReader(method);
      let received = 0, streamTimer;
      const finish = (failure, extra) => {
        clearTimeout(timer);
        clearTimeout(streamTimer);
        release();
        const { status, headers = [] } = reader;
        resolve({ failure, received, status, headers, header: (name) => reader.header(name), body: Buffer.concat(reader.body),
          stream: reader.stream, excess: reader.pending.length > 0, ...extra });
      };
      const timer = setTimeout(() => finish(`no complete response within ${limitMs} ms`, { timedOut: true }), limitMs);
      const close = (reason) => {
        reader.end();
        // The server may end a stream at any time, for example when its session ends.
        finish(reader.done || reader.stream ? undefined : reason);
      };
      const release = listen(socket, {
        data: (d) => {
          received += d.length;
          try {
            reader.take(d);
          } catch (e) {
            return finish(`the response cannot be read: ${e.message}`);
          }
          if (reader.done) finish();
          else if (reader.stream) streamTimer ??= setTimeout(() => finish(), streamMs);
        },
        end: () => close(received ? 'the connection was closed within the response' : 'the connection was closed without a response'),
        error: (e) => close(`connection error ${e.code}`),
        close: () => close('the connection was closed'),
      });
      if (halfClose) socket.end(bytes);
      else socket.write(bytes);
    });
  }
  close() { for (const { socket } of this.#idle.splice(0)) socket.destroy(); }
}

// Adds listeners {event: function}; the returned function removes them and returns the socket.
function listen(socket, listeners) {
  for (const [event, f] of Object.entries(listeners)) socket.on(event, f);
  return () => {
    for (const [event, f] of Object.entries(listeners)) socket.off(event, f);
    return socket;
  };
}
