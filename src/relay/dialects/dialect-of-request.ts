import type { IncomingMessage } from 'node:http';
import type { CallerDialect } from '../contracts/caller-dialect.js';
import { anthropicCaller } from './anthropic/dialect.js';
import { geminiCaller } from './gemini/dialect.js';
import { openAiCaller } from './openai/dialect.js';

/** Where clients of several dialects ask: how they show their key, and which version they speak, says whose they are. */
export function dialectOf({ headers, url = '' }: IncomingMessage): CallerDialect {
  // Its newer clients show their key as everybody does.
  if (headers['anthropic-version'] !== undefined) return anthropicCaller;
  if (headers['x-goog-api-key'] !== undefined || /[?&]key=/.test(url)) return geminiCaller;
  return openAiCaller;
}
