import type { CallerDialect } from '../contracts/caller-dialect.js';
import { anthropicCaller } from './anthropic/dialect.js';
import { anthropicModels } from './anthropic/models.js';
import { dialectOf } from './dialect-of-request.js';
import { geminiCaller } from './gemini/dialect.js';
import { geminiModels } from './gemini/models.js';
import { type ModelForm, modelRoutes } from './model-lists.js';
import { openAiModelsAnswer } from './openai/models.js';
import type { Route, RoutesOptions } from './route.js';

/* What clients of every dialect ask for at the same place: who it is shows in how they show their key. */

const forms: ReadonlyMap<CallerDialect, ModelForm> = new Map([
  [anthropicCaller, anthropicModels],
  [geminiCaller, geminiModels],
]);

export const sharedRoutes = (options: RoutesOptions): Route[] =>
  modelRoutes('/v1/models', dialectOf, ({ request }) => forms.get(dialectOf(request)) ?? openAiModelsAnswer, options);
