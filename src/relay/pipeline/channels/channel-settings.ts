import type { ChannelView } from '../../../application/ports/storage-ports.js';
import type { ChannelId } from '../../../domain/kernel/ids.js';
import type { Provider } from '../../contracts/protocol.js';
import { exactly, outerBrackets } from '../../json/exact-json.js';
import { countIn, isList, isObject, type JsonObject, parseJson, textIn } from '../../json/json.js';

/* A channel's JSON texts, parsed once per change and not once per call. */

export interface ParsedChannel {
  readonly modelMapping: ReadonlyMap<string, string>;
  readonly statusMapping: ReadonlyMap<number, number>;
  readonly paramOverride: JsonObject | null;
  readonly forceFormat: boolean;
  readonly thinkingToContent: boolean;
  readonly passThrough: boolean;
  /** Upstream has no Responses API, whatever others of its type have. */
  readonly chatOnly: boolean;
  /** Upstream has the Responses API, where others of its type may not. */
  readonly responses: boolean;
  /** Models, by the names they are asked for or sent by, that upstream serves by the Responses API alone; `all`: each. */
  readonly responsesOnly: 'all' | ReadonlySet<string>;
  /** Calls under way at a time; 0: no limit. */
  readonly maxCalls: number;
}

const objectIn = (text: string | null): JsonObject => {
  const value = text ? parseJson(text) : null;
  return isObject(value) ? value : {};
};

const textsIn = (value: unknown): string[] =>
  isList(value) ? value.flatMap((one) => (typeof one === 'string' ? [one] : [])) : [];

const parse = ({ settings }: ChannelView): ParsedChannel => {
  const override = exactly(settings.paramOverride ?? '', objectIn(settings.paramOverride), outerBrackets);
  const setting = objectIn(settings.setting);
  const responsesModels = new Set(textsIn(setting.responses_only_models));
  return {
    modelMapping: new Map(
      Object.entries(objectIn(settings.modelMapping)).flatMap(([from, to]) =>
        textIn(to) === null ? [] : [[from, String(to)]],
      ),
    ),
    statusMapping: new Map(
      Object.entries(objectIn(settings.statusCodeMapping)).flatMap(([from, to]) =>
        Number.isInteger(Number(to)) && Number(to) >= 100 && Number(to) <= 599 ? [[Number(from), Number(to)]] : [],
      ),
    ),
    paramOverride: Object.keys(override).length > 0 ? override : null,
    forceFormat: setting.force_format === true,
    thinkingToContent: setting.thinking_to_content === true,
    passThrough: setting.pass_through_body_enabled === true,
    chatOnly: setting.chat_only === true,
    responses: setting.responses === true || setting.responses_only === true || responsesModels.size > 0,
    responsesOnly: setting.responses_only === true ? 'all' : responsesModels,
    maxCalls: countIn(setting.max_concurrency) ?? 0,
  };
};

/** Remembers the last parse of each channel; a changed channel is a new object and is parsed again. */
export function channelParser(): (channel: ChannelView) => ParsedChannel {
  const known = new Map<ChannelId, { channel: ChannelView; parsed: ParsedChannel }>();
  return (channel) => {
    const last = known.get(channel.id);
    if (last?.channel === channel) return last.parsed;
    const parsed = parse(channel);
    known.set(channel.id, { channel, parsed });
    return parsed;
  };
}

/**
 * The name to send upstream. Entries chain (a→b→c); an entry that names itself ends the chain. null: the mapping runs
 * in a circle.
 */
export function mappedModel(mapping: ReadonlyMap<string, string>, model: string): string | null {
  const visited = new Set([model]);
  let current = model;
  for (;;) {
    const next = mapping.get(current);
    if (next === undefined || next === current) return current;
    if (visited.has(next)) return null;
    visited.add(next);
    current = next;
  }
}

/** Whether upstream serves a model by the Responses API alone. `names`: as asked for, and as sent. */
export const servesByResponses = (
  { responsesAlone }: Pick<Provider, 'responsesAlone'>,
  baseUrl: string,
  { responsesOnly }: Pick<ParsedChannel, 'responsesOnly'>,
  names: readonly string[],
): boolean =>
  responsesOnly === 'all' ||
  names.some((name) => responsesOnly.has(name)) ||
  responsesAlone?.(baseUrl.replace(/\/+$/, '')) === true;

/** Applied to error statuses only. */
export const mappedStatus = ({ statusMapping }: Pick<ParsedChannel, 'statusMapping'>, status: number): number =>
  statusMapping.get(status) ?? status;
