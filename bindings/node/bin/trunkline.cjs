#!/usr/bin/env node
'use strict';
require('../lib/command-line.cjs').main();
