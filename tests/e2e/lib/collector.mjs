// An OpenTelemetry collector that accepts OTLP/HTTP with JSON. It validates requests against the protobuf definition
// in @opentelemetry/otlp-transformer: an unknown field, or one of another type, is recorded in `faults`.
import assert from 'node:assert/strict';
import http from 'node:http';
import { createRequire } from 'node:module';
import path from 'node:path';

const require = createRequire(import.meta.url);
const packageDir = path.dirname(require.resolve('@opentelemetry/otlp-transformer'));
const definition = require(path.join(packageDir, 'generated/root.js'));
const Request = definition.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;

const base64 = (hex, bytes) => {
  assert.match(hex, new RegExp(`^[0-9a-f]{${2 * bytes}}$`));
  return Buffer.from(hex, 'hex').toString('base64');
};

// The JSON mapping of OTLP differs from protobuf's in one respect: trace ids and span ids are hexadecimal.
export function read(body) {
  const json = JSON.parse(body);
  const plain = structuredClone(json);
  for (const r of plain.resourceSpans) for (const s of r.scopeSpans) for (const span of s.spans) {
    span.traceId = base64(span.traceId, 16);
    span.spanId = base64(span.spanId, 8);
    if ('parentSpanId' in span) span.parentSpanId = base64(span.parentSpanId, 8);
  }
  const message = Request.fromObject(plain);
  assert.equal(Request.verify(message), null);
  const decoded = Request.toObject(Request.decode(Request.encode(message).finish()), { bytes: String, longs: String });
  assert.deepEqual(decoded, plain);
  return json;
}

export const attributes = (list) => Object.fromEntries((list ?? []).map(({ key, value }) =>
  [key, 'intValue' in value ? Number(value.intValue) : value.stringValue]));

export async function startCollector({ answer = () => [200, '{}'] } = {}) {
  const seen = [], spans = [], faults = [];
  const server = http.createServer((req, res) => {
    let body = '';
    req.setEncoding('utf8');
    req.on('data', (d) => (body += d));
    req.on('end', () => {
      const [status, text] = answer(seen.length);
      seen.push({ method: req.method, url: req.url, headers: req.headers, body });
      if (status === 200) {
        try {
          for (const r of read(body).resourceSpans) for (const s of r.scopeSpans) for (const span of s.spans)
            spans.push({ ...span, attributes: attributes(span.attributes), resource: attributes(r.resource.attributes) });
        } catch (e) {
          faults.push(e);
        }
      }
      res.writeHead(status, { 'content-type': 'application/json' }).end(text);
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    seen, spans, faults,
    of: (trace) => spans.filter((s) => s.traceId === trace),
    close: () => new Promise((resolve) => { server.closeAllConnections(); server.close(resolve); }),
  };
}
