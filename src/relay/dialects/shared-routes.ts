import type { IncomingMessage } from 'node:http';
import type { CallerDialect } from '../contracts/caller-dialect.js';
import { anthropicCaller } from './anthropic/dialect.js';
import { anthropicModels } from './anthropic/models.js';
import { geminiCaller } from './gemini/dialect.js';
import { geminiModels } from './gemini/models.js';
import { type ModelForm, modelRoutes } from './model-lists.js';
import { openAiCaller } from './openai/dialect.js';
import { openAiModelsAnswer } from './openai/models.js';
import type { Route, RoutesOptions } from './route.js';

/* What clients of every dialect ask for at the same place: who it is shows in how they show their key. */

function dialectOf({ headers, url = '' }: IncomingMessage): CallerDialect {
  // Its newer clients show their key as everybody does.
  if (headers['anthropic-version'] !== undefined) return anthropicCaller;
  if (headers['x-goog-api-key'] !== undefined || /[?&]key=/.test(url)) return geminiCaller;
  return openAiCaller;
}

const forms: ReadonlyMap<CallerDialect, ModelForm> = new Map([
  [anthropicCaller, anthropicModels],
  [geminiCaller, geminiModels],
]);

export const sharedRoutes = (options: RoutesOptions): Route[] =>
  modelRoutes('/v1/models', dialectOf, ({ request }) => forms.get(dialectOf(request)) ?? openAiModelsAnswer, options);
