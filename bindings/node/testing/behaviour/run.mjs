// The behaviour suite without a test runner, for runtimes other than Node: `bun testing/behaviour/run.mjs`, `deno run -A …`.
//
// It ends by itself, without `process.exit`: what keeps a runtime alive, or crashes it at its end, is a failure too.

import { allCases, runCase } from './case.mjs';

/** Cases at one time: they wait more than they compute. */
const CONCURRENCY = 4;

const waiting = allCases();
let passed = 0;
let failed = 0;

async function runWaiting() {
  for (let behaviour = waiting.shift(); behaviour !== undefined; behaviour = waiting.shift()) {
    try {
      await runCase(behaviour);
      passed += 1;
    } catch (error) {
      failed += 1;
      console.log(`not ok: ${behaviour.name}\n${error.stack}`);
    }
  }
}

await Promise.all(Array.from({ length: CONCURRENCY }, runWaiting));
console.log(`${passed} passed, ${failed} failed`);
if (passed === 0 || failed > 0) process.exitCode = 1;
