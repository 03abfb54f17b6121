// The same names for `import`: one module instance, whichever way it is loaded.

import trunkline from './index.cjs';

export const {
  CallResult,
  CompletionResult,
  EventStream,
  HostConnection,
  Lease,
  Pool,
  PromptResult,
  Refusal,
  ResourceResult,
  Result,
  Session,
  TrunklineError,
  detect,
} = trunkline;

export default trunkline;
