// Runs the scenario files that RY_SCENARIOS names (all, when it is empty).
import { after, before, describe, test } from 'node:test';
import { load } from './files.mjs';
import { runScenario } from './run.mjs';
import { World } from './world.mjs';

const wanted = (process.env.RY_SCENARIOS ?? '').split(',').filter(Boolean);
for (const file of load(import.meta.dirname)) {
  if (wanted.length && !wanted.includes(file.name)) continue;
  describe(file.name, () => {
    const world = new World(file.server);
    before(() => world.open());
    after(() => world.close());
    for (const s of file.scenarios) test(s.name, { timeout: 60000 }, () => runScenario(s, world));
  });
}
