// Builds the native addon with plain cargo and puts it beside the JavaScript files, as `trunkline.node`.
//
//   node build.mjs [--release] [--if-needed]
//
// In the repository it builds the tree; in an installed package the sources that it carries, and `--if-needed` builds only where no addon
// loads. TRUNKLINE_PROFILE names another cargo profile (`dist` is what is shipped); CARGO and CARGO_TARGET_DIR are honoured.

import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, renameSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const carried = join(here, 'source');
const isInstalled = existsSync(carried);
const sources = isInstalled ? carried : here;
const cargo = process.env.CARGO ?? 'cargo';
const isRelease = process.argv.includes('--release');
const profile = process.env.TRUNKLINE_PROFILE || (isRelease ? 'release' : 'dev');

/** Whether there is an addon that loads. */
function isThere() {
  try {
    createRequire(import.meta.url)('./lib/addon.cjs');
    return true;
  } catch {
    return false;
  }
}

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
    cwd: sources,
    encoding: 'utf8',
    maxBuffer: 1 << 26,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return JSON.parse(metadata).target_directory;
}

function build() {
  const options = { cwd: sources, stdio: 'inherit' };
  try {
    execFileSync(cargo, ['build', '--package', 'trunkline-node', '--profile', profile], options);
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
    console.error(`trunkline: there is no addon for ${process.platform} ${process.arch}, and no cargo to build one: https://rustup.rs`);
    process.exit(1);
  }
  const target = targetFolder();
  const addon = join(here, 'trunkline.node');
  // By way of a rename, so that a process that has the old file mapped keeps it.
  copyFileSync(join(target, profile === 'dev' ? 'debug' : profile, libraryName()), `${addon}.new`);
  renameSync(`${addon}.new`, addon);
  console.log(`${addon} (${profile})`);
  // Half a gigabyte that nobody looks for in an installed package.
  if (isInstalled) rmSync(join(carried, 'target'), { recursive: true, force: true });
}

if (!process.argv.includes('--if-needed') || !isThere()) build();
