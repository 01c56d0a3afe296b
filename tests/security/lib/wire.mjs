// A minimal HTTP client for requests that client libraries cannot make: stalled readers, endless bodies, foreign host
// names.
import { readFileSync } from 'node:fs';
import net from 'node:net';

// Opens a connection that reads only on request. `from`: its local address.
export function connect(url, { from } = {}) {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = net.connect({ host: hostname, port, localAddress: from });
    socket.pause();
    socket.on('error', reject);
    socket.once('connect', () => {
      socket.off('error', reject);
      socket.on('error', () => {});
      resolve(socket);
    });
  });
}

// Reads the status line and headers of the next response; the rest stays unread.
export async function headOf(socket, ms = 15000) {
  let text = '';
  const end = Date.now() + ms;
  while (!text.includes('\r\n\r\n')) {
    const piece = socket.read(1);
    if (piece) { text += piece.toString('latin1'); continue; }
    if (socket.readableEnded || socket.destroyed || Date.now() > end) break;
    await new Promise((r) => setTimeout(r, 5));
  }
  return { status: Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0), text };
}

// Sends one request on a new connection and reads the complete response.
export function ask(url, method, target, { headers = {}, body, from } = {}) {
  return new Promise((resolve, reject) => {
    const { hostname, port, host } = new URL(url);
    const socket = net.connect({ host: hostname, port, localAddress: from });
    let text = '';
    socket.setTimeout(20000, () => socket.destroy(new Error(`no response to ${method} ${target}`)));
    socket.on('error', reject);
    socket.on('data', (d) => { text += d.toString('latin1'); });
    socket.on('close', () => {
      const at = text.indexOf('\r\n\r\n');
      const answer = { status: Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0), head: text.slice(0, at), text: text.slice(at + 4) };
      answer.header = (name) => new RegExp(`^${name}: (.*)$`, 'im').exec(answer.head)?.[1].trim();
      try { answer.json = JSON.parse(answer.text); } catch { answer.json = undefined; }
      resolve(answer);
    });
    const lines = Object.entries({ host, connection: 'close', ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }), ...headers });
    socket.write(`${method} ${target} HTTP/1.1\r\n${lines.map(([k, v]) => `${k}: ${v}\r\n`).join('')}\r\n${body ?? ''}`);
  });
}

// Resident memory of a process in MiB.
export const rss = (pid) => Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024;

export async function metric(url, name) {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1] ?? NaN);
}
