import { imageModes, isImageMode, usual } from '../../domain/channel/provider.js';
import { factsOf } from '../../domain/models/model-facts.js';
import { modelList } from '../catalogue/model-list.js';
import type { Provider } from '../contracts/protocol.js';
import { textIn } from '../json/json.js';
import { minEffort } from '../protocols/openai/efforts.js';
import { openAi } from '../protocols/openai/openai.js';
import { xaiCost } from '../protocols/openai/reported-cost.js';
import { effortSuffix, renamed, without } from '../protocols/openai/request.js';
import type { Edit } from '../protocols/openai/variant.js';
import { xaiImageRequest } from '../protocols/xai-images.js';

const reasoningParameters: Edit = (body, target) => {
  const model = textIn(body.model) ?? '';
  const { refusesStops, refusesEffort } = factsOf(model);
  if (!refusesStops) return body;
  if (refusesEffort) delete body.reasoning_effort;
  return without('stop', 'presence_penalty', 'frequency_penalty')(body, target);
};

const wire = openAi({
  newerLimit: true,
  usageOnRequest: true,
  edits: [renamed('max_tokens', 'max_completion_tokens'), effortSuffix('grok'), reasoningParameters],
  reasoningIsSeparate: true,
  minThinking: minEffort,
  cost: xaiCost,
});

export const xai: Provider = {
  ...usual,
  type: 48,
  name: 'xAI',
  defaultBaseUrl: 'https://api.x.ai',
  defaultModels: modelList(`
    grok-4.7 grok-4.6 grok-4.5 grok-4.3 grok-4.20-reasoning grok-4.20-non-reasoning grok-latest grok-code-fast-1
    grok-4-fast-reasoning grok-4-fast-non-reasoning grok-4 grok-imagine-image grok-imagine-image-pro grok-3-beta
    grok-3-mini-beta grok-3-fast-beta grok-3-mini-fast-beta grok-3-mini-beta-high grok-3-mini-beta-low
    grok-3-mini-beta-medium grok-3-mini-fast-beta-high grok-3-mini-fast-beta-low grok-3-mini-fast-beta-medium
    grok-2-image grok-2 grok-2-vision grok-beta grok-vision-beta
  `),
  colour: 'blue',
  keyHint: 'API key',
  modes: ['chat', 'completions', 'responses', ...imageModes],
  protocol: {
    ...wire,
    request: (asked) => (isImageMode(asked.caller.mode) ? xaiImageRequest(asked) : wire.request(asked)),
  },
};
