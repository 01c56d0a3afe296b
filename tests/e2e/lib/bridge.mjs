// Bridges from a Unix socket or WebSocket to a real stdio MCP server: each connection starts a separate child process.
import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import readline from 'node:readline';
import { WebSocketServer } from 'ws';

function startChild(argv, onEnd) {
  const c = spawn(argv[0], argv.slice(1), { stdio: ['pipe', 'pipe', 'ignore'] });
  c.on('error', onEnd);
  c.on('exit', onEnd);
  c.stdin.on('error', () => {});
  return c;
}

// Listens on a Unix socket at `path` and passes the bytes through unchanged.
export async function bridgeUnix(path, argv) {
  const open = new Set();
  const server = net.createServer((socket) => {
    open.add(socket);
    const c = startChild(argv, () => socket.end());
    socket.pipe(c.stdin);
    c.stdout.pipe(socket);
    socket.on('error', () => {});
    socket.on('close', () => { open.delete(socket); c.kill('SIGKILL'); });
  });
  await new Promise((resolve, reject) => server.on('error', reject).listen(path, resolve));
  return { url: `unix://${path}`, open,
    close: () => { for (const s of open) s.destroy(); server.close(); rmSync(path, { force: true }); } };
}

// Listens for WebSockets at /mcp; each line becomes one message. certificate: {key, cert} for TLS.
export async function bridgeWebSocket(argv, seen = [], certificate = undefined) {
  const listener = certificate ? https.createServer(certificate) : http.createServer();
  const server = new WebSocketServer({ server: listener, path: '/mcp', handleProtocols: (p) => (p.has('mcp') ? 'mcp' : false) });
  await new Promise((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const open = server.clients;
  server.on('connection', (socket, request) => {
    seen.push(request.headers);
    const c = startChild(argv, () => socket.close());
    readline.createInterface({ input: c.stdout }).on('line', (line) => socket.send(line));
    socket.on('message', (data, binary) => { if (binary) socket.terminate(); else c.stdin.write(`${data}\n`); });
    socket.on('error', () => {});
    socket.on('close', () => c.kill('SIGKILL'));
  });
  const { port } = listener.address();
  return { url: certificate ? `wss://localhost:${port}/mcp` : `ws://127.0.0.1:${port}/mcp`, port, seen, open,
    close: () => { for (const s of open) s.terminate(); server.close(); listener.close(); } };
}
