import type { Directory } from '../../../application/ports/storage-ports.js';
import type { ChannelId } from '../../../domain/kernel/ids.js';
import type { Endpoint } from '../../contracts/endpoint.js';
import { RelayError } from '../../contracts/errors.js';
import type { RelayPorts } from '../../contracts/ports.js';
import {
  type CallerRequest,
  NotConvertible,
  type Provider,
  type UpstreamChannel,
  type UpstreamRequest,
} from '../../contracts/protocol.js';
import { undoubled } from '../../protocols/model-address.js';
import { noContent } from '../../upstream/request-content.js';
import { callerRequest } from '../caller-request.js';
import type { ParsedChannel } from '../channels/channel-settings.js';
import { servedAsAsked } from '../channels/served-mode.js';
import { requestOptions, upstreamChannelOf } from '../channels/upstream-channel.js';
import type { StagePorts } from '../stage-ports.js';

/* A request for something that an upstream keeps, beside calls: where calls of its endpoint go, and below that. */

export interface ResourceRequest {
  readonly method: UpstreamRequest['method'];
  /** In place of the last part of the address that calls go to, e.g. `conversations`; null: below that. */
  readonly instead: string | null;
  /** What follows, part by part. */
  readonly path: readonly string[];
  readonly query: URLSearchParams;
  /** As it goes upstream, of the call that has left it there; empty: of none, or nobody knows. */
  readonly model: string;
  /** JSON; null: nothing is sent along. */
  readonly content: string | null;
}

export type ResourcePorts = Pick<RelayPorts, 'vault' | 'directory' | 'config' | 'clock' | 'providerOf'> &
  Pick<StagePorts, 'parsedChannel'>;

/** The upstream that keeps it. */
export interface Keeper {
  readonly channelId: ChannelId;
  readonly provider: Provider;
  readonly channel: UpstreamChannel;
  readonly parsed: ParsedChannel;
}

const unavailable = (): RelayError =>
  new RelayError(
    503,
    'kept_channel_unavailable',
    'what is asked for is kept at an upstream that is switched off or gone',
    {
      shouldRetry: false,
    },
  );

/** Throws RelayError: the channel cannot be asked. `evenDisabled`: one that is switched off is asked all the same. */
export async function keeperOf(
  ports: ResourcePorts,
  channelId: ChannelId,
  endpoint: Pick<Endpoint, 'mode'>,
  evenDisabled = false,
): Promise<Keeper> {
  const view = (ports.directory as Pick<Directory, 'channel'>).channel(channelId);
  if (view === null || (view.status !== 'enabled' && !evenDisabled) || !servedAsAsked([view], ports, endpoint))
    throw unavailable();
  const provider = ports.providerOf(view.settings.type);
  const parsed = ports.parsedChannel(view);
  const channel = await upstreamChannelOf(ports, view, parsed);
  if (provider === null || channel === null) throw unavailable();
  return { channelId, provider, channel, parsed };
}

/** As who asks for it is answered. `model`: as the call has asked for it. */
export const resourceCaller = (
  endpoint: Endpoint,
  query: URLSearchParams,
  headers: CallerRequest['headers'],
  { stream, model }: { readonly stream: boolean; readonly model: string },
): CallerRequest => {
  const body = { model, stream };
  const sent = { source: null, body, exact: () => body };
  return { ...callerRequest({ endpoint, query, headers, sent, paid: null, promptTokens: 0 }), stream };
};

/** Throws RelayError: there is no such address at this upstream. */
export function resourceRequest(
  ports: ResourcePorts,
  { provider, channel, parsed }: Keeper,
  caller: CallerRequest,
  { method, instead, path, query, model, content }: ResourceRequest,
): UpstreamRequest {
  const options = requestOptions(ports, parsed, { pictures: new Map(), callback: null });
  let call: UpstreamRequest;
  try {
    call = provider.protocol.request({ provider, channel, caller, model, options });
  } catch (error) {
    if (!(error instanceof NotConvertible)) throw error;
    throw new RelayError(400, 'convert_request_failed', error.message);
  }
  const url = new URL(undoubled(channel.baseUrl, call.url));
  const base = instead === null ? url.pathname : url.pathname.replace(/[^/]*$/, instead);
  url.pathname = [base, ...path.map(encodeURIComponent)].join('/');
  for (const [name, value] of query) url.searchParams.append(name, value);
  const { 'content-type': type, ...headers } = call.headers;
  return {
    ...call,
    ...{ method, url: url.href },
    headers: content === null ? headers : { ...headers, 'content-type': type ?? 'application/json' },
    content: content === null ? noContent : { kind: 'json', text: content },
  };
}
