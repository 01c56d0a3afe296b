// A correct client: repeats a start with its idempotency key until the response is definite, reads streams with
// resumption at any node that responds, and repeats a stop until it learns the outcome. It records all events.
import { randomUUID } from 'node:crypto';
import http from 'node:http';
import { sleep } from '../../e2e/lib/server.mjs';

// The event streams that a client can read. path: of the stream of `log.run`. accept: adds one Server-Sent Event to the
// log and returns the event. ends: whether the run has ended. restarts: a new connection begins with the first event.
export const native = {
  path: (log) => `/agent-run/${log.run}/stream`,
  accept(log, block, node) {
    const data = /^data: (.*)$/m.exec(block)?.[1];
    const id = /^id: (\d+)$/m.exec(block)?.[1];
    if (data === undefined || id === undefined) return undefined;  // ping, server_draining
    const event = { ...JSON.parse(data), $data: data, $id: Number(id), $node: node.name, $at: Date.now() };
    log.events.push(event);
    log.last = id;
    return event;
  },
  ends: (event) => event.type === 'status' && event.status !== 'running',
};
const recorded = (log, block) => {
  const data = /^data: (.*)$/m.exec(block)?.[1];
  if (data === undefined) return undefined;
  log.events.push(`${block}\n\n`);
  log.last = /^id: (.*)$/m.exec(block)?.[1] ?? log.last;
  return data === '[DONE]' ? {} : JSON.parse(data);
};
export const agui = {
  path: (log) => `/agui/agents/default/runs/${log.run}?threadId=${log.thread}&runId=${log.run}`,
  accept: recorded,
  ends: (event) => event.type === 'RUN_FINISHED' || event.type === 'RUN_ERROR',
};
export const aisdk = {
  path: (log) => `/aisdk/chat/${log.thread}/stream?runId=${log.run}`,
  accept: recorded,
  ends: (event) => event.messageMetadata?.ended === true,
  restarts: true,
};

// If a node does not respond for this long, the client tries another one.
const responseTimeoutMs = 4000;
// Longer than the keep-alive interval of a stream.
const streamTimeoutMs = 11000;

export class ChaosClient {
  // deadline: time after which waiting counts as a failure of the server. maxRunMs: milliseconds; a run that has not
  // ended by then counts as hung, even if its responses were restarted repeatedly.
  constructor({ nodes, random, token, deadline, maxRunMs = 150000 }) {
    Object.assign(this, { nodes, random, token, deadline, maxRunMs });
    this.retries = 0;
  }

  async #node(avoid) {
    for (;;) {
      const node = this.nodes.any(this.random, avoid);
      if (node) return node;
      if (Date.now() > this.deadline) throw new Error('no node is up');
      await sleep(50);
    }
  }
  async #pause(operation) {
    this.retries++;
    if (Date.now() > this.deadline) throw new Error(`${operation}: no response in time`);
    await sleep(this.random.between(50, 250));
  }

  // Repeats one request until the response is neither 429 nor a server error.
  async ask(method, path, { body, headers = {}, at } = {}) {
    for (;;) {
      const node = at ?? await this.#node();
      let r;
      try {
        r = await fetch(node.url + path, {
          method, body: body?.(), headers: { authorization: `Bearer ${this.token}`, ...headers },
          signal: AbortSignal.timeout(responseTimeoutMs),
        });
        const text = await r.text();
        if (r.status < 500 && r.status !== 429) {
          let json;
          try { json = JSON.parse(text); } catch { /* not JSON */ }
          return { status: r.status, json, text, node: node.name };
        }
      } catch { /* the node exited, or does not respond */ }
      await this.#pause(`${method} ${path}`);
    }
  }

  // at: a specific node; any node if omitted.
  async start(prompt, fields = {}, { at } = {}) {
    const key = randomUUID();
    return await this.ask('POST', '/agent/start', {
      at,
      headers: { 'idempotency-key': key },
      body: () => {
        const form = new FormData();
        for (const [k, v] of Object.entries({ prompt, ...fields })) form.append(k, v);
        return form;
      },
    });
  }
  async stop(run) { return await this.ask('POST', `/agent-run/${run}/stop`); }
  async get(run) { return await this.ask('GET', `/agent-run/${run}`); }

  // Reads a run to its end. cuts: probability per event that the client disconnects. avoid: name of a node that is not
  // used while another one is up.
  async read(run, { cuts = 0, onEvent, avoid, protocol = native, thread } = {}) {
    const log = { run, thread, protocol, events: [], last: undefined, connections: 0, answers: [], ended: false };
    const deadline = Math.min(this.deadline, Date.now() + this.maxRunMs);
    for (let round = 1; ; round++) {
      const node = await this.#node(avoid);
      if (protocol.restarts) Object.assign(log, { events: [], last: undefined });
      const status = await this.#connect(node, log, deadline, { cuts, onEvent });
      if (status !== undefined && status !== 200) log.answers.push(status);
      if (log.ended || (status !== undefined && status !== 200 && status !== 429 && status < 500)) return log;
      if (Date.now() > deadline) {
        log.timedOut = `after event ${log.last}, last at ${node.name}`;
        return log;
      }
      if (status !== 200 || round > 3) await this.#pause(`stream of ${run}`);
    }
  }

  // Opens one connection; resolves when it is closed, with the status of the response if there was one.
  #connect(node, log, deadline, { cuts, onEvent }) {
    return new Promise((resolve) => {
      const headers = { authorization: `Bearer ${this.token}` };
      if (log.last !== undefined) headers['last-event-id'] = log.last;
      const request = http.get(node.url + log.protocol.path(log), { headers, agent: false });
      let status, timer, pending = '', closed = false;
      const disconnect = () => {
        closed = true;
        clearTimeout(timer);
        request.destroy();
        resolve(status);
      };
      const wait = (ms) => {
        clearTimeout(timer);
        timer = setTimeout(disconnect, Math.max(0, Math.min(ms, deadline - Date.now())));
      };
      wait(responseTimeoutMs);
      request.on('error', disconnect);
      request.on('close', disconnect);
      request.on('response', (response) => {
        status = response.statusCode;
        if (status === 200) log.connections++;
        response.setEncoding('utf8');
        response.on('error', disconnect);
        response.on('end', disconnect);
        response.on('data', (text) => {
          if (closed || status !== 200) return;
          wait(streamTimeoutMs);
          pending += text;
          for (let end; !closed && (end = pending.indexOf('\n\n')) >= 0; pending = pending.slice(end + 2)) {
            const block = pending.slice(0, end);
            const event = log.protocol.accept(log, block, node);
            if (event === undefined) continue;
            onEvent?.(event);
            if (log.protocol.ends(event)) log.ended = true;
            // Keeps reading: events after the terminal one would be a defect of the server.
            else if (!log.ended && this.random.chance(cuts)) disconnect();
          }
        });
      });
    });
  }
}
