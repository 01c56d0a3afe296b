// A simulated Messages API of Anthropic: calls the first tool that matches, then repeats its result.
import http from 'node:http';

export async function startAnthropic({ tool, input }) {
  const requests = [];
  const server = http.createServer(async (req, res) => {
    let body = '';
    for await (const piece of req.setEncoding('utf8')) body += piece;
    const request = JSON.parse(body || '{}');
    if (!req.url.startsWith('/v1/messages') || req.url.includes('count_tokens')) {
      res.writeHead(404, { 'content-type': 'application/json' });
      return res.end('{"type":"error","error":{"type":"not_found_error","message":"not found"}}');
    }
    requests.push(request);
    const results = request.messages.flatMap((m) => (Array.isArray(m.content) ? m.content : [])).filter((c) => c.type === 'tool_result');
    const offered = request.tools?.some((t) => t.name === tool);
    const block = offered && !results.length
      ? { type: 'tool_use', id: 'toolu_1', name: tool, input }
      : { type: 'text', text: results.length ? `The tool said: ${JSON.stringify(results.at(-1).content)}` : 'No tool' };
    const message = { id: `msg_${requests.length}`, type: 'message', role: 'assistant', model: request.model, content: [], stop_reason: null, stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 } };
    const stop_reason = block.type === 'tool_use' ? 'tool_use' : 'end_turn';
    if (!request.stream) {
      res.writeHead(200, { 'content-type': 'application/json' });
      return res.end(JSON.stringify({ ...message, content: [block], stop_reason }));
    }
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    const send = (data) => res.write(`event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`);
    send({ type: 'message_start', message });
    send({ type: 'content_block_start', index: 0, content_block: block.type === 'text' ? { type: 'text', text: '' } : { ...block, input: {} } });
    send({ type: 'content_block_delta', index: 0, delta: block.type === 'text' ? { type: 'text_delta', text: block.text } : { type: 'input_json_delta', partial_json: JSON.stringify(block.input) } });
    send({ type: 'content_block_stop', index: 0 });
    send({ type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 1 } });
    send({ type: 'message_stop' });
    res.end();
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${server.address().port}`, requests, close: () => { server.close(); server.closeAllConnections(); } };
}
