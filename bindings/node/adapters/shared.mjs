// What the adapters share: frameworks that may not be installed, and tools that report an error.

/** What `load` imports; where it is not installed, an error that names what to install. */
export async function framework(adapter, name, load) {
  try {
    return await load();
  } catch (error) {
    if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
    const wanted = `trunkline/adapters/${adapter} needs the package ${name}: npm install ${name}`;
    throw new Error(wanted, { cause: error });
  }
}

/** A tool that reports an error. */
export class ToolError extends Error {
  constructor(tool, result) {
    const texts = result.content.filter(({ type }) => type === 'text').map(({ text }) => text);
    super(texts.join('\n') || `${tool} reports an error without a text`);
    this.result = result;
  }

  get name() {
    return 'ToolError';
  }
}

/** The tools of a session's view, or of some of its servers. */
export function toolsOf(session, servers) {
  const wanted = servers === undefined ? undefined : new Set(servers);
  return session.tools().filter(({ server }) => wanted === undefined || wanted.has(server));
}

/** The input schema of a tool; a server may leave it out. */
export function schemaOf({ definition }) {
  return definition.inputSchema ?? { type: 'object', properties: {} };
}

/** The options of one call: those of every call, whose end it hears of, and who is told its progress. */
export function callOptions(options, signal, onProgress) {
  const asked = { ...options };
  if (signal) asked.signal = signal;
  if (onProgress) asked.progress = onProgress;
  return asked;
}
