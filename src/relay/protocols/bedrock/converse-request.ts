import { NotConvertible, type RequestOptions } from '../../contracts/protocol.js';
import {
  countIn,
  isList,
  isObject,
  type JsonObject,
  type JsonValue,
  numberIn,
  objectsIn,
  scalarText,
  textIn,
} from '../../json/json.js';
import { limitGiven } from '../anthropic/request.js';
import type { MessagesTarget } from '../anthropic/variant.js';
import { neutralAs } from '../request-builder.js';
import { CachePoints } from './cache-points.js';
import { ConverseBlocks, converseMessages } from './converse-blocks.js';
import { isNova } from './makers.js';

/*
 * A request in Anthropic's words, which callers of every dialect are put into, in those of Converse.
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html
 */

const refused = (what: string): NotConvertible => new NotConvertible('caller', what);
const cannot = 'cannot be put to this model, which is asked by Converse';

/** Members that are put in other words here, or that say nothing of what is answered. */
const known: ReadonlySet<string> = new Set([
  ...['model', 'stream', 'system', 'messages', 'max_tokens', 'temperature', 'top_p', 'top_k', 'stop_sequences'],
  ...['tools', 'tool_choice', 'thinking', 'output_config', 'metadata', 'cache_control', 'anthropic_version'],
  // Coding agents send the last to everybody; no other provider is sent it.
  ...['anthropic_beta', 'diagnostics', 'context_management'],
]);

/** Members that say nothing with these values, and have no words here with others. */
const plainValues: ReadonlyMap<string, readonly JsonValue[]> = new Map([
  ['speed', ['standard']],
  ['inference_geo', ['global']],
  ['service_tier', ['auto', 'standard_only']],
]);

function refuseUnknown(body: JsonObject, override: JsonObject): void {
  for (const name of Object.keys(body)) {
    if (known.has(name) || Object.hasOwn(override, name)) continue;
    if ((body[name] ?? null) === null || plainValues.get(name)?.includes(body[name] ?? null)) continue;
    throw refused(`${name} ${cannot}`);
  }
}

function toolOf(tool: JsonObject, path: string, cache: CachePoints): JsonObject[] {
  if ((tool.type ?? 'custom') !== 'custom')
    throw refused(`${path}.type: a tool of type ${scalarText(tool.type)} ${cannot}`);
  const { name, description, input_schema: json, strict } = tool;
  const spec = {
    name,
    ...(textIn(description) !== null && { description }),
    inputSchema: { json: json ?? { type: 'object' } },
    ...(strict === true && { strict }),
  };
  return [{ toolSpec: spec }, ...cache.afterTool(tool)];
}

const callsTools = (messages: JsonValue | undefined): boolean =>
  objectsIn(messages).some(({ content }) =>
    objectsIn(content).some(({ type }) => type === 'tool_use' || type === 'tool_result'),
  );

/** Throws NotConvertible. */
function toolsIn({ tools, tool_choice: choice, messages }: JsonObject, cache: CachePoints): JsonObject {
  const offered = objectsIn(tools).flatMap((tool, at) => toolOf(tool, `tools[${at}]`, cache));
  if (offered.length === 0) return {};
  const { type, name } = isObject(choice) ? choice : {};
  switch (type) {
    case 'any':
      return { toolConfig: { tools: offered, toolChoice: { any: {} } } };
    case 'tool':
      return { toolConfig: { tools: offered, toolChoice: { tool: { name } } } };
    case 'none':
      // Without tools a conversation that has called some is refused there.
      if (callsTools(messages)) throw refused(`tool_choice none, in a conversation that has called tools, ${cannot}`);
      return {};
    default:
      return { toolConfig: { tools: offered } };
  }
}

/** Budgets, for who names one, in words of effort. */
const effortOfBudget = (budget: number): string => (budget < 2_048 ? 'low' : budget < 8_192 ? 'medium' : 'high');

interface Thinking {
  /** false: the model is not to think. null: nothing is said. */
  readonly wanted: boolean | null;
  readonly effort: 'low' | 'medium' | 'high';
}

function thinkingIn({ thinking, output_config: config }: JsonObject): Thinking {
  const { type, budget_tokens: budget } = isObject(thinking) ? thinking : {};
  const named = isObject(config) ? textIn(config.effort) : null;
  const asked = named ?? (countIn(budget) === null ? 'medium' : effortOfBudget(countIn(budget) ?? 0));
  const effort = asked === 'low' || asked === 'medium' ? asked : 'high';
  if (type === 'disabled') return { wanted: false, effort };
  return { wanted: type === undefined && named === null ? null : true, effort };
}

/** Tokens that Amazon's models may put out with the highest effort. */
const highestOutput = 128_000;

/**
 * Thinking has a form per maker; of those that are not here none is documented. Amazon's models take no limit with the
 * highest effort (https://docs.aws.amazon.com/nova/latest/nova2-userguide/extended-thinking.html): with a limit, or where
 * less is reserved than they may put out then, they are asked for the one below it.
 */
function ofTheMaker(body: JsonObject, model: string, inference: JsonObject, maxOutput: number): JsonObject {
  const { wanted, effort } = thinkingIn(body);
  if (/(^|\.)amazon\.nova-2/.test(model)) {
    if (wanted === null) return {};
    const held =
      effort === 'high' &&
      (maxOutput < highestOutput || Object.keys(inference).some((name) => name !== 'stopSequences'));
    return {
      reasoningConfig: wanted
        ? { type: 'enabled', maxReasoningEffort: held ? 'medium' : effort }
        : { type: 'disabled' },
    };
  }
  if (/(^|\.)openai\.gpt-oss-/.test(model) && wanted !== null) return { reasoning_effort: wanted ? effort : 'low' };
  return {};
}

/** Only Amazon's own models are documented to take it beside the usual parameters. */
const topK = ({ top_k: value }: JsonObject, model: string): JsonObject =>
  isNova(model) && numberIn(value) !== null ? { inferenceConfig: { topK: value } } : {};

function formatIn({ output_config: config }: JsonObject, { caller }: MessagesTarget): JsonObject {
  const format = isObject(config) && isObject(config.format) ? config.format : null;
  if (format !== null && isObject(format.schema)) {
    const jsonSchema = { name: 'answer', schema: JSON.stringify(format.schema) };
    return { outputConfig: { textFormat: { type: 'json_schema', structure: { jsonSchema } } } };
  }
  const { response_format: asked } = caller.dialect.wire === 'anthropic' ? {} : neutralAs(caller, 'chat');
  if (isObject(asked) && asked.type === 'json_object')
    throw refused(`response_format: json_object ${cannot}; json_schema can`);
  return {};
}

/** The Messages have no answer without a limit; these models have their own, which may be below the usual one. */
function namesLimit({ caller, channel, options, asModel }: MessagesTarget): boolean {
  if (caller.dialect.wire === 'anthropic' || caller.outputLimit !== null) return true;
  const override = options.passThrough ? null : channel.paramOverride;
  return (
    limitGiven(neutralAs(caller, 'chat')) !== null ||
    (override !== null && countIn(override.max_tokens) !== null) ||
    options.claude.defaultMaxTokens.has(asModel)
  );
}

/** An operator may say it in the words of Converse too, but not raise the limit above what is reserved. */
function inferenceOf(body: JsonObject, target: MessagesTarget, override: JsonObject): JsonObject {
  const { maxTokens: limit, ...rest } = isObject(override.inferenceConfig) ? override.inferenceConfig : {};
  const max = countIn(limit) ?? 0;
  const set = { ...askedInference(body, target), ...rest };
  return max === 0 ? set : { ...set, maxTokens: Math.min(max, target.caller.maxOutput) };
}

function askedInference(body: JsonObject, target: MessagesTarget): JsonObject {
  const { max_tokens: maxTokens, temperature, top_p: topP, stop_sequences: stops } = body;
  return {
    ...(namesLimit(target) && countIn(maxTokens) !== null && { maxTokens }),
    ...(numberIn(temperature) !== null && { temperature }),
    ...(numberIn(topP) !== null && { topP }),
    ...(isList(stops) && stops.length > 0 && { stopSequences: stops }),
  };
}

const overrideOf = ({ options, channel }: { options: RequestOptions; channel: MessagesTarget['channel'] }) =>
  (options.passThrough ? null : channel.paramOverride) ?? {};

/** Throws NotConvertible naming what has no words there. */
export function converseBody(body: JsonObject, target: MessagesTarget): JsonObject {
  const override = overrideOf(target);
  refuseUnknown(body, override);
  const { model } = target;
  const cache = new CachePoints(model);
  const messages = converseMessages(body.messages, cache);
  const last = messages.at(-1)?.content;
  last?.push(...cache.after(body, last.at(-1)));
  const system = new ConverseBlocks(cache).of(body.system, 'system');
  const inference = inferenceOf(body, target, override);
  // What an operator sets in other words is in those of Converse.
  const own: JsonObject = {};
  for (const name of Object.keys(override)) if (!known.has(name) && !plainValues.has(name)) own[name] = override[name];
  const fields = {
    ...ofTheMaker(body, model, inference, target.caller.maxOutput),
    ...topK(body, model),
    ...(isObject(own.additionalModelRequestFields) ? own.additionalModelRequestFields : {}),
  };
  return {
    messages: messages.map(({ role, content }) => ({ role, content })),
    ...(system.length > 0 && { system }),
    ...toolsIn(body, cache),
    ...formatIn(body, target),
    ...own,
    ...(Object.keys(inference).length > 0 && { inferenceConfig: inference }),
    ...(Object.keys(fields).length > 0 && { additionalModelRequestFields: fields }),
  };
}
