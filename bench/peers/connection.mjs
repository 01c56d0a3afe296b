// HTTP over raw sockets for the load generators, so that they cost less than what they measure.
import net from 'node:net';

// One request at a time on a keep-alive connection.
export class Connection {
  async open(port) {
    this.socket = net.connect(port, '127.0.0.1');
    this.socket.setNoDelay(true);
    this.socket.on('data', (b) => this.data(b));
    this.socket.on('close', () => this.fail(new Error('closed')));
    this.socket.on('error', (e) => this.fail(e));
    await new Promise((ok, no) => { this.socket.once('connect', ok); this.socket.once('error', no); });
    return this;
  }
  request(text, onBody) {
    return new Promise((ok, no) => { this.now = { ok, no, onBody, head: null, remaining: -1, body: [] }; this.rest = null; this.socket.write(text); });
  }
  fail(e) { const r = this.now; this.now = null; r?.no(e); }
  end() { const r = this.now; this.now = null; r.ok({ status: r.status, text: Buffer.concat(r.body).toString() }); }
  close() { this.now = null; this.socket.destroy(); }
  data(b) {
    if (this.rest) { b = Buffer.concat([this.rest, b]); this.rest = null; }
    const r = this.now;
    if (!r) return;
    if (r.head === null) {
      const i = b.indexOf('\r\n\r\n');
      if (i < 0) { this.rest = b; return; }
      r.head = b.toString('latin1', 0, i).toLowerCase();
      r.status = Number(r.head.slice(9, 12));
      r.chunked = r.head.includes('transfer-encoding: chunked');
      if (!r.chunked) r.remaining = Number(/content-length: *(\d+)/.exec(r.head)?.[1] ?? 0);
      b = b.subarray(i + 4);
    }
    if (!r.chunked) {
      if (b.length) this.take(r, b);
      if ((r.remaining -= b.length) <= 0) this.end();
      return;
    }
    // Sizes and data of HTTP chunks; the available part of an incomplete chunk is passed on at once.
    for (let at = 0; at < b.length;) {
      if (r.remaining < 0) {
        const e = b.indexOf('\r\n', at);
        if (e < 0) { this.rest = b.subarray(at); return; }
        r.remaining = parseInt(b.toString('latin1', at, e), 16) + 2;
        r.last = r.remaining === 2;
        at = e + 2;
        continue;
      }
      const size = Math.min(r.remaining, b.length - at);
      const text = Math.max(0, Math.min(r.remaining - 2, size));
      if (text > 0) this.take(r, b.subarray(at, at + text));
      at += size;
      if ((r.remaining -= size) === 0) {
        r.remaining = -1;
        if (r.last) return this.end();
      }
    }
  }
  take(r, b) { if (r.onBody) r.onBody(b); else r.body.push(b); }
}

const form = (prompt) => `--b\r\nContent-Disposition: form-data; name="prompt"\r\n\r\n${prompt}\r\n--b--\r\n`;
export const startRequest = (bearer, prompt) => {
  const body = form(prompt);
  return `POST /agent/start HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${bearer}\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
};
export const streamRequest = (bearer, id) => `GET /agent-run/${id}/stream HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${bearer}\r\nAccept: text/event-stream\r\n\r\n`;

function occurrences(haystack, needle) {
  let count = 0;
  for (let i = haystack.indexOf(needle); i >= 0; i = haystack.indexOf(needle, i + 1)) count++;
  return count;
}

// Counts chunks in the received bytes: events that contain `mark` but not `unlike`. `late` receives the milliseconds
// since a stamped chunk was sent.
export function counter({ mark, unlike }, onFirst, late) {
  const out = { n: 0, bytes: 0 };
  let tail = null;
  out.take = (b) => {
    out.bytes += b.length;
    let x = tail ? Buffer.concat([tail, b]) : b;
    const end = x.lastIndexOf('\n\n');
    if (end < 0) { tail = x; return; }
    tail = end + 2 < x.length ? x.subarray(end + 2) : null;
    x = x.subarray(0, end + 2);
    const before = out.n;
    out.n += occurrences(x, mark) - (unlike ? occurrences(x, unlike) : 0);
    if (out.n > before && before === 0) onFirst?.();
    if (late && out.n > before) {
      const now = (performance.timeOrigin + performance.now()) * 1000;
      for (const m of x.toString('latin1').matchAll(/"t(\d{15,17}) "/g)) late.push((now - Number(m[1])) / 1000);
    }
  };
  return out;
}
