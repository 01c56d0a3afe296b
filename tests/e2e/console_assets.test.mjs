// The committed build output of the web console must match its sources.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { root } from './lib/server.mjs';

test('the committed console files match their sources', () => {
  const web = path.join(root, 'modules/console/web');
  const out = mkdtempSync(path.join(tmpdir(), 'ry-console-'));
  try {
    execFileSync(process.execPath, [path.join(web, 'build.mjs'), out]);
    const names = readdirSync(out).sort();
    assert.deepEqual(readdirSync(path.join(web, 'dist')).sort(), names);
    for (const name of names) {
      assert.ok(readFileSync(path.join(out, name)).equals(readFileSync(path.join(web, 'dist', name))),
        `${name} differs: run node modules/console/web/build.mjs`);
    }
  } finally {
    rmSync(out, { recursive: true });
  }
});

test('the console does not use unsafe HTML or code evaluation', () => {
  const web = path.join(root, 'modules/console/web');
  for (const name of readdirSync(path.join(web, 'src'))) {
    const text = readFileSync(path.join(web, 'src', name), 'utf8');
    assert.doesNotMatch(text, /dangerouslySetInnerHTML|innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|\bstyle=/, name);
  }
});
