'use strict';
// The native addon: the one that the host names, one that was built in this package, that of the package for this platform, or the
// one that a single executable carries.
//
// The names of modules stand here as they are, since a bundler takes along what it can read. Each stands inside of a `try` of its
// own, where a bundler leaves out what it does not find instead of stopping.

const { mkdtempSync, rmSync, writeFileSync } = require('node:fs');
const { dirname, join } = require('node:path');

/** Under this name a single executable carries the addon, as an asset or beside itself. */
const CARRIED = 'trunkline.node';

/** The addon that was built in the folder of this package. */
function built(causes) {
  try {
    return require('../trunkline.node');
  } catch (cause) {
    causes.push(['in this package', cause]);
  }
}

/** The addon of the package that npm installs for this platform. */
function ofPlatform(causes) {
  const { arch, platform } = process;
  try {
    if (platform === 'linux' && arch === 'x64') return require('trunkline-linux-x64-gnu');
    if (platform === 'linux' && arch === 'arm64') return require('trunkline-linux-arm64-gnu');
    if (platform === 'darwin' && arch === 'arm64') return require('trunkline-darwin-arm64');
    throw new Error('no package has it');
  } catch (cause) {
    causes.push(['in the package for this platform', cause]);
  }
}

/** The asset of a single executable of Node. A system loads addons from files alone, so the asset is a file while it is loaded. */
function ofAsset(causes) {
  let folder;
  try {
    const { getRawAsset, isSea } = require('node:sea');
    if (!isSea()) throw new Error('this is no single executable of Node');
    const bytes = Buffer.from(getRawAsset(CARRIED));
    // The folder is this user's alone.
    folder = mkdtempSync(join(require('node:os').tmpdir(), 'trunkline-'));
    const file = join(folder, CARRIED);
    writeFileSync(file, bytes, { mode: 0o600, flag: 'wx' });
    return opened(file);
  } catch (cause) {
    causes.push(['in an asset of this executable', cause]);
  } finally {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  }
}

/** The file that lies beside a single executable. */
function besideExecutable(causes) {
  try {
    return opened(join(dirname(process.execPath), CARRIED));
  } catch (cause) {
    causes.push(['beside this executable', cause]);
  }
}

/** The addon in a file that no bundler knows of. */
function opened(file) {
  const target = { exports: {} };
  process.dlopen(target, file);
  return target.exports;
}

function load() {
  const named = process.env.TRUNKLINE_ADDON;
  if (named) return opened(named);
  const causes = [];
  // An executable of Node warns of each module that it is asked for and cannot have.
  return ofAsset(causes) ?? built(causes) ?? ofPlatform(causes) ?? besideExecutable(causes) ?? refuse(causes);
}

function refuse(causes) {
  const firstLine = ({ message }) => message.split('\n', 1)[0];
  const tried = causes.map(([place, cause]) => `\n- ${place}: ${firstLine(cause)}`).join('');
  const message =
    `trunkline has no addon for ${process.platform} ${process.arch}. \`npm rebuild trunkline\` builds it, with Rust ` +
    `(https://rustup.rs) and a C compiler; the variable TRUNKLINE_ADDON names one that lies elsewhere. It was looked for${tried}`;
  throw new AggregateError(causes.map(([, cause]) => cause), message);
}

module.exports = load();
