import { setTimeout } from 'node:timers/promises';
import type { BackgroundCall } from '../../application/ports/background-call-ports.js';
import { CallId } from '../../domain/kernel/ids.js';
import type { Got } from '../answers/answer-reading.js';
import { jsonType } from '../contracts/errors.js';
import type { CallerConnection } from '../delivery/caller-connection.js';
import { passedOn } from '../delivery/passed-on.js';
import { sentBefore } from '../delivery/stream-delivery.js';
import { writeToEnd } from '../delivery/write-answer.js';
import type { AnsweredCall, ConcludedCall, DeliveredCall } from './call-context.js';
import { concludeCall } from './conclude.js';
import { deliverCall, finishCall } from './deliver.js';
import type { StagePorts } from './stage-ports.js';
import { cutUsage, deliveredUsage } from './usage-of-call.js';

/*
 * A call that its upstream works off in the background. Before its caller knows of it, it stands where the process after
 * this one finds it. From then on it has its outcome by what upstream says of it, however its first answer ends.
 */

/** The id by which its upstream is asked for it; null: it is no such answer, or at its end already. */
function idOf(got: Got): string | null {
  if (got.kind === 'sound' || got.kind === 'conversation') return null;
  const generated = got.kind === 'answer' ? got.generated : got.reading.decoder.generated;
  const [response] = generated.kept?.filter(({ kind }) => kind === 'response') ?? [];
  return response === undefined || generated.runsOn !== true ? null : response.id;
}

function backgroundCall(call: AnsweredCall, responseId: string): BackgroundCall {
  const { incoming, user, course, answer, reservation, resolution, startedAt } = call;
  const channelId = course.tried.at(-1);
  if (channelId === undefined) throw new Error('an answer without a channel');
  const { upstreamModel, reasoningEffort, service } = answer;
  return {
    callId: CallId(incoming.requestId),
    userId: user.id,
    ...{ channelId, responseId },
    since: startedAt,
    model: resolution.model,
    bound: reservation.bound,
    promptTokens: resolution.estimate.promptTokens,
    service: service ?? null,
    course: {
      attempts: course.tried,
      failedAttempts: course.failed,
      upstreamModel: upstreamModel === resolution.requestedModel ? null : upstreamModel,
      reasoningEffort,
      unknownAttempts: course.unknownAttempts,
    },
  };
}

/**
 * Delivers a call that was to be worked off in the background; null: it was not, and is a call like every other. True:
 * the answer has reached its caller whole. Throws where the call could not be written down: recovery then finds it.
 */
export async function serveBackground(ports: StagePorts, call: AnsweredCall): Promise<boolean | null> {
  const { got } = call.answer;
  const id = call.resolution.background ? idOf(got) : null;
  if (id === null) return null;
  const background = backgroundCall(call, id);
  await ports.background.begin(background);
  if (got.kind !== 'answer') return streamed(ports, background.callId, await deliverCall(ports, call));
  const { connection } = call;
  if (connection.gone) return false;
  connection.begin(jsonType, passedOn(call), got.bytes.length);
  await writeToEnd(connection, got.bytes, ports.stalledCallers);
  return true;
}

/** Has the stream come to upstream's own end? Then it says what the call has used. */
const isWhole = ({ delivery }: DeliveredCall): boolean =>
  delivery.kind === 'stream' &&
  delivery.outcome === 'completed' &&
  delivery.reading.decoder.usage !== null &&
  delivery.reading.decoder.generated.finishReason !== null;

/** Its end may not say what it has used; then it costs what a stream does whose caller hangs up. */
async function noteDelivered(ports: StagePorts, callId: CallId, call: DeliveredCall): Promise<void> {
  const { delivery } = call;
  if (delivery.kind !== 'stream') return;
  const { said, toolCalls } = delivery.reading.decoder.generated;
  if (said.bytes + toolCalls === 0) return;
  const { usage, usageSource } = cutUsage(ports, call, deliveredUsage(ports, call));
  await ports.background.delivered(callId, { usage, usageSource });
}

/** Milliseconds. */
const pendingLook = 20;

/** Bytes that were not too many to be written at once announce no end; who does not take them is given up elsewhere. */
async function taken(connection: CallerConnection): Promise<void> {
  while (connection.pending > 0 && !connection.gone) await setTimeout(pendingLook);
}

/** A stream that breaks is one for its caller too, who asks for the rest: the call goes on. */
async function streamed(ports: StagePorts, callId: CallId, delivered: DeliveredCall): Promise<boolean> {
  const { connection, delivery, heartbeat } = delivered;
  if (isWhole(delivered)) {
    const concluded: ConcludedCall = await concludeCall(ports, delivered);
    if (concluded.charged !== null) await ports.background.end(callId);
    return finishCall(ports, concluded);
  }
  heartbeat.stop();
  await noteDelivered(ports, callId, delivered);
  if (delivery.outcome === 'quota-ran-out') await ports.background.stop(callId);
  // What has failed upstream, or cannot be paid for any longer, is reported; it has its outcome by what upstream says of it.
  if (delivery.kind === 'stream' && delivery.error !== null && delivery.outcome !== 'gateway-failed') {
    const failed = delivery.outcome === 'quota-ran-out' || delivery.reading.decoder.failed === true;
    const { dialect } = delivered.resolution.endpoint;
    const frame = dialect.errorFrame(delivery.error, connection.requestId, sentBefore(delivery));
    if (failed) connection.end(`${frame}${dialect.endFrame}`);
    if (failed) return false;
  }
  // With what was written: the id is in it.
  await new Promise((resolve) => setImmediate(resolve));
  if (connection.pending > 0) {
    ports.stalledCallers.watch(connection);
    await taken(connection);
  }
  if (!connection.gone) connection.breakOff();
  return false;
}
