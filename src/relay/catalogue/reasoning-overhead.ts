import type { ChannelView } from '../../application/ports/storage-ports.js';
import { factsOf } from '../../domain/models/model-facts.js';
import type { Provider, ReasoningOverheadRule, ThinkingSaid } from '../contracts/protocol.js';
import { countIn, isObject, type JsonObject, textIn } from '../json/json.js';
import type { ParsedChannel } from '../pipeline/channels/channel-settings.js';

/*
 * Some vendors limit the answer alone: what a model thinks comes on top of `max_tokens`, up to a budget of its own. What
 * is reserved and believed must have room for it.
 */

const notSaid: ThinkingSaid = { wanted: null, budget: null };
const refused: ThinkingSaid = { wanted: false, budget: null };

const asksForEffort = ({ reasoning_effort: effort }: JsonObject): boolean =>
  textIn(effort) !== null && effort !== 'none';

/** `enable_thinking` and `thinking_budget`. */
export const switchedByFlag: ReasoningOverheadRule = (body) => {
  const { enable_thinking: flag, thinking_budget: given } = body;
  if (flag === false) return refused;
  if ((flag ?? given ?? null) === null && !asksForEffort(body)) return notSaid;
  return { wanted: true, budget: countIn(given) || null };
};

/** `thinking: { type }`. One limit there is that counts thinking after all. */
export const switchedByType: ReasoningOverheadRule = (body) => {
  const { thinking, reasoning_effort: effort } = body;
  if (countIn(body.max_completion_tokens)) return { wanted: false, budget: 0 };
  if ((isObject(thinking) && thinking.type === 'disabled') || effort === 'minimal') return refused;
  return isObject(thinking) || asksForEffort(body) ? { wanted: true, budget: null } : notSaid;
};

/** Nobody knows who stands behind the channel, and whether they heed a refusal. */
const toAnybody: ReasoningOverheadRule = (body, names) => {
  const said = switchedByFlag(body, names);
  return said.wanted ? said : notSaid;
};

function maxOf(names: ReadonlySet<string>, { wanted, budget }: ThinkingSaid): number {
  if (budget === 0) return 0;
  let max = 0;
  for (const name of names) {
    const limit = factsOf(name).separateThinking;
    const thinks =
      limit.when === 'always' ||
      (limit.when === 'unless-refused' && wanted !== false) ||
      (limit.when === 'if-asked' && wanted === true);
    if (thinks) max = Math.max(max, budget !== null && limit.budgeted ? budget : limit.max);
  }
  return max;
}

interface AskedPorts {
  readonly providerOf: (channelType: number) => Pick<Provider, 'overheadRule'> | null;
  readonly parsedChannel: (channel: ChannelView) => Pick<ParsedChannel, 'paramOverride'>;
}

/**
 * The most tokens each answer may think beyond the limit on the output, whichever of these channels is asked. `names`:
 * as asked for and as sent upstream.
 */
export function reasoningOverhead(
  { providerOf, parsedChannel }: AskedPorts,
  body: JsonObject,
  names: ReadonlySet<string>,
  channels: readonly ChannelView[],
): number {
  let anywhere = countIn(body.thinking_budget) !== null || body.enable_thinking === true;
  for (const name of names) anywhere ||= factsOf(name).separateEverywhere;
  let max = 0;
  for (const channel of channels) {
    const said = providerOf(channel.settings.type)?.overheadRule ?? (anywhere ? toAnybody : null);
    if (said === null) continue;
    max = Math.max(max, maxOf(names, said(body, names)));
    const { paramOverride } = parsedChannel(channel);
    // What the operator sends along may switch it on, but not off: requests may be passed on as they are.
    if (paramOverride !== null) max = Math.max(max, maxOf(names, said({ ...body, ...paramOverride }, names)));
  }
  return max;
}
