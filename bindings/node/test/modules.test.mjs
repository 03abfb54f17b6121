// How the package is loaded, and what it is: CommonJS and ES modules, one instance.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { createContext, runInContext } from 'node:vm';
import { execFileSync } from 'node:child_process';

import * as names from '../index.mjs';
import { packageFolder, repository } from '../testing/support.mjs';

const require = createRequire(import.meta.url);
const manifest = require('../package.json');

/** Runs a program in a folder where the package is installed under its name. */
function runInstalled(args) {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-installed-'));
  try {
    mkdirSync(join(folder, 'node_modules'));
    symlinkSync(packageFolder, join(folder, 'node_modules/trunkline'), 'dir');
    return execFileSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe('the package', () => {
  it('is the same whether it is required or imported', () => {
    const required = require('../index.cjs');
    const { default: whole, ...imported } = names;
    assert.equal(whole, required);
    assert.deepEqual({ ...imported }, { ...required });
  });

  it('is found by its name, either way', () => {
    const required = `console.log(typeof require('trunkline').Pool)`;
    assert.equal(runInstalled(['-e', required]), 'function\n');
    const imported = `import { Pool, TrunklineError } from 'trunkline'; console.log(typeof Pool, typeof TrunklineError)`;
    assert.equal(runInstalled(['--input-type=module', '-e', imported]), 'function function\n');
  });

  it('packs its licences and its description, and nothing that is not there', () => {
    for (const name of ['LICENSE-APACHE', 'LICENSE-MIT', 'README.md', 'trunkline.node']) {
      assert.ok(manifest.files.includes(name), name);
    }
    for (const name of manifest.files) assert.ok(existsSync(join(packageFolder, name)), name);
  });

  it('says in its manifest what the workspace says', () => {
    const cargo = readFileSync(join(repository, 'Cargo.toml'), 'utf8');
    assert.match(cargo, new RegExp(`^version = "${manifest.version}"$`, 'm'));
    assert.match(cargo, new RegExp(`^license = "${manifest.license}"$`, 'm'));
    assert.equal(manifest.engines.node, '>=20');
    assert.equal(manifest.dependencies, undefined);
  });
});

/** The package as a test runner loads it that gives each file a realm of its own: its modules in there, the addon from here. */
function inRealmOfItsOwn() {
  const realm = createContext({ process, setImmediate, URL });
  const loaded = new Map();
  const load = (file) => {
    const module = loaded.get(file) ?? { exports: {} };
    if (loaded.has(file)) return module.exports;
    loaded.set(file, module);
    const required = (name) => (name.endsWith('.cjs') ? load(join(dirname(file), name)) : createRequire(file)(name));
    const text = `(function (require, module, __dirname) {${readFileSync(file, 'utf8')}\n})`;
    runInContext(text, realm, { filename: file })(required, module, dirname(file));
    return module.exports;
  };
  return load(join(packageFolder, 'index.cjs'));
}

describe('the package in a realm of its own', () => {
  // SPEC 5.12, 16.2
  it('throws its own errors', async () => {
    const { Pool, TrunklineError } = inRealmOfItsOwn();
    const refused = (path) => (error) => error instanceof TrunklineError && error.detail.path === path;
    assert.throws(() => new Pool({ workers: 0 }), refused('workers'));
    const pool = new Pool({ cache: 'off' });
    const session = pool.session('a', { servers: [] });
    assert.throws(() => pool.explain(5), { name: 'TrunklineError', code: 'TRUNKLINE_INVALID_ARGUMENT' });
    await assert.rejects(session.acquire('nobody'), { name: 'TrunklineError', code: 'TRUNKLINE_NOT_ADMITTED' });
    await pool.close();
    assert.equal(pool.on('tools_changed', () => {}), pool);
  });
});

/** The packages that a module imports, or names to import one of them. */
function packagesIn(file) {
  const text = readFileSync(file, 'utf8');
  const modules = Array.from(text.matchAll(/(?: from |import\()'([@a-z].*?)'|\['(@.*?)'/g), ([, one, other]) => one ?? other);
  const others = modules.filter((name) => !name.startsWith('node:'));
  return others.map((name) => name.split('/', name.startsWith('@') ? 2 : 1).join('/'));
}

describe('what the package works beside', () => {
  const modules = readdirSync(join(packageFolder, 'adapters')).filter((name) => name.endsWith('.mjs'));
  const files = ['otel.mjs', ...modules.map((name) => join('adapters', name))];
  const imported = new Set(files.flatMap((file) => packagesIn(join(packageFolder, file))));

  // SPEC 16.5
  it('is an optional peer, each package that a module of it imports', () => {
    const peers = Object.keys(manifest.peerDependencies ?? {});
    assert.ok(peers.includes('ai'), 'no framework was found');
    assert.deepEqual([...imported].toSorted(), peers.toSorted());
    assert.deepEqual(Object.keys(manifest.peerDependenciesMeta ?? {}).toSorted(), peers.toSorted());
    for (const name of peers) assert.deepEqual(manifest.peerDependenciesMeta[name], { optional: true }, name);
  });

  it('is of the versions that the adapters are tested with', () => {
    const suites = ['adapters', 'node'].map((name) => readFileSync(join(repository, `tests/xtask/src/suites/${name}.rs`), 'utf8'));
    for (const [name, range] of Object.entries(manifest.peerDependencies ?? {})) {
      const ranges = range.split(' || ').map((one) => /^\^(\d+)\.(\d+)\.0$/.exec(one) ?? assert.fail(`${name}: ${range}`));
      const [, tested] = new RegExp(`"${name}@([0-9.]+)"`).exec(suites.join('')) ?? [];
      // Version 2 of the SDK is installed by nothing but the servers of others.
      if (tested === undefined) continue;
      const [ofMajor, ofMinor] = tested.split('.').map(Number);
      const has = ([, major, minor]) => ofMajor === Number(major) && ofMinor >= Number(minor);
      assert.ok(ranges.some(has), `${name}: ${range} has not ${tested}`);
    }
  });
});

describe('the adapters', () => {
  // Here no framework is installed.
  for (const [adapter, wanted] of [['ai', 'ai'], ['langchain', '@langchain/core']]) {
    it(`${adapter} says what it needs`, async () => {
      const message = `trunkline/adapters/${adapter} needs the package ${wanted}: npm install ${wanted}`;
      await assert.rejects(import(`../adapters/${adapter}.mjs`), { message });
    });
  }

  it('sdk needs none, and has an error of the same shape', async () => {
    const { Client, McpError } = await import('../adapters/sdk.mjs');
    assert.equal(typeof Client, 'function');
    const error = new McpError(-32001, 'late', { why: 1 });
    assert.deepEqual([error.name, error.code, error.message, error.data], ['McpError', -32001, 'MCP error -32001: late', { why: 1 }]);
  });

  it('are found by their names, each with its types', () => {
    for (const adapter of ['ai', 'langchain', 'sdk']) {
      const { types, default: module } = manifest.exports[`./adapters/${adapter}`];
      for (const file of [types, module]) assert.ok(existsSync(join(packageFolder, file)), file);
    }
    const imported = `import { Client } from 'trunkline/adapters/sdk'; console.log(typeof Client)`;
    assert.equal(runInstalled(['--input-type=module', '-e', imported]), 'function\n');
  });
});

describe('detect', () => {
  it('lists the settings files that exist: SPEC 10.3', () => {
    const folder = mkdtempSync(join(tmpdir(), 'trunkline-detect-'));
    try {
      mkdirSync(join(folder, '.vscode'));
      writeFileSync(join(folder, '.vscode/mcp.json'), '{}');
      writeFileSync(join(folder, '.mcp.json'), '{}');
      const { v, files } = names.detect(folder);
      assert.equal(v, 1);
      assert.deepEqual(
        files.filter(({ scope }) => scope !== 'user' && scope !== 'managed'),
        [
          { path: join(folder, '.mcp.json'), format: 'claude-code', scope: 'project' },
          { path: join(folder, '.vscode/mcp.json'), format: 'vscode', scope: 'workspace' },
        ],
      );
      assert.ok(names.detect().files);
      assert.throws(() => names.detect(5), { code: 'TRUNKLINE_INVALID_ARGUMENT' });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
