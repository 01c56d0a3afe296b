// Relays in a process of their own: what a link carries does not wait for what the test computes.
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export class Relays {
  #waiting = new Map();
  #messages = 0;
  #relays = 0;

  async #tell(message) {
    if (!this.process) {
      this.process = fork(fileURLToPath(new URL('relays_process.mjs', import.meta.url)), { execArgv: [] });
      this.process.on('message', ({ id, error }) => {
        const { resolve, reject } = this.#waiting.get(id);
        this.#waiting.delete(id);
        error === undefined ? resolve() : reject(new Error(error));
      });
      this.process.on('exit', () => {
        for (const { reject } of this.#waiting.values()) reject(new Error('the relays have ended'));
      });
    }
    const id = ++this.#messages;
    await new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.process.send({ id, ...message });
    });
  }
  // From the address `at` to `to`, {host, port} each; listens.
  async make(at, to) {
    const relay = ++this.#relays;
    const tell = (act, value) => this.#tell({ act, relay, value });
    await this.#tell({ act: 'make', relay, at, to });
    await tell('listen');
    return {
      at,
      listen: () => tell('listen'),
      refuse: () => tell('refuse'),  // connections, until listen(); those that are there stay
      cut: (yes) => tell('cut', yes),
      slow: (ms) => tell('delay', ms),
    };
  }
  close() { this.process?.kill(); }
}
