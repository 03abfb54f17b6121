// That nothing of the frameworks' own clients is absent here without a word: what they have is there, or is refused with the reason and named on
// the page. What they have is read from their declarations.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';

import ts from 'typescript';
import { tools as aiTools } from 'trunkline/adapters/ai';
import { tools as langchainTools } from 'trunkline/adapters/langchain';
import { Client } from 'trunkline/adapters/sdk';

/** A session that is asked for nothing. */
const SESSION = { acquire: async () => assert.fail('it was acquired'), listed: async () => {}, tools: () => [], toolsFor: () => [] };

/** How something of a framework is asked for here: nothing comes of it where it is taken, else it throws or rejects. */
const memberOfClient = async (name) => {
  const client = new Client(SESSION, 's');
  assert.ok(name in client, `there is no ${name}`);
  if (typeof client[name] !== 'function') return void (client[name] = () => {});
  try {
    await client[name]();
  } catch (error) {
    // Else it is there, and nothing that it could do was asked for.
    if (error.message.startsWith('Client has no')) throw error;
  }
};
const ofSdk = (options) => new Client(SESSION, 's', options);
const ofClient = (name) => ofSdk({ [name]: {} });
const ofRequest = (name) => new Client(SESSION, 's').listTools({}, { [name]: {} });
const ofAi = (name) => aiTools(SESSION, { [name]: {} });
const ofLangchain = (name) => langchainTools(SESSION, { [name]: {} });
const onThePage = (name) => {
  throw Object.assign(new TypeError(`has no ${name}: the page says what takes its place`), { detail: { path: name } });
};

/** A type of a module, how what it has is asked for here, the page, and what is taken. */
const SURFACES = [
  ['@modelcontextprotocol/sdk/client/index.js', 'Client', memberOfClient, 'mcp-typescript'],
  ['@modelcontextprotocol/sdk/client/index.js', 'ClientOptions', ofClient, 'mcp-typescript', ['listChanged', 'enforceStrictCapabilities']],
  ['@modelcontextprotocol/sdk/shared/protocol.js', 'RequestOptions', ofRequest, 'mcp-typescript', ['onprogress', 'signal', 'timeout', 'resetTimeoutOnProgress', 'maxTotalTimeout']],
  ['@modelcontextprotocol/client', 'Client', memberOfClient, 'mcp-typescript'],
  ['@modelcontextprotocol/client', 'ClientOptions', ofClient, 'mcp-typescript', ['listChanged', 'enforceStrictCapabilities']],
  ['@modelcontextprotocol/client', 'RequestOptions', ofRequest, 'mcp-typescript', ['onprogress', 'signal', 'timeout', 'resetTimeoutOnProgress', 'maxTotalTimeout']],
  ['@modelcontextprotocol/client', 'ConnectOptions', ofRequest, 'mcp-typescript', ['onprogress', 'signal', 'timeout', 'resetTimeoutOnProgress', 'maxTotalTimeout']],
  ['@modelcontextprotocol/client', 'CacheableRequestOptions', ofRequest, 'mcp-typescript', ['onprogress', 'signal', 'timeout', 'resetTimeoutOnProgress', 'maxTotalTimeout']],
  ['@modelcontextprotocol/client', 'CallToolRequestOptions', ofRequest, 'mcp-typescript', ['onprogress', 'signal', 'timeout', 'resetTimeoutOnProgress', 'maxTotalTimeout']],
  ['@ai-sdk/mcp', 'MCPClientConfig', ofAi, 'ai-sdk'],
  ['@ai-sdk/mcp', 'NonNullable<Parameters<MCPClient["tools"]>[0]>', ofAi, 'ai-sdk', ['schemas']],
  ['@ai-sdk/mcp', 'NonNullable<MCPClientConfig["initializationOptions"]>', ofAi, 'ai-sdk'],
  ['@ai-sdk/mcp', 'MCPClient', onThePage, 'ai-sdk', ['tools']],
  ['@langchain/mcp-adapters', 'ClientConfig', ofLangchain, 'langchain-js', ['beforeToolCall', 'afterToolCall', 'outputHandling', 'onProgress']],
  ['@langchain/mcp-adapters', 'NonNullable<Parameters<typeof loadMcpTools>[2]>', ofLangchain, 'langchain-js', ['beforeToolCall', 'afterToolCall', 'outputHandling', 'onProgress']],
  ['@langchain/mcp-adapters', 'MultiServerMCPClient', onThePage, 'langchain-js'],
  ['@langchain/mcp-adapters', 'StdioConnection', onThePage, 'langchain-js', ['type', 'command', 'args', 'env', 'cwd']],
  ['@langchain/mcp-adapters', 'StreamableHTTPConnection', onThePage, 'langchain-js', ['type', 'url', 'headers']],
];

/** The public members of each of the types. */
function membersOf(types) {
  // Beside the tests, where the packages are found.
  const file = join(dirname(fileURLToPath(import.meta.url)), 'surface.mts');
  const lines = types.map(([module, type], index) => {
    const names = new Set(Array.from(type.matchAll(/[A-Za-z]\w+(?=\W*)/g), ([name]) => name));
    for (const name of ['NonNullable', 'Parameters', 'typeof', 'tools', 'initializationOptions']) names.delete(name);
    const imported = Array.from(names, (name) => `${name} as ${name}${index}`).join(', ');
    const renamed = type.replaceAll(/[A-Za-z]\w+/g, (name) => (names.has(name) ? `${name}${index}` : name));
    return `import { ${imported} } from '${module}';\nexport type Of${index} = ${renamed};`;
  });
  writeFileSync(file, lines.join('\n'));
  const { Node16: module } = ts.ModuleKind;
  const moduleResolution = ts.ModuleResolutionKind.Node16;
  const program = ts.createProgram([file], { module, moduleResolution, strict: true, skipLibCheck: true, target: ts.ScriptTarget.ES2022, types: [] });
  const checker = program.getTypeChecker();
  const isPublic = (member) => {
    const declaration = member.valueDeclaration ?? member.declarations?.[0];
    const hidden = ts.ModifierFlags.Private | ts.ModifierFlags.Protected;
    return !/^(__)?#/.test(member.name) && !(declaration && ts.getCombinedModifierFlags(declaration) & hidden);
  };
  const exported = checker.getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(file)));
  return exported.map((symbol) => checker.getPropertiesOfType(checker.getDeclaredTypeOfSymbol(symbol)).filter(isPublic).map(({ name }) => name));
}

const members = membersOf(SURFACES);

/** What is amiss with a member: it is passed over, or refused without a word; else nothing. */
async function amiss(name, [, , ask, page, taken = []]) {
  const refusal = await Promise.resolve(name).then(ask).then(() => undefined, (error) => error);
  // A member of a class is there or it is not; an option is taken where the table says so.
  if (refusal === undefined) return ask === memberOfClient || taken.includes(name) ? undefined : 'is passed over';
  if (taken.includes(name)) return undefined;
  if (!new RegExp(`${name}\\b.{10}`).test(refusal.message)) return refusal.message;
  if (ask !== memberOfClient && refusal.detail?.path !== name) return `is refused as ${refusal.detail?.path}`;
  return page.includes(`\`${name}\``) ? undefined : 'is not on the page';
}

// FAULTS P11
for (const [index, surface] of SURFACES.entries()) {
  const [module, type, ask, page, taken] = surface;
  it(`${type} of ${module}: each member is there, or refused with a reason that the page names`, async () => {
    assert.ok(members[index].length > 0, 'nothing was found');
    const text = readFileSync(join(process.env.TRUNKLINE_REPOSITORY, `docs/guide/migrate/${page}.md`), 'utf8');
    const found = await Promise.all(members[index].map(async (name) => [name, await amiss(name, [module, type, ask, text, taken])]));
    assert.deepEqual(found.filter(([, why]) => why !== undefined), []);
  });
}

it('what asks for nothing is taken', async () => {
  for (const options of [{ versionNegotiation: { mode: 'auto' } }, { defaultCacheTtlMs: 0 }, { capabilities: undefined }]) ofSdk(options);
  for (const options of [{ maxRetries: 0 }, { protocolVersionDiscovery: true }, { name: undefined }]) await aiTools(SESSION, options);
  const nothing = { prefixToolNameWithServerName: true, additionalToolNamePrefix: '', useStandardContentBlocks: true, onConnectionError: 'ignore' };
  for (const [name, value] of Object.entries(nothing)) await langchainTools(SESSION, { [name]: value });
});

it('an option that nobody knows is refused as ever', async () => {
  for (const tools of [aiTools, langchainTools]) await assert.rejects(tools(SESSION, { nonsense: 1 }), { code: 'TRUNKLINE_UNKNOWN_OPTION' });
});
