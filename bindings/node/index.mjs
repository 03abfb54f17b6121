// The same names for `import`: one module instance, whichever way it is loaded.

import trunkline from './index.cjs';

export const {
  CallResult,
  CompletionResult,
  EventStream,
  HostConnection,
  Lease,
  Logs,
  Pool,
  PromptResult,
  Refusal,
  ResourceResult,
  Result,
  Session,
  TrunklineError,
  detect,
  startLogs,
} = trunkline;

export default trunkline;
