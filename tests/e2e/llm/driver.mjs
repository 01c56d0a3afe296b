// Runs LLM drivers with the program driver_call.
import { spawn } from 'node:child_process';
import path from 'node:path';

const build = process.env.RY_BUILD_DIR ?? path.resolve(import.meta.dirname, '../../../build');

// Sends the requests to the driver and returns one response per request.
export async function callDriver(kind, config, requests, { cancelAfter } = {}) {
  const args = [path.join(build, 'modules', `llm_${kind}.so`), JSON.stringify({ kind, ...config })];
  if (cancelAfter) args.push('--cancel-after', String(cancelAfter));
  const child = spawn(path.join(build, 'bin/driver_call'), args, { stdio: ['pipe', 'pipe', 'pipe'] });
  let out = '', err = '';
  child.stdout.on('data', (c) => (out += c));
  child.stderr.on('data', (c) => (err += c));
  child.stdin.end(requests.map((r) => JSON.stringify(r) + '\n').join(''));
  const code = await new Promise((resolve) => child.on('close', resolve));
  if (code !== 0) throw new Error(`driver_call exited with ${code}: ${err}`);
  const responses = [];
  let current = null;
  for (const line of out.trim().split('\n').filter(Boolean)) {
    const e = JSON.parse(line);
    if (e.refused !== undefined) throw new Error(e.refused);
    current ??= { text: '', chunks: 0, reasoning: '', toolCalls: [] };
    if (e.text !== undefined) { current.text += e.text; current.chunks++; }
    if (e.reasoning !== undefined) current.reasoning += e.reasoning;
    if (e.tool_call) current.toolCalls.push(e.tool_call);
    if (e.end) { responses.push({ ...current, end: e.end }); current = null; }
  }
  if (responses.length !== requests.length) throw new Error(`${responses.length} responses to ${requests.length} requests`);
  return responses;
}

export const Status = { ok: 0, cancelled: 1, invalid: 3, deadline: 4, notFound: 5, exhausted: 8, outOfRange: 11, unavailable: 14, dataLoss: 15, unauthenticated: 16 };
export const Finish = { stop: 1, toolCalls: 2, length: 3, filter: 4 };
