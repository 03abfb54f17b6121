'use strict';
// The command line `trunkline`, inside of this process: what the crate `trunkline-cli` does as a program of its own.

const { constants } = require('node:os');

const addon = require('./addon.cjs');

/** Carries out the command line of the process, whose exit code it sets. */
async function main() {
  const native = new addon.NativeCommandLine(['trunkline', ...process.argv.slice(2)]);
  for (const name of ['SIGINT', 'SIGTERM']) {
    const number = constants.signals[name];
    process.on(name, () => native.interrupt(number));
  }
  process.exitCode = await native.run();
}

module.exports = { main };
