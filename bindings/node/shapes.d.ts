// Types of tools as model APIs take them: `docs/guide/tool-shapes.md`.

import type { JsonObject } from './index.js';

/** The shapes by their words. */
export interface ToolShapes {
  mcp: McpTool;
  openai: OpenAiTool;
  openai_responses: OpenAiResponsesTool;
  anthropic: AnthropicTool;
  gemini: GeminiTool;
  any: McpTool;
}

/** How a model API takes tools. */
export type ToolFormat = keyof ToolShapes;

/** A definition with the exposed name. Of the shape `mcp` it is otherwise as the server sent it, and nobody has checked its members. */
export interface McpTool {
  name: string;
  title?: string;
  description?: string;
  inputSchema: JsonObject;
  outputSchema?: JsonObject;
  annotations?: JsonObject;
  _meta?: JsonObject;
  [name: string]: unknown;
}

/** For Chat Completions of OpenAI. */
export interface OpenAiTool {
  type: 'function';
  function: { name: string; description?: string; parameters: JsonObject };
}

/** For Responses of OpenAI. */
export interface OpenAiResponsesTool {
  type: 'function';
  name: string;
  description?: string;
  parameters: JsonObject;
  strict: false;
}

/** For Messages of Anthropic. */
export interface AnthropicTool {
  name: string;
  description?: string;
  input_schema: { type: 'object'; [name: string]: unknown };
}

/** For function declarations of Gemini. */
export interface GeminiTool {
  name: string;
  description?: string;
  parametersJsonSchema: JsonObject;
}
