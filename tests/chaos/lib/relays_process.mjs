// The process of relays.mjs: makes relays and does with them what it is told, in order, and answers each message.
import { Relay } from './relay.mjs';

const relays = new Map();
const acts = {
  make: ({ relay, at, to }) => { relays.set(relay, new Relay(at, to)); },
  listen: ({ relay }) => relays.get(relay).listen(),
  refuse: ({ relay }) => relays.get(relay).refuse(),
  cut: ({ relay, value }) => relays.get(relay).setCut(value),
  delay: ({ relay, value }) => { relays.get(relay).delay = value; },
};
let before = Promise.resolve();
process.on('message', (message) => {
  before = before.then(() => acts[message.act](message))
    .then(() => ({}), (error) => ({ error: error.message }))
    .then((answer) => { if (process.connected) process.send({ id: message.id, ...answer }); });
});
process.on('disconnect', () => process.exit());
