// Runs the scenario files listed in RY_SCENARIOS (all if it is empty).
import { after, before, describe, test } from 'node:test';
import { load } from './files.mjs';
import { runScenario } from './run.mjs';
import { Environment } from './environment.mjs';

const selected = (process.env.RY_SCENARIOS ?? '').split(',').filter(Boolean);
for (const file of load(import.meta.dirname)) {
  if (selected.length && !selected.includes(file.name)) continue;
  describe(file.name, () => {
    const environment = new Environment(file.server);
    before(() => environment.open());
    after(() => environment.close());
    for (const s of file.scenarios) test(s.name, { timeout: 60000 }, () => runScenario(s, environment));
  });
}
