// Bundles a page with React and serves it on an origin of its own. The part of the URL after # has its options as JSON.
import http from 'node:http';
import path from 'node:path';
import * as esbuild from 'esbuild';

const dir = path.resolve(import.meta.dirname, '..');

export async function startPage(file, port) {
  const { outputFiles } = await esbuild.build({
    entryPoints: [path.join(dir, 'pages', file)], bundle: true, write: false, format: 'esm', splitting: false, jsx: 'automatic', logLevel: 'error', outdir: '/',
    define: { 'process.env.NODE_ENV': '"production"' }, loader: { '.woff': 'dataurl', '.woff2': 'dataurl', '.ttf': 'dataurl' },
  });
  const script = outputFiles.find((f) => f.path.endsWith('.js')).text;
  const server = http.createServer((req, res) => {
    const isScript = req.url === '/app.js';
    res.writeHead(200, { 'content-type': isScript ? 'text/javascript' : 'text/html; charset=utf-8' });
    res.end(isScript ? script : '<!doctype html><title>Chat</title><link rel="icon" href="data:,"><style>html, body, #root { height: 100% }</style><div id="root"></div><script type="module" src="/app.js"></script>');
  });
  await new Promise((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    url: (options) => `http://127.0.0.1:${port}/#${encodeURIComponent(JSON.stringify(options))}`,
    close: () => { server.close(); server.closeAllConnections(); },
  };
}
