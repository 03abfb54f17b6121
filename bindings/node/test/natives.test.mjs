// The addon, its declarations and the registry say the same: SPEC 16.2, 16.5, 16.6.

import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { describe, it } from 'node:test';

import * as names from '../index.mjs';
import { openPool, packageFolder } from '../testing/support.mjs';

const require = createRequire(import.meta.url);
const addon = require('../lib/addon.cjs');
const { registry } = require('../lib/native.cjs');

const read = (path) => readFileSync(join(packageFolder, path), 'utf8');

/** The methods of each class that `native.d.ts` declares. */
function declaredNatives() {
  const classes = read('native.d.ts').matchAll(/^export class (\w+) \{\n([^}]*)\}/gm);
  return Object.fromEntries(
    Array.from(classes, ([, name, body]) => [name, Array.from(body.matchAll(/^ {2}(\w+)\(/gm), ([, method]) => method).sort()]),
  );
}

const isMethod = (name) => name !== 'constructor';

/** What only tests use: it is there to make what does not happen by itself. */
const isOfTests = (name) => name.startsWith('_');

const methodsOf = (native) => Object.getOwnPropertyNames(native.prototype).filter(isMethod).sort();

const declarations = ['index.d.ts', 'events.d.ts', 'options.d.ts', 'reports.d.ts', 'shapes.d.ts', 'status.d.ts'];

/** The body of a declaration of the package. */
function declaration(head) {
  const text = declarations.map(read).join('\n');
  const start = text.indexOf(`export ${head}`);
  assert.ok(start >= 0, head);
  return text.slice(start, text.indexOf('\n\n', start));
}

const optionNames = (body) => Array.from(body.matchAll(/^ {2}(\w+)\??:/gm), ([, name]) => name).sort();

/** The words of a union of the package. */
const declaredWords = (name) => Array.from(declaration(`type ${name}`).matchAll(/'([\w-]+)'/g), ([, word]) => word);

const nodeNames = (rows) => rows.map((row) => row.node).sort();

describe('native.d.ts', () => {
  it('declares what the addon exports', () => {
    const exported = Object.entries(addon).map(([name, value]) => [
      name,
      methodsOf(value),
    ]);
    const declared = Object.entries(declaredNatives()).map(([name, methods]) => [name, methods.filter(isMethod)]);
    assert.deepEqual(Object.fromEntries(exported), Object.fromEntries(declared));
  });

  it('declares nothing that the package does not use', () => {
    const files = [...readdirSync(join(packageFolder, 'lib')).map((name) => `lib/${name}`), 'otel.mjs'];
    const code = files.map(read).join('\n');
    for (const [name, methods] of Object.entries(declaredNatives())) {
      for (const method of methods.filter((name) => isMethod(name) && !isOfTests(name))) {
        const pattern = new RegExp(`(native|bridge|target|pool)\\.${method}\\(`, 'i');
        assert.match(code, pattern, `${name}.${method}`);
      }
    }
  });

  it('is the work of functions that catch panics', () => {
    const files = readdirSync(join(packageFolder, 'src'), { recursive: true });
    const sources = files.filter((name) => name.endsWith('.rs'));
    assert.ok(sources.length > 10, `${sources}`);
    for (const name of sources) {
      const attributes = read(`src/${name}`).matchAll(/#\[napi(\([^)]*\))?\]\n\s*(.*)/g);
      for (const [whole, options = '', next] of attributes) {
        if (next.startsWith('pub fn')) assert.match(options, /catch_unwind/, `${name}: ${whole}`);
      }
    }
  });
});

describe('index.d.ts', () => {
  it('has the names that the package exports', () => {
    const declared = Array.from(read('index.d.ts').matchAll(/^export (?:class|function) (\w+)/gm), ([, name]) => name);
    const { default: whole, ...exported } = names;
    assert.deepEqual(declared.sort(), Object.keys(exported).sort());
    assert.equal(typeof whole, 'object');
  });

  it('has the codes of the registry', () => {
    assert.deepEqual(declaredWords('ErrorCode'), registry.errors.map((row) => row.node_code));
  });

  it('has the events of the registry, with their members', () => {
    const { toCamel } = require('../lib/names.cjs');
    const body = declaration('interface EventPayloads');
    for (const row of registry.events) {
      const line = body.split('\n').find((line) => line.startsWith(`  ${row.type}: `));
      assert.ok(line, row.type);
      const shared = line.match(/: (ListChange|BudgetFigures)\b/);
      const shape = shared ? line + declaration(`interface ${shared[1]}`) : line;
      for (const field of row.payload) {
        const mark = field.required ? '' : '\\?';
        assert.match(shape, new RegExp(`\\b${toCamel(field.name)}${mark}: `), `${row.type}.${field.name}`);
      }
    }
    assert.equal(body.match(/^ {2}\w+: /gm).length, registry.events.length);
  });

  it('has the options of the registry that this version supports', () => {
    const { pool, session, configure, call, acquire, drain, gates, load, reload, status, server } = registry.options;
    const nested = (name) => pool.find((row) => row.name === name).members;
    assert.deepEqual(optionNames(declaration('interface PoolOptions')), nodeNames(pool));
    assert.deepEqual(optionNames(declaration('interface ReconnectOptions')), nodeNames(nested('reconnect')));
    assert.deepEqual(optionNames(declaration('interface BudgetOptions')), nodeNames(nested('budget')));
    assert.deepEqual(optionNames(declaration('interface LimitOptions')), nodeNames(nested('limits')));
    const changeable = nodeNames(configure);
    assert.deepEqual(optionNames(declaration('interface ConfigureOptions')), changeable);
    const fixed = nodeNames(session).filter((name) => name !== 'id' && !changeable.includes(name));
    assert.deepEqual(optionNames(declaration('interface SessionOptions extends ConfigureOptions')), fixed);
    assert.deepEqual(optionNames(declaration('interface CallOptions')), nodeNames(call));
    assert.deepEqual(optionNames(declaration('interface AcquireOptions')), nodeNames(acquire));
    assert.deepEqual(optionNames(declaration('interface DrainOptions')), nodeNames(drain));
    assert.deepEqual(optionNames(declaration('interface GateLists')), nodeNames(gates));
    assert.deepEqual(optionNames(declaration('interface LoadOptions')), nodeNames(load));
    assert.deepEqual(declaredWords('SettingsFormat'), load.find((row) => row.name === 'format').words);
    assert.deepEqual(optionNames(declaration('interface ReloadOptions')), nodeNames(reload));
    assert.deepEqual(optionNames(declaration('interface StatusOptions')), nodeNames(status));
    assert.deepEqual(optionNames(declaration('interface ServerConfig')), server.flatMap(({ spellings }) => spellings).sort());
  });

  it('has the members of a request for approval', async (t) => {
    const { pool, log } = openPool(t, { approvals: 'memory', trusted: true, workspace: process.cwd() });
    pool.setSource('project', { mcpServers: { s: log.server() } });
    const [request] = (await pool.approvals()).requests;
    assert.deepEqual(optionNames(declaration('interface ApprovalRequest')), Object.keys(request).sort());
  });
});
