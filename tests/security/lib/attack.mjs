// attack(name, protections, [options], body): a test of node:test that fails if one of the named protections is
// disabled. regular(name, [options], body): regular use that must work with the protections enabled.
// lib/protections.mjs lists the protections; tests/security/without_protection disables each and runs its attacks.
import { after, before, test } from 'node:test';
import { protections, without } from './protections.mjs';
import { skipReason } from './server.mjs';

const skip = skipReason ?? false;

export function attack(name, protectedBy, ...rest) {
  for (const p of protectedBy) if (!protections[p]) throw new Error(`${name}: there is no protection ${p}`);
  if (protectedBy.length === 0) throw new Error(`${name}: no protection is named`);
  if (without !== undefined && !protectedBy.includes(without)) return;
  const body = rest.pop();
  test(name, { skip, ...rest[0] }, body);
}

export function regular(name, ...rest) {
  if (without !== undefined) return;
  const body = rest.pop();
  test(name, { skip, ...rest[0] }, body);
}

// Hooks that do nothing if the tests are skipped.
export const setUp = (body) => before(async () => { if (!skip) await body(); });
export const tearDown = (body) => after(async () => { if (!skip) await body(); });
