// Types of trunkline/adapters/langchain.

import type { DynamicStructuredTool } from '@langchain/core/tools';
import type { CallOptions, CallResult, EventOf, Session, Shape } from '../index.mjs';

/** A tool that reports an error, with `raiseErrors`, or where no model asked for it. */
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
  /** Gets the progress of each call: the tool's name, and the event. */
  onProgress?: (tool: string, event: EventOf<'progress'>) => void;
  /** Whether an error that a tool reports is thrown; by default the model gets a message with the status `error`. */
  raiseErrors?: boolean;
}

/**
 * The tools of the session's view as it is now, under their exposed names: ask for them at each turn. The content of a message is a list of
 * LangChain's standard blocks, its artifact `{ structuredContent, meta }`. The `signal` of a run cancels its calls. The other options are those of each call.
 */
export function tools(session: Session, options?: ToolsOptions): DynamicStructuredTool[];
