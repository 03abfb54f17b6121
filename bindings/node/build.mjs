// Builds the native addon with plain cargo and copies it beside the JavaScript files, as `trunkline.node`.
//
//   node build.mjs [--release]
//
// TRUNKLINE_PROFILE names another cargo profile (`dist` is what is shipped); CARGO and CARGO_TARGET_DIR are honoured.

import { execFileSync } from 'node:child_process';
import { copyFileSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const cargo = process.env.CARGO ?? 'cargo';
const isRelease = process.argv.includes('--release');
const profile = process.env.TRUNKLINE_PROFILE || (isRelease ? 'release' : 'dev');

/** What cargo calls the addon's library file on this platform. */
function libraryName() {
  switch (process.platform) {
    case 'win32':
      return 'trunkline_node.dll';
    case 'darwin':
      return 'libtrunkline_node.dylib';
    default:
      return 'libtrunkline_node.so';
  }
}

function targetFolder() {
  const metadata = execFileSync(cargo, ['metadata', '--format-version', '1', '--no-deps', '--offline'], {
    cwd: here,
    encoding: 'utf8',
    maxBuffer: 1 << 26,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return JSON.parse(metadata).target_directory;
}

execFileSync(cargo, ['build', '--package', 'trunkline-node', '--profile', profile], { cwd: here, stdio: 'inherit' });

const built = join(targetFolder(), profile === 'dev' ? 'debug' : profile, libraryName());
const addon = join(here, 'trunkline.node');
// By way of a rename, so that a process that has the old file mapped keeps it.
copyFileSync(built, `${addon}.new`);
renameSync(`${addon}.new`, addon);
console.log(`${addon} (${profile})`);
