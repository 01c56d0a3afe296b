// Compares two builds of Runyard, measured alternately with peers.sh (model and load of peers/, one server at a time):
//   node bench/builds.mjs OLD_BUILD_DIR NEW_BUILD_DIR [--rounds 5] [--modes "latency rate chunks idle"]
// Prints the median of each metric of both builds, and the median of the ratios of adjacent rounds with their range.
// The order of the builds changes from round to round, so that drift of the machine does not favour either.
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const argv = process.argv.slice(2);
const option = (name, otherwise) => { const i = argv.indexOf(`--${name}`); return i < 0 ? otherwise : argv.splice(i, 2)[1]; };
const rounds = Number(option('rounds', 5)), modes = option('modes', 'latency rate chunks idle');
const builds = argv.map((dir) => path.resolve(dir));
if (builds.length !== 2) {
  console.error('usage: node bench/builds.mjs OLD_BUILD_DIR NEW_BUILD_DIR [--rounds N] [--modes "latency rate chunks idle"]');
  process.exit(2);
}
const script = path.join(path.dirname(fileURLToPath(import.meta.url)), 'peers.sh');

// {"rate 64 runs_per_s": 2345, ...}: every number of one run of peers.sh, by mode, parameters and name.
function measure(build) {
  const run = spawnSync('bash', [script], { encoding: 'utf8', maxBuffer: 1 << 26,
    env: { ...process.env, RY_BUILD_DIR: build, SERVERS: 'runyard', MODES: modes, ROUNDS: '1' } });
  if (run.status !== 0) throw new Error(`${build}: ${run.stderr}`);
  const metrics = new Map();
  for (const line of run.stdout.split('\n').filter((l) => l.startsWith('{'))) {
    const { server, mode, conc, streams, runs, ...numbers } = JSON.parse(line);
    for (const [name, value] of Object.entries(numbers))
      if (typeof value === 'number') metrics.set([mode, conc ?? streams ?? '', name].join(' '), value);
  }
  return metrics;
}

const median = (list) => [...list].sort((a, b) => a - b)[Math.floor((list.length - 1) / 2)];
const values = [new Map(), new Map()], ratios = new Map();
const add = (map, key, value) => map.set(key, [...(map.get(key) ?? []), value]);
for (let round = 0; round < rounds; round++) {
  const metrics = [];
  for (const index of round % 2 ? [1, 0] : [0, 1]) metrics[index] = measure(builds[index]);
  for (const [name, old] of metrics[0]) {
    if (!metrics[1].has(name)) continue;
    add(values[0], name, old);
    add(values[1], name, metrics[1].get(name));
    if (old !== 0) add(ratios, name, metrics[1].get(name) / old);
  }
  console.error(`round ${round + 1} of ${rounds}`);
}
console.log('| metric | old | new | new/old, median | range |\n|---|---|---|---|---|');
for (const [name, all] of ratios) {
  const range = `${Math.min(...all).toFixed(2)} to ${Math.max(...all).toFixed(2)}`;
  console.log(`| ${name} | ${median(values[0].get(name))} | ${median(values[1].get(name))} | ${median(all).toFixed(3)} | ${range} |`);
}
