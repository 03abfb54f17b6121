// Writes docs/reference/typescript.md from the declarations of the package, or says that it is not current.
//
//     node reference.mjs NODE_MODULES [--write]
//
// NODE_MODULES is where the package `typescript` is. A public name without words is an error.

import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const packageFolder = fileURLToPath(new URL('..', import.meta.url));
const repository = fileURLToPath(new URL('../../..', import.meta.url));

const [modules, write] = process.argv.slice(2);
const ts = createRequire(join(resolve(modules), 'x.js'))('typescript');

const FILES = ['index.d.ts', 'options.d.ts', 'events.d.ts', 'reports.d.ts', 'shapes.d.ts', 'status.d.ts', 'otel.d.mts', 'adapters/ai.d.mts', 'adapters/langchain.d.mts', 'adapters/sdk.d.mts'];

const HEAD = `<!-- Written from the declarations of the Node package; do not edit. -->

# TypeScript

Every public name, as the package declares it. [How the parts go together](../guide/node.md) is a page of its own; options are in [their
table](options.md) too, with ranges and defaults, errors in [theirs](errors.md). Durations are integer milliseconds.
`;

const silent = [];

/** The words above a declaration. */
function words(node) {
  const said = ts.getJSDocCommentsAndTags(node).filter(ts.isJSDoc);
  return ts.getTextOfJSDocComment(said.at(-1)?.comment) ?? '';
}

/** A declaration in one line, as it is written but for its words. */
const line = (node, source) => {
  const printer = ts.createPrinter({ removeComments: true });
  return printer.printNode(ts.EmitHint.Unspecified, node, source).replace(/\s+/g, ' ').replace(/;$/, '');
};

/** The members that are called or read, or the choices of a union. */
function* members(node) {
  const type = ts.isTypeAliasDeclaration(node) ? node.type : node;
  for (const member of type.members ?? []) {
    const isPrivate = member.modifiers?.some(({ kind }) => [ts.SyntaxKind.PrivateKeyword, ts.SyntaxKind.ProtectedKeyword].includes(kind));
    const name = member.name && (ts.isIdentifier(member.name) || ts.isStringLiteral(member.name)) ? member.name.text : undefined;
    if (!isPrivate && name !== undefined) yield { name, member };
    else if (ts.isConstructorDeclaration(member) && !isPrivate) yield { name: 'constructor', member };
  }
}

/** The heading of a declaration, and its beginning as a line of code. */
function shown(node, source) {
  if (ts.isTypeAliasDeclaration(node) && [...members(node)].length === 0) return line(node, source);
  if (ts.isFunctionDeclaration(node) || ts.isVariableStatement(node)) return line(node, source);
  const kind = ts.isClassDeclaration(node) ? 'class' : ts.isInterfaceDeclaration(node) ? 'interface' : 'type';
  const parameters = node.typeParameters?.map((parameter) => line(parameter, source)).join(', ');
  const heritage = node.heritageClauses?.map((clause) => line(clause, source)).join(' ') ?? '';
  return `${kind} ${node.name.text}${parameters ? `<${parameters}>` : ''} ${heritage}`.trim();
}

function page() {
  const text = [HEAD];
  for (const file of FILES) {
    const source = ts.createSourceFile(file, readFileSync(join(packageFolder, file), 'utf8'), ts.ScriptTarget.Latest, true);
    text.push(`## ${file.replace(/\.d\.(m?)ts$/, '').replace('index', 'trunkline').replace(/^adapters/, 'trunkline/adapters')}\n`);
    for (const node of source.statements) {
      if (!node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) || node.name === undefined) continue;
      of(node, source, text);
    }
  }
  return `${text.join('\n').trimEnd()}\n`;
}

function of(node, source, text) {
  const name = node.name.text;
  const doc = words(node);
  if (doc === '') silent.push(name);
  text.push(`### ${name}\n`, `\`${shown(node, source)}\`\n`, `${doc}\n`);
  const rows = [];
  for (const { name: member, member: declared } of members(node)) {
    const said = words(declared);
    // What is called has its words; what is read may speak for itself, where its name is the option's, event's or report's.
    if (said === '' && isCalled(declared)) silent.push(`${name}.${member}`);
    rows.push(`- \`${line(declared, source)}\`${said === '' ? '' : `: ${said.replace(/\s+/g, ' ')}`}`);
  }
  if (rows.length > 0) text.push(`${rows.join('\n')}\n`);
}

const isCalled = (member) =>
  (ts.isMethodDeclaration(member) || ts.isMethodSignature(member)) && !['toJSON', 'next', 'return'].includes(member.name.text);

const made = page();
const path = join(repository, 'docs/reference/typescript.md');
if (silent.length > 0) {
  console.error(`public names without words: ${silent.join(', ')}`);
  process.exitCode = 1;
} else if (write === '--write') {
  writeFileSync(path, made);
} else if (readFileSync(path, 'utf8') !== made) {
  console.error(`${path} is not current: write it anew with --write`);
  process.exitCode = 1;
} else {
  console.log('1 passed');
}
