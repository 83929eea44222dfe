import type { ModelFacts } from '../../../domain/models/fact-kinds.js';
import { factsOf } from '../../../domain/models/model-facts.js';
import { modelsCreated } from '../../../http/openai-model.js';
import type { ListedModel, ModelForm } from '../model-lists.js';

/* Models as Anthropic lists them, with limits, capabilities and lifecycle as far as anything is known of them. */

const instantText = (ms: number): string => new Date(ms).toISOString().replace('.000Z', 'Z');
const created = instantText(modelsCreated * 1000);

const can = (supported: boolean) => ({ supported });

/** Of Claude's: for others nobody has said what passes through Anthropic's interface. What the gateway does not offer is not supported. */
function capabilitiesOf({ messages: { thinking, budgeted, schemas }, alwaysThinks }: ModelFacts) {
  const thinks = thinking !== 'none';
  const adaptive = thinking === 'adaptive';
  return {
    batch: can(false),
    citations: can(true),
    code_execution: can(true),
    context_management: {
      supported: true,
      clear_thinking_20251015: can(thinks),
      clear_tool_uses_20250919: can(true),
      compact_20260112: can(adaptive),
    },
    effort: {
      supported: adaptive,
      low: can(adaptive),
      medium: can(adaptive),
      high: can(adaptive),
      xhigh: can(adaptive && !budgeted),
      max: can(adaptive),
    },
    image_input: can(true),
    pdf_input: can(true),
    server_tools: { supported: true, code_execution: can(true), web_search: can(true) },
    structured_outputs: can(schemas),
    thinking: {
      supported: thinks,
      types: {
        adaptive: can(adaptive),
        between_tools: can(adaptive && !budgeted),
        disabled: can(!alwaysThinks),
        enabled: can(thinking === 'budget' || budgeted),
      },
    },
  };
}

const lineOf = (model: string): string | null => /claude-.*?(haiku|sonnet|opus|fable|mythos)/.exec(model)?.[1] ?? null;

function anthropicModel({ id, model, limits }: ListedModel) {
  const facts = factsOf(model);
  return {
    id,
    type: 'model',
    display_name: model,
    created_at: created,
    line: lineOf(model),
    max_input_tokens: limits?.input ?? null,
    max_tokens: limits?.output ?? null,
    capabilities: facts.isClaude ? capabilitiesOf(facts) : null,
    ...lifecycleOf(facts),
  };
}

/** When it was deprecated is not known: with the announcement, which is before any list that names the day. */
function lifecycleOf({ retires }: ModelFacts) {
  if (retires === null) return { lifecycle: 'active', deprecated_at: null, retires_at: null };
  return { lifecycle: 'deprecated', deprecated_at: created, retires_at: instantText(Date.parse(retires)) };
}

export const anthropicModels: ModelForm = {
  one: anthropicModel,
  all: (models) => ({
    data: models.map(anthropicModel),
    first_id: models[0]?.id ?? null,
    last_id: models.at(-1)?.id ?? null,
    has_more: false,
  }),
};
