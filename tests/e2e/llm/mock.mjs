// A model provider that we did not write: @copilotkit/aimock speaks both protocols. A recorder in front of
// it keeps each request as it came over the wire.
import http from 'node:http';
import { LLMock } from '@copilotkit/aimock';

export async function startMock(fixtures, options = {}) {
  const mock = new LLMock({ port: 0, host: '127.0.0.1', logLevel: 'error', chunkSize: 7, ...options });
  for (const f of fixtures) mock.addFixture(f);
  const target = new URL(await mock.start());
  let seen = [];
  const connections = new Set();
  const server = http.createServer((req, res) => {
    const parts = [];
    req.on('data', (c) => parts.push(c));
    req.on('end', () => {
      const body = Buffer.concat(parts);
      seen.push({ method: req.method, path: req.url, headers: req.headers, json: body.length ? JSON.parse(body) : null });
      const on = http.request({ host: target.hostname, port: target.port, method: req.method, path: req.url, headers: req.headers },
        (answer) => { res.writeHead(answer.statusCode, answer.headers); answer.pipe(res); answer.on('error', () => setTimeout(() => res.destroy(), 50)); });
      on.on('error', () => res.destroy());
      res.on('close', () => { if (!res.writableFinished) on.destroy(); });
      on.end(body);
    });
  });
  server.on('connection', (s) => connections.add(s));
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    connections,
    // The requests since the last call, oldest first.
    received() { const r = seen; seen = []; return r; },
    journal: () => mock.getRequests(),
    // Faults by chance, for all requests from now on; none: no more.
    chaos: (rates) => (rates ? mock.setChaos(rates) : mock.clearChaos()),
    async stop() {
      for (const s of connections) s.destroy();
      await new Promise((resolve) => server.close(resolve));
      await mock.stop();
    },
  };
}
