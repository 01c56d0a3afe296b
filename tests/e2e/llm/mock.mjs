// A mock model provider from npm: @copilotkit/aimock implements the protocols of both providers. A recording proxy in
// front of it keeps each request as it was received.
import http from 'node:http';
import { LLMock } from '@copilotkit/aimock';

export async function startMock(fixtures, options = {}) {
  const mock = new LLMock({ port: 0, host: '127.0.0.1', logLevel: 'error', chunkSize: 7, ...options });
  for (const f of fixtures) mock.addFixture(f);
  const target = new URL(await mock.start());
  let recorded = [];
  const connections = new Set();
  const server = http.createServer((req, res) => {
    const parts = [];
    req.on('data', (c) => parts.push(c));
    req.on('end', () => {
      const body = Buffer.concat(parts);
      recorded.push({ method: req.method, path: req.url, headers: req.headers, json: body.length ? JSON.parse(body) : null });
      const upstream = http.request({ host: target.hostname, port: target.port, method: req.method, path: req.url, headers: req.headers },
        (response) => { res.writeHead(response.statusCode, response.headers); response.pipe(res); response.on('error', () => setTimeout(() => res.destroy(), 50)); });
      upstream.on('error', () => res.destroy());
      res.on('close', () => { if (!res.writableFinished) upstream.destroy(); });
      upstream.end(body);
    });
  });
  server.on('connection', (s) => connections.add(s));
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    connections,
    // The requests since the last call, oldest first.
    received() { const r = recorded; recorded = []; return r; },
    journal: () => mock.getRequests(),
    // Enables random faults for all later requests; null disables them.
    chaos: (rates) => (rates ? mock.setChaos(rates) : mock.clearChaos()),
    async stop() {
      for (const s of connections) s.destroy();
      await new Promise((resolve) => server.close(resolve));
      await mock.stop();
    },
  };
}
