// A part of the test in a process of its own, so that what it does never waits for what the test computes. `file`
// answers each message, in order, with `serve(acts)`.
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export class Apart {
  #waiting = new Map();
  #messages = 0;

  constructor(file) { this.file = file; }
  // What the act of that name returns there.
  async ask(act, message = {}) {
    if (!this.process) this.#start();
    const id = ++this.#messages;
    return await new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.process.send({ id, act, ...message });
    });
  }
  #start() {
    this.process = fork(fileURLToPath(new URL(this.file, import.meta.url)), { execArgv: [] });
    this.process.on('message', ({ id, error, value }) => {
      const { resolve, reject } = this.#waiting.get(id);
      this.#waiting.delete(id);
      error === undefined ? resolve(value) : reject(new Error(error));
    });
    this.process.on('exit', () => {
      for (const { reject } of this.#waiting.values()) reject(new Error(`${this.file} has ended`));
    });
  }
  close() { this.process?.kill(); }
}

export function serve(acts) {
  let before = Promise.resolve();
  process.on('message', ({ id, act, ...message }) => {
    before = before.then(() => acts[act](message))
      .then((value) => ({ value }), (error) => ({ error: error.message }))
      .then((answer) => { if (process.connected) process.send({ id, ...answer }); });
  });
  process.on('disconnect', () => process.exit());
}
