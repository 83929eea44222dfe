import type { IncomingHttpHeaders } from 'node:http';
import type { ApiKeyView, UserView } from '../../application/ports/storage-ports.js';
import type { FailedAttempt, SettledTask } from '../../domain/call/call.js';
import type { ChannelId } from '../../domain/kernel/ids.js';
import type { Instant } from '../../domain/kernel/instant.js';
import type { Quota } from '../../domain/kernel/quota.js';
import type { Caller, Shown } from '../admission/authenticate.js';
import type { Leave } from '../admission/call-limits.js';
import type { Endpoint } from '../contracts/endpoint.js';
import type { BodySource, HeldBody } from '../contracts/ports.js';
import type { CallerConnection } from '../delivery/caller-connection.js';
import { type Heartbeat, noHeartbeat } from '../delivery/heartbeats.js';
import type { Answering } from '../delivery/refusal.js';
import type { SoundDelivery } from '../delivery/sound-delivery.js';
import type { StreamDelivery } from '../delivery/stream-delivery.js';
import type { WholeDelivery } from '../delivery/whole-delivery.js';
import type { UsedTokens } from '../metering/believed-usage.js';
import type { Reservation } from '../metering/metered.js';
import type { AnswerSlot } from '../upstream/answer-room.js';
import type { AnsweredAttempt, AttemptFailure } from './attempt-failure.js';
import type { AccountWatch } from './channels/account-watch.js';
import type { HeldConversation } from './kept/stored-conversation.js';
import type { Resolution } from './resolution.js';

/*
 * What is known of a call. Each stage takes a context, leaves it as it is and hands on a new one that says more; what no
 * stage has found out yet is null. Alive in it are only the connection, the heartbeat and the reservation with its note
 * of progress. Nothing in it refers to the caller's body, which would be kept as long as the answer takes.
 */

/** What a call comes with, over whatever it comes. */
interface Incoming extends Shown {
  readonly requestId: string;
  /** The user who calls in person; `credential` is not looked at then. Left out: an API key calls. */
  readonly inPerson?: UserView;
  readonly endpoint: Endpoint;
  /** The model that the address names, whatever the body says; null: the body names it. */
  readonly model: string | null;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
}

/** A call whose body is not read yet: who calls is authenticated first. */
export interface UnreadCall extends Incoming {
  readonly bodySource: BodySource;
}

/** Reads a body that has come already; `holder`: whose share of the memory for bodies it takes. Throws RelayError. */
type ReadBody = (holder: number) => Promise<HeldBody>;

/** The same, or one whose body whoever hands it on reads by itself. */
export interface ConnectedCall extends Incoming {
  readonly bodySource: BodySource | ReadBody;
}

/** A call over HTTP. */
export interface IncomingCall extends UnreadCall, Answering {}

/** What a call occupies from its admission to its end. */
interface Admission {
  /** In the limits of its user and API key. */
  readonly leave: Leave;
  /** Counts what is held of whole answers. */
  readonly answerSlot: AnswerSlot;
}

/** What a body asks for, as it says it; who is refused may have written anything. */
interface NamedInBody {
  readonly model: unknown;
  /** A group there is, named in person; empty: none. */
  readonly group: string;
}

/** The channels that were asked. */
export interface Course {
  /** In the order tried; the last one answered, if one did. */
  readonly tried: readonly ChannelId[];
  /** undefined: none failed. */
  readonly failed: readonly FailedAttempt[] | undefined;
  /** Attempts that upstream may charge for although nobody knows what. */
  readonly unknownAttempts: number;
}

export interface CallContext {
  readonly incoming: Incoming;
  readonly connection: CallerConnection;
  /** That it came with, also one that is refused; null: none that is known, or a user calls in person. */
  readonly apiKey: ApiKeyView | null;
  readonly user: UserView | null;
  /** Text behind the key; null: any channel will do. */
  readonly pinnedChannel: string | null;
  readonly admission: Admission | null;
  readonly named: NamedInBody | null;
  readonly resolution: Resolution | null;
  readonly reservation: Reservation | null;
  readonly startedAt: Instant | null;
  /** Of a response that may have to be stored here; null: none may. */
  readonly conversation: HeldConversation | null;
  /** Fills the silence of its stream. */
  readonly heartbeat: Heartbeat;
  readonly course: Course | null;
  readonly answer: AnsweredAttempt | null;
  /** Of the last attempt, where nobody answers. */
  readonly failure: AttemptFailure | null;
  readonly leaveChannel: (() => void) | null;
  readonly faulted: AccountWatch | null;
  /** That its upstream has taken with its answer; null: none. */
  readonly task: SettledTask | null;
  readonly delivery: Delivery | null;
  readonly finalUsage: UsedTokens | null;
  readonly charged: Quota | null;
}

type Delivery = WholeDelivery | SoundDelivery | StreamDelivery;

/** Its caller is known, and may call. */
export interface AuthenticatedCall extends CallContext, Caller {
  readonly user: UserView;
}

/** It has its places in the limits of its user and key. */
export interface LimitedCall extends AuthenticatedCall {
  readonly user: UserView;
  readonly admission: Admission;
}

/** Its body has been read. */
export interface NamedCall extends LimitedCall {
  readonly named: NamedInBody;
}

export interface ResolvedCall extends NamedCall {
  readonly resolution: Resolution;
}

/** It ends with an outcome in the log, whatever happens. */
export interface ReservedCall extends ResolvedCall {
  readonly reservation: Reservation;
  readonly startedAt: Instant;
}

interface AttemptedCall extends ReservedCall {
  readonly course: Course;
}

/** An upstream answers. */
export interface AnsweredCall extends AttemptedCall {
  readonly answer: AnsweredAttempt;
  /** Gives back the place at the channel that answers. */
  readonly leaveChannel: () => void;
  /** Called with a failure of that channel amid its answer. */
  readonly faulted: AccountWatch;
}

export interface UnansweredCall extends AttemptedCall {
  readonly answer: null;
  /** Of the last attempt; null: its caller had left before any. */
  readonly failure: AttemptFailure | null;
}

/** Its caller has what there is for it, but for the end. */
export interface DeliveredCall extends AnsweredCall {
  readonly delivery: Delivery;
}

export interface ConcludedCall extends DeliveredCall {
  readonly finalUsage: UsedTokens;
  /** null: the log has not taken the settlement. */
  readonly charged: Quota | null;
}

/** Written out, so that all have one shape: put together by spreading, those of a call cost ten times as much. */
class Context implements CallContext {
  readonly incoming: CallContext['incoming'];
  readonly connection: CallContext['connection'];
  readonly apiKey: CallContext['apiKey'];
  readonly user: CallContext['user'];
  readonly pinnedChannel: CallContext['pinnedChannel'];
  readonly admission: CallContext['admission'];
  readonly named: CallContext['named'];
  readonly resolution: CallContext['resolution'];
  readonly reservation: CallContext['reservation'];
  readonly startedAt: CallContext['startedAt'];
  readonly conversation: CallContext['conversation'];
  readonly heartbeat: CallContext['heartbeat'];
  readonly course: CallContext['course'];
  readonly answer: CallContext['answer'];
  readonly failure: CallContext['failure'];
  readonly leaveChannel: CallContext['leaveChannel'];
  readonly faulted: CallContext['faulted'];
  readonly task: CallContext['task'];
  readonly delivery: CallContext['delivery'];
  readonly finalUsage: CallContext['finalUsage'];
  readonly charged: CallContext['charged'];

  constructor(from: CallContext) {
    this.incoming = from.incoming;
    this.connection = from.connection;
    this.apiKey = from.apiKey;
    this.user = from.user;
    this.pinnedChannel = from.pinnedChannel;
    this.admission = from.admission;
    this.named = from.named;
    this.resolution = from.resolution;
    this.reservation = from.reservation;
    this.startedAt = from.startedAt;
    this.conversation = from.conversation;
    this.heartbeat = from.heartbeat;
    this.course = from.course;
    this.answer = from.answer;
    this.failure = from.failure;
    this.leaveChannel = from.leaveChannel;
    this.faulted = from.faulted;
    this.task = from.task;
    this.delivery = from.delivery;
    this.finalUsage = from.finalUsage;
    this.charged = from.charged;
  }
}

export const incomingContext = (incoming: Incoming, connection: CallerConnection): CallContext =>
  new Context({
    incoming,
    connection,
    apiKey: null,
    user: null,
    pinnedChannel: null,
    admission: null,
    named: null,
    resolution: null,
    reservation: null,
    startedAt: null,
    conversation: null,
    heartbeat: noHeartbeat,
    course: null,
    answer: null,
    failure: null,
    leaveChannel: null,
    faulted: null,
    task: null,
    delivery: null,
    finalUsage: null,
    charged: null,
  });

/** A new context that knows more than `call`, which stays as it is. */
export const extended = <Call extends CallContext, Known extends Partial<CallContext>>(
  call: Call,
  known: Known,
): Call & Known => Object.assign(new Context(call), known) as unknown as Call & Known;

/** The last context that a call has reached, for whoever must report its failure. The one thing of it that changes. */
export class Reached {
  constructor(public last: CallContext) {}

  to<Context extends CallContext>(context: Context): Context {
    this.last = context;
    return context;
  }
}
