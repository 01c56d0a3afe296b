// Random numbers from a seed, so that a schedule can be repeated.
export function seeded(seed) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  return {
    next,
    between: (low, high) => low + Math.floor(next() * (high - low + 1)),
    chance: (p) => next() < p,
    pick: (list) => list[Math.floor(next() * list.length)],
    // [[weight, value], ...]
    weighted(choices) {
      let at = next() * choices.reduce((sum, [w]) => sum + w, 0);
      for (const [w, value] of choices) if ((at -= w) < 0) return value;
      return choices.at(-1)[1];
    },
    fork: () => seeded(Math.floor(next() * 4294967296)),
  };
}
