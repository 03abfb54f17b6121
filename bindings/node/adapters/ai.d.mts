// Types of trunkline/adapters/ai.

import type { ToolSet } from 'ai';
import type { CallOptions, CallResult, EventOf, Session, Shape } from '../index.mjs';

/** A tool that reports an error. The SDK shows it to the model as the error of the call. */
export class ToolError extends Error {
  private constructor();
  readonly name: 'ToolError';
  /** What the server sent. */
  readonly result: CallResult;
}

/** What `tools` takes: which tools, who hears of progress, and options of each call. */
export interface ToolsOptions extends Omit<CallOptions, 'signal' | 'progress'> {
  /** The tools of these servers alone. */
  servers?: readonly string[];
  /** The shape of the model's API (`toolsFor`); by default what all of them take. Arguments go to the server under its own names. */
  shape?: Shape;
  /** Gets the progress of each call: the tool's name, the event, and the SDK's number of the call. */
  onProgress?: (tool: string, event: EventOf<'progress'>, toolCallId: string) => void;
}

/**
 * The tools of the session's view as it is now, under their exposed names: ask for them at each turn. Their results are those of the server, as
 * JSON; aborting the SDK's call cancels that of the server. The other options are those of each call.
 */
export function tools(session: Session, options?: ToolsOptions): ToolSet;
