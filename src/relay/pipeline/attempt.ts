import type { ChannelView } from '../../application/ports/storage-ports.js';
import { isUnavailable } from '../../domain/kernel/failure.js';
import type { HeldBody } from '../contracts/ports.js';
import { watchAccount } from './account-watch.js';
import { attemptChannel, type ChannelAttemptPorts } from './attempt-channel.js';
import { type Attempt, type AttemptFailure, noRoom } from './attempt-failure.js';
import { Attempts } from './attempts.js';
import { type AnsweredCall, type Course, extended, type ReservedCall, type UnansweredCall } from './call-context.js';
import { servedBody } from './call-group.js';
import { callerRequest } from './caller-request.js';
import type { ChannelRequest } from './send-attempt.js';
import { named, sentBody } from './sent-text.js';
import type { StagePorts } from './stage-ports.js';

type AttemptPorts = ChannelAttemptPorts & Pick<StagePorts, 'limits' | 'log' | 'channelHealth' | 'parsedChannel'>;

const none = (): void => {};
const nobodyAsked: Course = { tried: [], failed: undefined, unknownAttempts: 0 };

const unanswered = (call: ReservedCall, failure: AttemptFailure | null, course: Course): UnansweredCall =>
  extended(call, { answer: null, failure, course });

/** What is put to each channel. It refers to the body: nothing that outlives the attempts may refer to it. */
function channelRequest(call: ReservedCall, body: HeldBody): ChannelRequest {
  const { incoming, resolution, reservation, startedAt, connection, admission, user } = call;
  const { endpoint, query, headers, model } = incoming;
  const sent = sentBody(body, (given) => servedBody(call, named(given, model)));
  const files = body.upload === null ? null : body.upload.files;
  const paid = { resolution, reservation, files };
  const { promptTokens } = resolution.estimate;
  return {
    callId: incoming.requestId,
    requestedModel: resolution.requestedModel,
    caller: callerRequest({ endpoint, query, headers, sent, paid, promptTokens }),
    bodyBytes: body.bytes,
    startedAt,
    payer: user.id,
    answerSlot: admission.answerSlot,
    connection,
    underWay: reservation.underWay,
  };
}

/** Asks one channel if it has a place; the place is held on to by an answer alone. */
async function attemptAt(
  ports: AttemptPorts,
  request: ChannelRequest,
  channel: ChannelView,
): Promise<{ readonly attempt: Attempt; readonly leave: () => void }> {
  const parsed = ports.parsedChannel(channel);
  const leave = await ports.limits.enterChannel(channel.id, parsed.maxCalls);
  if (leave === null) return { attempt: noRoom(), leave: none };
  let answered = false;
  try {
    const attempt = await attemptChannel(ports, request, channel, parsed);
    answered = attempt.ok;
    return { attempt, leave };
  } finally {
    if (!answered) leave();
  }
}

/** Switches a channel off that has shown to be out of order, where the operator wants that. */
function noteHealth(ports: AttemptPorts, { id, settings, secrets }: ChannelView, { outOfOrder }: AttemptFailure): void {
  if (outOfOrder !== null && settings.autoBan && ports.directory.settings().autoDisable.enabled)
    ports.channelHealth.outOfOrder(id, secrets.key, outOfOrder);
}

/** Asks channels in turn until one answers, or nobody is left to ask or to wait. The body is not needed after it. */
export async function attemptCall(
  ports: AttemptPorts,
  call: ReservedCall,
  body: HeldBody,
): Promise<AnsweredCall | UnansweredCall> {
  const { connection, resolution, reservation } = call;
  if (connection.gone) return unanswered(call, null, nobodyAsked);
  const { underWay } = reservation;
  const request = channelRequest(call, body);
  const attempts = new Attempts(resolution.channels, ports.clock.now());
  const allowed = resolution.pinned ? 1 : ports.directory.settings().retryTimes + 1;
  const givenUp = (failure: AttemptFailure): UnansweredCall => unanswered(call, failure, attempts.course());
  for (;;) {
    const channel = attempts.choose();
    if (channel === null) return givenUp(attempts.failure ?? noRoom());
    const tried = attempts.with(channel.id);
    underWay.attempts = tried;
    let asked: Awaited<ReturnType<typeof attemptAt>>;
    try {
      asked = await attemptAt(ports, request, channel);
    } catch (error) {
      if (attempts.failure === null || !isUnavailable(error)) throw error;
      // What an upstream has said is more use to the caller than that nobody else could be asked.
      ports.log.warn({ requestId: request.callId, err: error }, 'no further channel could be asked');
      return givenUp(attempts.failure);
    }
    const { attempt, leave } = asked;
    if (attempt.ok) {
      const faulted = watchAccount(ports, channel, ports.parsedChannel(channel));
      return extended(call, { course: attempts.course(tried), answer: attempt, leaveChannel: leave, faulted });
    }
    if (attempt.passedOver !== null) {
      attempts.passOver(channel.id, attempt);
      continue;
    }
    attempts.fail(channel.id, attempt, ports.clock.now());
    underWay.sending = null;
    underWay.unknownAttempts = attempts.unknownAttempts;
    noteHealth(ports, channel, attempt);
    if (!attempt.retryable || attempts.count >= allowed || connection.gone) return givenUp(attempt);
  }
}
