import type { Mode, PaidMode } from '../../domain/channel/provider.js';
import type { NeutralBody } from '../contracts/neutral-request.js';
import {
  type CallerRequest,
  NotConvertible,
  type Provider,
  type UpstreamChannel,
  type UpstreamRequest,
} from '../contracts/protocol.js';
import { jsonText } from '../json/exact-number.js';
import type { JsonObject } from '../json/json.js';
import { carried, type JsonSource } from './carried.js';

/* What every wire needs to put a request. */

export const notServed = (mode: Mode): NotConvertible =>
  new NotConvertible('caller', `this provider does not serve ${mode}`);

/** Of a request that says nothing of thinking. */
export const noThinking = { reasoningEffort: null, thinking: 'unsaid' } as const satisfies Partial<UpstreamRequest>;

/** The request in neutral words, where it asks for this. Throws NotConvertible. */
export function neutralAs<Asked extends PaidMode>({ neutral }: CallerRequest, mode: Asked): NeutralBody<Asked> {
  const asked = neutral();
  if (asked.mode !== mode) throw notServed(asked.mode);
  return asked.body as NeutralBody<Asked>;
}

/** The channel's address or the provider's, without a slash at the end. Throws NotConvertible. */
export const baseOf = (provider: Provider, channel: UpstreamChannel): string => {
  const own = channel.baseUrl.trim() || (provider.baseUrlOf?.(channel) ?? provider.defaultBaseUrl);
  const base = own.replace(/\/+$/, '');
  if (base === '') throw new NotConvertible('channel', 'this channel has no base URL');
  return base;
};

/** `source`: of the caller's, where the body is that one but for what was changed. Throws NotConvertible. */
export const written = (body: JsonObject, source?: JsonSource): string => {
  try {
    return source === undefined ? jsonText(body) : carried(source, body);
  } catch {
    throw new NotConvertible('caller', 'the request is nested too deeply');
  }
};
