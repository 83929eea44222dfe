import type { PromptEstimate } from '../../../src/relay/metering/prompt-tally.js';

/** Input tokens of a prompt, whatever their kind. */
export const inputTokens = ({ likely, ample, most }: PromptEstimate) => ({
  likely,
  ample: ample.input,
  most: most.input,
});
