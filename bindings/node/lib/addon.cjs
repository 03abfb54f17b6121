'use strict';
// The native addon: one that was built in this folder, or that of the package for this platform.

const { existsSync } = require('node:fs');
const { join } = require('node:path');

/** The package that carries the addon for this platform, where there is one. */
const carrier = `trunkline-${process.platform}-${process.arch}${process.platform === 'linux' ? '-gnu' : ''}`;

function load() {
  const built = join(__dirname, '../trunkline.node');
  if (existsSync(built)) return require(built);
  try {
    return require(carrier);
  } catch (cause) {
    const message =
      `trunkline has no addon here: the package ${carrier} is missing or does not load, and none was built. ` +
      '`npm rebuild trunkline` builds it, with Rust (https://rustup.rs) and a C compiler';
    throw new Error(message, { cause });
  }
}

module.exports = load();
