import type { PromptEstimate } from '../../../src/relay/metering/prompt-tally.js';

/** Input tokens of a prompt, whatever their kind. */
export const inputTokens = ({ expected, conservative, max }: PromptEstimate) => ({
  expected,
  conservative: conservative.input,
  max: max.input,
});
