// A part of the test in a separate process, so that it is not delayed by computations of the test. `file` handles the
// messages in order, with `serve(acts)`.
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export class ChildProcess {
  #waiting = new Map();
  #messages = 0;

  constructor(file) { this.file = file; }
  // Calls the act of that name in the child process and returns its result.
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
      for (const { reject } of this.#waiting.values()) reject(new Error(`${this.file} exited`));
    });
  }
  close() { this.process?.kill(); }
}

export function serve(acts) {
  let previous = Promise.resolve();
  process.on('message', ({ id, act, ...message }) => {
    previous = previous.then(() => acts[act](message))
      .then((value) => ({ value }), (error) => ({ error: error.message }))
      .then((response) => { if (process.connected) process.send({ id, ...response }); });
  });
  process.on('disconnect', () => process.exit());
}
