// Types of trunkline/adapters/ai.

import type { FlexibleSchema, InferSchema, Tool, ToolSet } from 'ai';
import type { CallOptions, CallResult, EventOf, Session, ToolFormat } from '../index.mjs';

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
  shape?: ToolFormat;
  /** Gets the progress of each call: the tool's name, the event, and the SDK's number of the call. */
  onProgress?: (tool: string, event: EventOf<'progress'>, toolCallId: string) => void;
  /**
   * Per exposed name, schemas of the host's own: these tools alone are there. With an `outputSchema` a result is what that makes of the structured
   * content, or of a text that is JSON.
   */
  schemas?: Record<string, ToolSchemas>;
}

/** What a tool takes and gives, as the host has it. */
export interface ToolSchemas {
  inputSchema: FlexibleSchema<any>;
  outputSchema?: FlexibleSchema<any>;
}

/** The tools that schemas are of. */
export type Schemed<S extends Record<string, ToolSchemas>> = {
  [K in keyof S]: Tool<InferSchema<S[K]['inputSchema']>, S[K] extends { outputSchema: FlexibleSchema<infer O> } ? O : unknown>;
};

/**
 * The tools of the session's view, under their exposed names: ask for them at each turn. Waits up to 5 s for list changes that servers announced.
 * Without `await`, `{...tools(session)}` is an empty tool set and no error. Results are those of the server, as JSON; aborting the SDK's call cancels
 * that of the server. The other options are those of each call.
 */
export function tools(session: Session, options?: ToolsOptions & { schemas?: undefined }): Promise<ToolSet>;
/** Those of them that there are schemas of, as these say. */
export function tools<S extends Record<string, ToolSchemas>>(session: Session, options: ToolsOptions & { schemas: S }): Promise<Schemed<S>>;
