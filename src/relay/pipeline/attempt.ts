import type { ChannelView } from '../../application/ports/storage-ports.js';
import { isImageMode } from '../../domain/channel/provider.js';
import { isUnavailable } from '../../domain/kernel/failure.js';
import type { ChannelId } from '../../domain/kernel/ids.js';
import type { HeldBody } from '../contracts/ports.js';
import type { CallerConversation } from '../contracts/stored-conversation.js';
import { attemptChannel, type ChannelAttemptPorts } from './attempt-channel.js';
import { type Attempt, type AttemptFailure, noRoom } from './attempt-failure.js';
import { Attempts, type Preferred } from './attempts.js';
import { type AnsweredCall, type Course, extended, type ReservedCall, type UnansweredCall } from './call-context.js';
import { servedBody } from './call-group.js';
import { callerRequest } from './caller-request.js';
import { type AccountWatch, watchAccount } from './channels/account-watch.js';
import { affinityOf } from './channels/session-affinity.js';
import type { Resolution } from './resolution.js';
import type { ChannelRequest } from './send-attempt.js';
import { modelAsked, named, sentBody } from './sent-text.js';
import type { StagePorts } from './stage-ports.js';

type AttemptPorts = ChannelAttemptPorts &
  Pick<StagePorts, 'limits' | 'log' | 'channelHealth' | 'parsedChannel' | 'leftChannels' | 'comparedMessages'>;

const none = (): void => {};
const nobodyAsked: Course = { tried: [], failed: undefined, unknownAttempts: 0 };

const unanswered = (call: ReservedCall, failure: AttemptFailure | null, course: Course): UnansweredCall =>
  extended(call, { answer: null, failure, course });

/** What a response made in words of chat says of its conversation. */
function conversationOf(
  { directory }: Pick<AttemptPorts, 'directory'>,
  { incoming: { endpoint, requestId: callId }, conversation }: ReservedCall,
  { continues }: HeldBody,
): { readonly conversation?: CallerConversation } {
  if (endpoint.conversation === undefined || !directory.settings().storesResponses) return {};
  return { conversation: { callId, previous: continues ?? null, stores: conversation !== null } };
}

/** What is put to each channel. It refers to the body: nothing that outlives the attempts may refer to it. */
function channelRequest(ports: AttemptPorts, call: ReservedCall, body: HeldBody): ChannelRequest {
  const { incoming, resolution, reservation, startedAt, connection, admission, user } = call;
  const { endpoint, query, headers } = incoming;
  const model = modelAsked(incoming, body.value);
  const sent = sentBody(body, (given) =>
    ports.comparedMessages.withOwnAlone(user.id, servedBody(call, named(given, model))),
  );
  const files = body.upload === null ? null : body.upload.files;
  const paid = { resolution, reservation, files };
  const { promptTokens } = resolution.estimate;
  return {
    callId: incoming.requestId,
    requestedModel: resolution.requestedModel,
    caller: callerRequest({ endpoint, query, headers, sent, paid, promptTokens, ...conversationOf(ports, call, body) }),
    bodyBytes: body.bytes,
    startedAt,
    payer: user.id,
    answerSlot: admission.answerSlot,
    connection,
    inFlightCall: reservation.inFlightCall,
  };
}

/** null: any channel will do, as far as the cache of its prompt goes. */
function preferredBy(ports: AttemptPorts, call: ReservedCall, body: HeldBody): Preferred | null {
  const { incoming, resolution, user } = call;
  if (resolution.channels.length < 2 || !ports.directory.settings().sessionAffinity) return null;
  const { endpoint, headers } = incoming;
  const { promptTokens } = resolution.estimate;
  const affinity = affinityOf({ endpoint, headers, body: body.value, user: user.id, promptTokens });
  return affinity && { affinity, left: ports.leftChannels.by(affinity, ports.clock.now()) };
}

/** A conversation leaves a channel that has failed it, unless the request was wrong, or its caller had left. */
function noteLeft(ports: AttemptPorts, preferred: Preferred | null, channel: ChannelId, failure: AttemptFailure): void {
  if (preferred === null || failure.answered === 400 || failure.abandoned !== null) return;
  ports.leftChannels.add(preferred.affinity, channel, ports.clock.now());
}

/** Told of a failure amid the answer. Refers to nothing of the request. */
function watchAnswer(ports: AttemptPorts, channel: ChannelView, preferred: Preferred | null): AccountWatch {
  const watch = watchAccount(ports, channel, ports.parsedChannel(channel));
  if (preferred === null) return watch;
  const { affinity } = preferred;
  return (error) => {
    ports.leftChannels.add(affinity, channel.id, ports.clock.now());
    watch(error);
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

/** A task or picture that upstream may have taken goes on there: asked for again elsewhere it would be made twice. */
const isWorthAnother = (
  { endpoint: { mode } }: Pick<Resolution, 'endpoint'>,
  { retryable, costUnknown }: AttemptFailure,
): boolean => retryable && !(costUnknown && (mode === 'task' || isImageMode(mode)));

/** Asks channels in turn until one answers, or nobody is left to ask or to wait. The body is not needed after it. */
export async function attemptCall(
  ports: AttemptPorts,
  call: ReservedCall,
  body: HeldBody,
): Promise<AnsweredCall | UnansweredCall> {
  const { connection, resolution, reservation } = call;
  if (connection.gone) return unanswered(call, null, nobodyAsked);
  const { inFlightCall } = reservation;
  const request = channelRequest(ports, call, body);
  const preferred = preferredBy(ports, call, body);
  const attempts = new Attempts(resolution.channels, ports.clock.now(), preferred);
  const allowed = resolution.pinned ? 1 : ports.directory.settings().retryTimes + 1;
  const givenUp = (failure: AttemptFailure): UnansweredCall => unanswered(call, failure, attempts.course());
  for (;;) {
    const channel = attempts.choose();
    if (channel === null) return givenUp(attempts.failure ?? noRoom());
    const tried = attempts.with(channel.id);
    inFlightCall.attempts = tried;
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
      const faulted = watchAnswer(ports, channel, preferred);
      return extended(call, { course: attempts.course(tried), answer: attempt, leaveChannel: leave, faulted });
    }
    if (attempt.passedOver !== null) {
      attempts.passOver(channel.id, attempt);
      continue;
    }
    attempts.fail(channel.id, attempt, ports.clock.now());
    inFlightCall.sending = null;
    inFlightCall.unknownAttempts = attempts.unknownAttempts;
    noteHealth(ports, channel, attempt);
    noteLeft(ports, preferred, channel.id, attempt);
    if (!isWorthAnother(resolution, attempt) || attempts.count >= allowed || connection.gone) return givenUp(attempt);
  }
}
