// A client as it should be: starts with a key until it gets a definite answer, reads with resume at
// whichever node answers, stops until it learns how the run ended. It records all events.
import { randomUUID } from 'node:crypto';
import http from 'node:http';
import { sleep } from '../../e2e/lib/server.mjs';

// A node that says nothing for this long is left for another one.
const patience = 4000;
// Longer than the keep-alive of a stream takes to come.
const silence = 11000;

export class ChaosClient {
  // giveUp: a time after which waiting is a failure of the server. longest: milliseconds; a run that has not ended
  // by then counts as hung, however often its answers were begun again.
  constructor({ nodes, random, token, giveUp, longest = 150000 }) {
    Object.assign(this, { nodes, random, token, giveUp, longest });
    this.retries = 0;
  }

  async #node(not) {
    for (;;) {
      const node = this.nodes.any(this.random, not);
      if (node) return node;
      if (Date.now() > this.giveUp) throw new Error('no node is up');
      await sleep(50);
    }
  }
  async #pause(what) {
    this.retries++;
    if (Date.now() > this.giveUp) throw new Error(`${what}: no answer in time`);
    await sleep(this.random.between(50, 250));
  }

  // One request until an answer that is not "try again".
  async ask(method, path, { body, headers = {}, at } = {}) {
    for (;;) {
      const node = at ?? await this.#node();
      let r;
      try {
        r = await fetch(node.url + path, {
          method, body: body?.(), headers: { authorization: `Bearer ${this.token}`, ...headers },
          signal: AbortSignal.timeout(patience),
        });
        const text = await r.text();
        if (r.status < 500 && r.status !== 429) {
          let json;
          try { json = JSON.parse(text); } catch { /* not JSON */ }
          return { status: r.status, json, text, node: node.name };
        }
      } catch { /* the node went away, or is silent */ }
      await this.#pause(`${method} ${path}`);
    }
  }

  // at: a node, when it is not to be any.
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

  // Reads a run to its end. cuts: chance per event to hang up. not: the name of a node that it is not read
  // at while another one is up.
  async read(run, { cuts = 0, onEvent, not } = {}) {
    const log = { run, events: [], connections: 0, answers: [], ended: false };
    const giveUp = Math.min(this.giveUp, Date.now() + this.longest);
    for (let round = 1; ; round++) {
      const node = await this.#node(not);
      const last = log.events.at(-1)?.$id ?? 0;
      const status = await this.#connect(node, log, last, giveUp, { cuts, onEvent });
      if (status !== undefined && status !== 200) log.answers.push(status);
      if (log.ended || (status !== undefined && status !== 200 && status !== 429 && status < 500)) return log;
      if (Date.now() > giveUp) {
        log.gaveUp = `after event ${last}, last at ${node.name}`;
        return log;
      }
      if (status !== 200 || round > 3) await this.#pause(`stream of ${run}`);
    }
  }

  // One connection; resolves when it is over, with the answer's status if there was one.
  #connect(node, log, last, giveUp, { cuts, onEvent }) {
    return new Promise((resolve) => {
      const headers = { authorization: `Bearer ${this.token}` };
      if (last > 0) headers['last-event-id'] = String(last);
      const request = http.get(`${node.url}/agent-run/${log.run}/stream`, { headers, agent: false });
      let status, timer, pending = '', gone = false;
      const leave = () => {
        gone = true;
        clearTimeout(timer);
        request.destroy();
        resolve(status);
      };
      const wait = (ms) => {
        clearTimeout(timer);
        timer = setTimeout(leave, Math.max(0, Math.min(ms, giveUp - Date.now())));
      };
      wait(patience);
      request.on('error', leave);
      request.on('close', leave);
      request.on('response', (response) => {
        status = response.statusCode;
        if (status === 200) log.connections++;
        response.setEncoding('utf8');
        response.on('error', leave);
        response.on('end', leave);
        response.on('data', (text) => {
          if (gone || status !== 200) return;
          wait(silence);
          pending += text;
          for (let end; !gone && (end = pending.indexOf('\n\n')) >= 0; pending = pending.slice(end + 2)) {
            const block = pending.slice(0, end);
            const data = /^data: (.*)$/m.exec(block)?.[1];
            const id = /^id: (\d+)$/m.exec(block)?.[1];
            if (data === undefined || id === undefined) continue;  // ping, server_draining
            const event = { ...JSON.parse(data), $data: data, $id: Number(id), $node: node.name, $at: Date.now() };
            log.events.push(event);
            onEvent?.(event);
            if (event.type === 'status' && event.status !== 'running') log.ended = true;
            // Events after the end would be a fault of the server, so the client keeps reading.
            else if (!log.ended && this.random.chance(cuts)) leave();
          }
        });
      });
    });
  }
}
