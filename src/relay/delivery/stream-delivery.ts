import type { CallOutcome } from '../../domain/call/call.js';
import type { StreamReading } from '../answers/answer-reading.js';
import type { SentBefore } from '../contracts/caller-dialect.js';
import { logBug, type RelayError, storeUnavailable } from '../contracts/errors.js';
import type { RelayPorts } from '../contracts/ports.js';
import { seenTokens } from '../metering/believed-usage.js';
import type { AnsweredCall, ConcludedCall } from '../pipeline/call-context.js';
import { elapsed, presentFor } from './call-times.js';
import { watchGrowth } from './growth.js';
import { hiddenCosts } from './hidden-costs.js';
import { passedOn } from './passed-on.js';
import { pump } from './pump.js';
import { SilentTime } from './silent-time.js';
import type { StalledCallers } from './stalled-callers.js';
import { eventStreamType, streamHeaders } from './write-answer.js';

/* A streamed answer: its caller gets all of it as it comes, but the end, which waits for the settlement. */

/** A stream that has reached its caller, but for its end. */
export interface StreamDelivery {
  readonly kind: 'stream';
  readonly reading: StreamReading;
  readonly outcome: CallOutcome;
  readonly firstTokenMs: number;
  /** The failure that the caller gets in the stream; null: nothing went wrong. */
  readonly error: RelayError | null;
  /** Something of the answer was sent. */
  readonly begun: boolean;
  /** Upstream was stopped by us before it had come to its end. */
  readonly cutShort: boolean;
  /** null: nothing of it can have gone unseen. */
  readonly silence: SilentTime | null;
}

const chargeFollows = 'the event store cannot be reached; the charge for what was delivered will follow';

interface StreamDeliveryPorts extends Pick<RelayPorts, 'clock' | 'config' | 'log'> {
  readonly stalledCallers: StalledCallers;
}

/** Begins the answer, unless a heartbeat has, and passes the stream on to its end. */
export async function passStream(
  ports: StreamDeliveryPorts,
  call: AnsweredCall,
  reading: StreamReading,
): Promise<StreamDelivery> {
  const { connection, heartbeat, reservation, resolution, faulted } = call;
  const { estimate, model, endpoint } = resolution;
  const { stalledCallers, config } = ports;
  const { decoder } = reading;
  const firstTokenMs = elapsed(ports, call);
  const type = endpoint.dialect.streamType ?? eventStreamType;
  if (!heartbeat.takeOver()) connection.begin(type, [...streamHeaders, ...passedOn(call)]);
  const { inFlightCall } = reservation;
  inFlightCall.firstTokenMs = firstTokenMs;
  inFlightCall.stream = decoder;
  const { thinks, hasAudio } = hiddenCosts(call, call.answer);
  const costsUnseen = thinks || hasAudio || estimate.uncounted;
  const seen = (): number => seenTokens(decoder.generated, model);
  const silence = costsUnseen ? new SilentTime(() => presentFor(ports, call), seen) : null;
  const pumped = await pump(connection, reading, {
    stalledCallers,
    growth: watchGrowth(reservation, estimate),
    heartbeat,
    callerGoneMs: config.callerGoneMs,
    costsUnseen,
    silence,
    faulted,
  });
  const { outcome, error, begun, cutShort, bug } = pumped;
  if (bug !== null) logBug(ports.log, connection.requestId, bug);
  return { kind: 'stream', reading, outcome, firstTokenMs, error, begun, cutShort, silence };
}

export const sentBefore = ({ begun, reading }: StreamDelivery): SentBefore => ({
  begun,
  sequence: reading.decoder.nextSequence ?? 0,
});

/** Ends it. True: it is whole. */
export function endStream(call: ConcludedCall, delivery: StreamDelivery, stalledCallers: StalledCallers): boolean {
  const { connection, heartbeat, finalUsage, charged } = call;
  const { reading, error, outcome } = delivery;
  const { dialect } = call.resolution.endpoint;
  heartbeat.stop();
  // Without the end mark: the caller must not take this answer for a complete one.
  if (charged === null)
    connection.end(dialect.errorFrame(storeUnavailable(chargeFollows), connection.requestId, sentBefore(delivery)));
  else if (error === null) {
    const last = reading.decoder.closing(finalUsage.usage);
    if (call.answer.stores && outcome === 'completed') call.conversation?.store(last, true);
    connection.end(last);
  } else connection.end(`${dialect.errorFrame(error, connection.requestId, sentBefore(delivery))}${dialect.endFrame}`);
  if (connection.pending > 0) stalledCallers.watch(connection);
  return error === null;
}
