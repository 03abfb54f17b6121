'use strict';
// Which settings files there are.

const { guarded } = require('./errors.cjs');
const { bridge } = require('./native.cjs');

function detect(workspace = '') {
  return JSON.parse(guarded(() => bridge.detect(workspace)));
}

module.exports = { detect };
