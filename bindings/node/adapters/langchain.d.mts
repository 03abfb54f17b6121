// Types of trunkline/adapters/langchain.

import type { ToolMessage } from '@langchain/core/messages';
import type { RunnableConfig } from '@langchain/core/runnables';
import type { DynamicStructuredTool } from '@langchain/core/tools';
import type { CallOptions, CallResult, ContentBlock, EventOf, JsonObject, Session, ToolFormat } from '../index.mjs';

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
  shape?: ToolFormat;
  /** Gets the progress of each call: the tool's name, and the event. */
  onProgress?: (tool: string, event: EventOf<'progress'>) => void;
  /** Whether an error that a tool reports is thrown; by default the model gets a message with the status `error`. */
  raiseErrors?: boolean;
  /** Where blocks of a result go: to the model as `content`, or to the message's `artifact` alone; by their type, or all; default `'content'`. */
  outputHandling?: Place | Partial<Record<'text' | 'image' | 'audio' | 'resource' | 'resource_link', Place>>;
  /** Called before each call, with LangGraph's state; the arguments that it returns are put over those of the call. */
  beforeToolCall?: (call: Call, state: Record<string, unknown>, config: RunnableConfig) => Before | Promise<Before>;
  /** Called after each call that did not fail, with LangGraph's state; the result that it returns takes the place of the call's. */
  afterToolCall?: (call: Call & { result: Output }, state: Record<string, unknown>, config: RunnableConfig) => After | Promise<After>;
  /** As blocks are here in any case. */
  useStandardContentBlocks?: true;
}

/** Where a block goes. */
export type Place = 'content' | 'artifact';

/** What a hook gets of a call: names as the server has them, and arguments as the model gave them. */
export interface Call {
  serverName: string;
  name: string;
  args: Record<string, unknown>;
}

/** What is beside a message's content: blocks that the model is not shown, as the server sent them, and what else the result says. */
export type Artifact = Array<ContentBlock | { type: 'mcp_structured_content'; data: unknown } | { type: 'mcp_meta'; data: JsonObject }>;

/** The content and the artifact of a message; a text alone is that text. */
export type Output = [content: string | unknown[], artifact: Artifact];

/** What `beforeToolCall` changes. */
export type Before = { args?: Record<string, unknown> } | void;

/** What `afterToolCall` changes; with a text or a message the artifact is empty. */
export type After = { result?: string | [content: unknown, artifact: unknown] | ToolMessage | object } | void;

/**
 * The tools of the session's view, under their exposed names: ask for them at each turn. Waits up to 5 s for list changes that servers announced: without
 * `await` it is no list of tools. The content of a message is a text, or a list of LangChain's standard blocks; its artifact is an `Artifact`.
 * The `signal` of a run cancels its calls. The other options are those of each call.
 */
export function tools(session: Session, options?: ToolsOptions): Promise<DynamicStructuredTool[]>;
