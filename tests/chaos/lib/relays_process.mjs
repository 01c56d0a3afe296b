// The process of relays.mjs.
import { serve } from './child_process.mjs';
import { Relay } from './relay.mjs';

const relays = new Map();
serve({
  make: ({ relay, at, to }) => { relays.set(relay, new Relay(at, to)); },
  listen: async ({ relay }) => { await relays.get(relay).listen(); },
  refuse: ({ relay }) => relays.get(relay).refuse(),
  cut: ({ relay, value }) => relays.get(relay).setCut(value),
  delay: ({ relay, value }) => { relays.get(relay).delay = value; },
});
