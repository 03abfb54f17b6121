// Runs tests of adapters where the package is installed beside the frameworks, as users have it.
//
//   node run.mjs NODE_MODULES TEST...
//
// NODE_MODULES has the frameworks; the tests are named without their endings.

import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const packageFolder = resolve(here, '..');
const [modules, ...tests] = process.argv.slice(2);

/** Copies the package as it would be packed, and the tests beside it. */
function install() {
  const installed = join(modules, 'trunkline');
  rmSync(installed, { recursive: true, force: true });
  mkdirSync(installed);
  const { files } = JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8'));
  for (const name of ['package.json', ...files]) {
    cpSync(join(packageFolder, name), join(installed, name), { recursive: true });
  }
  const beside = join(modules, '..', 'adapter-tests');
  rmSync(beside, { recursive: true, force: true });
  cpSync(here, beside, { recursive: true });
  return beside;
}

const beside = install();
const files = tests.map((name) => join(beside, `${name}.test.mjs`));
const env = { ...process.env, TRUNKLINE_REPOSITORY: resolve(packageFolder, '../..') };
const { status } = spawnSync(process.execPath, ['--test', ...files], { stdio: 'inherit', env });
process.exitCode = status ?? 1;
