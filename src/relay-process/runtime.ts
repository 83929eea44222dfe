import { getHeapStatistics } from 'node:v8';
import { requestId } from '../application/request-id.js';
import type { Config } from '../config.js';
import { BodyRoom } from '../http/body-room.js';
import { clientAddress, type ReportDoubt } from '../http/client-address.js';
import { addressGuard, resolveBySystem } from '../outbound/address-guard.js';
import type { RelayPorts } from '../relay/contracts/ports.js';
import { type CallerSockets, joinedSockets, openRealtimeSockets } from '../relay/dialects/openai/realtime/sockets.js';
import { openResponsesSockets } from '../relay/dialects/openai/responses-socket/sockets.js';
import { requestBodies } from '../relay/dialects/request-body.js';
import {
  type DialectRouter,
  type DialectRouterOptions,
  openDialectRouter,
  requestIdHeaders,
} from '../relay/dialects/router.js';
import { openRelay, type Relay } from '../relay/pipeline/relay.js';
import { providerOf } from '../relay/providers/registry.js';
import { SoundLengths } from '../relay/sound/sound-length.js';
import { LargeWork } from '../relay/text/large-work.js';
import { AccessTokens } from '../relay/upstream/access-tokens.js';
import { AnswerRoom } from '../relay/upstream/answer-room.js';
import { openControlClient } from '../relay/upstream/control-client.js';
import { openPictures } from '../relay/upstream/pictures.js';
import { openUpstream } from '../relay/upstream/upstream.js';
import { billingPaths } from '../rest-compat/billing.js';
import { headersOfAll } from './http-listener.js';

/* What every process that serves calls has of its own: connections upstream, and room for what passes through. */

/** Users and API keys a process keeps in memory, each. */
export const directoryCapacity = 100_000;

/** What WebSockets remember of conversations, beside as much memory as a process may have. */
const shareRemembered = 16;

interface Relaying {
  readonly relay: Relay;
  readonly entrance: DialectRouter;
  readonly addressOf: DialectRouterOptions['addressOf'];
  readonly bodyRoom: BodyRoom;
  /** Of the Responses interface, and of realtime sessions. */
  readonly webSockets: CallerSockets;
  /** For who asks upstream without a call. */
  readonly ports: Pick<
    RelayPorts,
    Shared | 'upstream' | 'pictures' | 'authorising' | 'largeWork' | 'answers' | 'providerOf' | 'config'
  >;
  close(): Promise<void>;
}

/** What a process shares with the others of its node, or asks them for. */
type Shared =
  | 'directory'
  | 'gate'
  | 'meter'
  | 'vault'
  | 'clock'
  | 'limits'
  | 'wrongKeys'
  | 'apiKeyStatus'
  | 'channelHealth'
  | 'refusals'
  | 'kept'
  | 'background'
  | 'storedResponses'
  | 'tasks'
  | 'log';

export function openRelayRuntime(
  { server, relay: config, outbound }: Pick<Config, 'server' | 'relay' | 'outbound'>,
  shared: Pick<RelayPorts, Shared> & Pick<DialectRouterOptions, 'directory'> & { readonly doubted: ReportDoubt },
): Relaying {
  const upstream = openUpstream({
    connections: config.upstreamConnections,
    guard: config.upstreamNetworks && addressGuard(config.upstreamNetworks, resolveBySystem),
  });
  // For addresses that callers choose.
  const publicInternet = openUpstream({
    connections: config.upstreamConnections,
    guard: addressGuard([], resolveBySystem),
  });
  // For addresses that providers return.
  const files = openUpstream({
    connections: config.upstreamConnections,
    guard: addressGuard(outbound.allowedNetworks, resolveBySystem),
  });
  const pictures = openPictures(publicInternet);
  const bodyRoom = openBodyRoom(server);
  const largeWork = new LargeWork();
  const answers = new AnswerRoom(getHeapStatistics().heap_size_limit);
  const authorising = {
    clock: shared.clock,
    sideRequests: openControlClient(upstream, answers),
    accessTokens: new AccessTokens(shared.clock),
  };
  const ports = { ...shared, upstream, pictures, files, authorising, largeWork, answers, providerOf, config };
  const bodies = requestBodies(bodyRoom, largeWork, new SoundLengths(), server.maxBodyBytes);
  const relay = openRelay({ ...ports, bodies });
  const addressOf = clientAddress(server.trustedProxies, shared.doubted);
  const newRequestId = () => requestId(shared.clock.now());
  const { directory, vault, clock, log } = shared;
  const entrance = openDialectRouter({
    relay,
    directory,
    vault,
    clock,
    newRequestId,
    headers: headersOfAll(server),
    addressOf,
    providerName: (type) => providerOf(type)?.name ?? null,
    elsewhere: billingPaths,
    log,
  });
  const responsesSockets = openResponsesSockets({
    ...{ relay, directory, newRequestId, largeWork, bodyRoom, addressOf, requestIdHeaders, log },
    maxMessageBytes: server.maxBodyBytes,
    rememberedBytes: getHeapStatistics().heap_size_limit / shareRemembered,
    limits: { messageMs: server.requestTimeoutMs },
  });
  const realtimeSockets = openRealtimeSockets({
    ...{ relay, newRequestId, bodyRoom, addressOf, requestIdHeaders, log },
    maxMessageBytes: server.maxBodyBytes,
    limits: { messageMs: server.requestTimeoutMs },
  });
  const webSockets = joinedSockets([responsesSockets, realtimeSockets]);
  const close = async (): Promise<void> => {
    await Promise.all([webSockets.end(), upstream.close(), publicInternet.close(), files.close()]);
  };
  return { relay, entrance, addressOf, bodyRoom, webSockets, ports, close };
}

function openBodyRoom({ maxBodyBytes, maxBodiesBytes, maxUnfinishedBodies }: Config['server']): BodyRoom {
  const wanted = maxBodiesBytes ?? getHeapStatistics().heap_size_limit / 4;
  return new BodyRoom({
    totalBytes: Math.max(wanted, maxBodyBytes),
    maxBytes: maxBodyBytes,
    unfinishedPerAddress: maxUnfinishedBodies,
  });
}
