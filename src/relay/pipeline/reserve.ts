import type { SpendingTerms } from '../../domain/api-key/api-key-terms.js';
import type { CallFacts } from '../../domain/call/call.js';
import { CallId } from '../../domain/kernel/ids.js';
import { type Heartbeat, noHeartbeat } from '../delivery/heartbeats.js';
import { extended, type ReservedCall, type ResolvedCall } from './call-context.js';
import { paymentRefusal } from './payment-refusal.js';
import type { StagePorts } from './stage-ports.js';

type ReservePorts = Pick<StagePorts, 'clock' | 'directory' | 'meter' | 'heartbeats'>;

/** Who calls without an API key spends what there is. */
export const inPerson: SpendingTerms = { unlimited: true, budget: null };

export function callFacts({ user, apiKey, resolution }: ResolvedCall): CallFacts {
  const facts = {
    userId: user.id,
    apiKeyId: apiKey?.id ?? null,
    apiKeyName: apiKey?.terms.name ?? `playground-${resolution.group}`,
    group: resolution.group,
    model: resolution.model,
    path: resolution.endpoint.path,
    stream: resolution.stream,
  };
  return resolution.alias === null ? facts : { ...facts, alias: resolution.alias };
}

function heartbeatOf({ directory, heartbeats }: ReservePorts, call: ResolvedCall): Heartbeat {
  const { connection, resolution } = call;
  if (!resolution.stream || resolution.endpoint.mode === 'realtime') return noHeartbeat;
  const { pingIntervalMs: intervalMs, streamOpenMs: openAfterMs } = directory.settings();
  return heartbeats.begin({ connection, dialect: resolution.endpoint.dialect, openAfterMs, intervalMs });
}

/**
 * Reserves the most that the call can cost, or as much of it as its caller has, durably before upstream is asked.
 * Whoever gets the result must conclude the call, or leave it to recovery. Throws RelayError, when it cannot be
 * afforded.
 */
export async function reserveCall(ports: ReservePorts, call: ResolvedCall): Promise<ReservedCall> {
  const { apiKey, resolution, incoming } = call;
  const startedAt = ports.clock.now();
  const { unlimited, budget } = apiKey?.terms ?? inPerson;
  const { estimate } = resolution;
  const callId = CallId(incoming.requestId);
  const reserving = await ports.meter.reserve(callId, callFacts(call), { unlimited, budget }, estimate);
  if (!reserving.ok) throw paymentRefusal(reserving.shortage, estimate, ports.directory.settings());
  const { reservation } = reserving;
  return extended(call, { startedAt, reservation, heartbeat: heartbeatOf(ports, call) });
}
