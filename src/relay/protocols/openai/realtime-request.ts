import type { RequestInput, UpstreamRequest } from '../../contracts/protocol.js';
import { wholeSegment } from '../model-address.js';
import { baseOf, noThinking } from '../request-builder.js';
import { bearerKey, standardUrl } from './request.js';
import type { OpenAiVariant, Target } from './variant.js';

/*
 * How a realtime session is opened (https://platform.openai.com/docs/guides/realtime-websocket): the model stands in the
 * address, and nothing is sent with it. Whoever speaks the words of the beta says so by a header.
 */

/** The one that is chosen by servers, whatever else a client offers. */
export const realtimeProtocol = 'realtime';
const betaProtocol = 'openai-beta.realtime-v1';
const betaHeader = 'realtime=v1';

/** Offered in the handshake, in the order of the client. */
export const offeredProtocols = (header: string | undefined): readonly string[] =>
  (header ?? '').split(',').map((protocol) => protocol.trim());

/** Whether a client expects the events of the beta. */
export function speaksBeta(headers: RequestInput['caller']['headers']): boolean {
  const said = headers['openai-beta'];
  const words = Array.isArray(said) ? said.join(',') : (said ?? '');
  return words.includes(betaHeader) || offeredProtocols(headers['sec-websocket-protocol']).includes(betaProtocol);
}

/** The address with the model. Throws NotConvertible. */
export const withModelNamed = (url: string, model: string): string =>
  `${url}${url.includes('?') ? '&' : '?'}model=${wholeSegment(model)}`;

/** Whether the operator, or the provider, has put the model into the address. */
const namesModel = (base: string, url: string): boolean =>
  base.includes('{model}') || /[?&](?:model|deployment)=/.test(url);

/** Throws NotConvertible. */
export function realtimeRequest(
  variant: OpenAiVariant,
  { provider, channel, caller, model, options }: RequestInput,
): UpstreamRequest {
  const target: Target = { base: baseOf(provider, channel), model, channel, caller, options };
  const url = (variant.url ?? standardUrl)(target);
  return {
    ...noThinking,
    method: 'GET',
    url: namesModel(target.base, url) ? url : withModelNamed(url, model),
    headers: {
      ...(variant.authorize ?? bearerKey)(target),
      ...variant.headers?.(target),
      ...(speaksBeta(caller.headers) && { 'openai-beta': betaHeader }),
    },
    content: { kind: 'conversation', protocol: realtimeProtocol },
    model,
  };
}
