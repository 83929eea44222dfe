import type { IncomingMessage } from 'node:http';
import type { CallerDialect } from '../contracts/caller-dialect.js';
import { anthropicCaller } from './anthropic/dialect.js';
import { geminiCaller } from './gemini/dialect.js';
import { openAiCaller } from './openai/dialect.js';

/* Where clients of several dialects ask: how they show their key, and which version they speak, says whose they are. */

/** By headers alone: a query may be anybody's. */
export function dialectInHeaders({ headers }: IncomingMessage): CallerDialect {
  // Its newer clients show their key as everybody does.
  if (headers['anthropic-version'] !== undefined) return anthropicCaller;
  return headers['x-goog-api-key'] === undefined ? openAiCaller : geminiCaller;
}

/** Of who asks for models: Gemini's clients may show their key in the query. */
export function dialectOf(request: IncomingMessage): CallerDialect {
  const shown = dialectInHeaders(request);
  return shown === openAiCaller && /[?&]key=/.test(request.url ?? '') ? geminiCaller : shown;
}
