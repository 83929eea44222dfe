import { completionTokens, promptTokens, type Usage, used } from '../../../domain/call/usage.js';
import { countIn, isObject, type JsonObject, type JsonValue } from '../../json/json.js';
import { withoutCost } from './reported-cost.js';

/* Usage of calls that make pictures, as OpenAI's interface reports it. */

const detailsIn = (value: JsonValue | undefined): JsonObject => (isObject(value) ? value : {});

/** Pictures that came, and tokens as far as they are reported. */
export function readImageUsage(reported: JsonValue | undefined, images: number): Usage {
  const usage = detailsIn(reported);
  const input = countIn(usage.input_tokens) ?? 0;
  const output = countIn(usage.output_tokens) ?? 0;
  const [inputs, outputs] = [detailsIn(usage.input_tokens_details), detailsIn(usage.output_tokens_details)];
  const imageInput = Math.min(countIn(inputs.image_tokens) ?? 0, input);
  const cachedInput = Math.min(countIn(inputs.cached_tokens) ?? 0, input - imageInput);
  const text = Math.min(countIn(outputs.text_tokens) ?? 0, output);
  return used({
    input: input - imageInput - cachedInput,
    cachedInput,
    imageInput,
    output: text,
    imageOutput: output - text,
    images,
  });
}

const written = (usage: Usage): JsonObject => ({
  total_tokens: promptTokens(usage) + completionTokens(usage),
  input_tokens: promptTokens(usage),
  output_tokens: completionTokens(usage),
  input_tokens_details: {
    text_tokens: promptTokens(usage) - (usage.imageInput ?? 0),
    image_tokens: usage.imageInput ?? 0,
  },
  output_tokens_details: {
    text_tokens: completionTokens(usage) - (usage.imageOutput ?? 0),
    image_tokens: usage.imageOutput ?? 0,
  },
});

/**
 * What upstream reported, made to say what is charged; the same where it does. undefined: there is nothing to report, as
 * pictures that are sold by the piece have no tokens.
 */
export function imageUsageFor(reported: JsonValue | undefined, usage: Usage): JsonValue | undefined {
  const tokens = promptTokens(usage) + completionTokens(usage);
  if (!isObject(reported)) return tokens > 0 ? written(usage) : undefined;
  const said = readImageUsage(reported, usage.images ?? 0);
  const isSame = promptTokens(said) === promptTokens(usage) && completionTokens(said) === completionTokens(usage);
  const shown = withoutCost(reported);
  return isSame ? shown : { ...shown, ...written(usage) };
}
