import { getHeapStatistics } from 'node:v8';
import type { TaskPage, TaskView } from '../../application/ports/task-ports.js';
import { BodyRoom } from '../../http/body-room.js';
import { authenticate, type KeyCaller, type Shown } from '../admission/authenticate.js';
import { PlacesPerUser } from '../admission/places-per-user.js';
import type { HeldBody, RelayPorts } from '../contracts/ports.js';
import type { CallerConnection } from '../delivery/caller-connection.js';
import { openHeartbeats } from '../delivery/heartbeats.js';
import { HttpCaller } from '../delivery/http-caller.js';
import { watchStalledCallers } from '../delivery/stalled-callers.js';
import { authenticateCall, enterLimits, identifyCall, leaveLimits } from './admit.js';
import { attemptCall } from './attempt.js';
import { serveBackground } from './background.js';
import {
  type AnsweredCall,
  type ConnectedCall,
  extended,
  type IncomingCall,
  incomingContext,
  type LimitedCall,
  Reached,
  type ReservedCall,
  type UnreadCall,
} from './call-context.js';
import { channelParser } from './channels/channel-settings.js';
import { LeftChannels } from './channels/left-channels.js';
import { concludeCall, concludeFaulted, concludeUnanswered, whileReserved } from './conclude.js';
import { countPrompt, type TokenCount } from './counting.js';
import { deliverCall, finishCall } from './deliver.js';
import { ComparedMessages } from './kept/compared-messages.js';
import { type KeptRequest, serveKept } from './kept/kept-resource.js';
import { makeConversation } from './kept/make-conversation.js';
import { maxConversationBytes } from './kept/packed-conversation.js';
import { continuedBody, holdConversation } from './kept/stored-conversation.js';
import { serveSession } from './realtime/session.js';
import { refuseCall } from './refused-call.js';
import { reserveCall } from './reserve.js';
import { nameCall, releaseBackgroundSlot, resolveCall } from './resolve.js';
import type { StagePorts } from './stage-ports.js';
import { HeldFiles } from './tasks/held-files.js';
import { type OwnTasksRequest, ownTasks } from './tasks/own-tasks.js';
import { deleteVideo, type OwnVideo, type OwnVideos, ownVideo, ownVideos } from './tasks/own-videos.js';
import { submitTask } from './tasks/submit-task.js';
import { type PictureRequest, servePicture } from './tasks/task-picture.js';
import { askAboutTask, type TaskQuestion, type TaskReply } from './tasks/task-question.js';
import { type TaskReport, takeReport } from './tasks/task-report.js';
import { releaseTaskSlot } from './tasks/task-slot.js';
import { type SignedVideoRequest, sendSignedVideo, sendVideoFile, type VideoFileRequest } from './tasks/video-file.js';

/* A metered call from its request to its outcome, stage by stage. */

export interface Relay {
  /** Answers the call, whatever happens; never rejects. */
  handle(call: IncomingCall): Promise<void>;
  /** The same over whatever connection: what is written to it is for that to send. */
  serve(call: ConnectedCall, connection: CallerConnection): Promise<void>;
  /** The caller behind a request that is no call, e.g. a model listing. Throws RelayError. */
  identify(shown: Shown): Promise<KeyCaller>;
  /** The same, counted by the limits as a call; what is returned ends it. Throws RelayError, with 429 of the limits. */
  admit(shown: Shown): Promise<(succeeded: boolean) => void>;
  /** How many tokens the prompt of a call has: nothing is generated, and nobody pays. Throws RelayError. */
  count(call: UnreadCall): Promise<TokenCount>;
  /** Something that a provider keeps, for its owner: made, looked at, changed, deleted, cancelled. Throws RelayError. */
  kept(request: KeptRequest): Promise<void>;
  /** Those of the tasks that are the caller's. Throws RelayError. */
  ownTasks(request: OwnTasksRequest): Promise<readonly TaskView[]>;
  /** What the upstream of one of the caller's tasks answers to a question about it. Throws RelayError. */
  askAboutTask(question: TaskQuestion): Promise<TaskReply>;
  /** What an upstream reports of a task. Throws RelayError. */
  takeReport(report: TaskReport): Promise<void>;
  /** The picture of a task, for whoever has its address. Throws RelayError, where nothing is sent yet. */
  taskPicture(connection: CallerConnection, asked: PictureRequest): Promise<void>;
  /** Videos that are the caller's, and their files. Throws RelayError. */
  ownVideo(shown: Shown, id: string): Promise<OwnVideo>;
  ownVideos(shown: Shown, page: TaskPage): Promise<OwnVideos>;
  deleteVideo(shown: Shown, id: string): Promise<void>;
  sendVideoFile(request: VideoFileRequest): Promise<void>;
  /** The video of a task, for whoever has its address. Throws RelayError, where nothing is sent yet. */
  sendSignedVideo(request: SignedVideoRequest): Promise<void>;
  /** Calls under way. */
  active(): number;
}

/** What is held of conversations until their responses are stored, of as much memory as a process may have. */
const shareOfConversations = 32;
/** A player has two or three requests at a time. */
const signedDownloadsPerUser = 12;

export function openRelay(relayPorts: RelayPorts): Relay {
  const { config, log } = relayPorts;
  const stalledCallers = watchStalledCallers({
    limitMs: config.callerStallMs,
    gaveUp: ({ requestId, pending }) =>
      log.info({ requestId, pending }, 'a caller takes nothing of its answer any more and is given up'),
  });
  const heartbeats = openHeartbeats();
  const leftChannels = new LeftChannels();
  const comparedMessages = new ComparedMessages();
  const conversationRoom = new BodyRoom({
    totalBytes: Math.max(getHeapStatistics().heap_size_limit / shareOfConversations, maxConversationBytes),
    maxBytes: maxConversationBytes,
    unfinishedPerAddress: Number.MAX_SAFE_INTEGER,
  });
  const ports = {
    ...{ ...relayPorts, parsedChannel: channelParser() },
    ...{ heartbeats, stalledCallers, leftChannels, comparedMessages, conversationRoom },
    heldFiles: new HeldFiles(relayPorts.answers.maxBytes),
    signedDownloads: new PlacesPerUser(signedDownloadsPerUser),
  };
  let active = 0;

  const counted = async (work: () => Promise<void>): Promise<void> => {
    active++;
    try {
      await work();
    } finally {
      active--;
    }
  };

  const serve = async (call: ConnectedCall, connection: CallerConnection): Promise<void> => {
    if (connection.gone) return;
    active++;
    const reached = new Reached(incomingContext(call, connection));
    try {
      await serveCall(ports, call, reached);
    } catch (error) {
      refuseCall(ports, reached.last, error);
    } finally {
      reached.last.heartbeat.stop();
      active--;
    }
  };

  return {
    identify: (shown) => authenticate(ports, shown),
    async admit(shown) {
      const { user, apiKey } = await authenticate(ports, shown);
      return ports.limits.admit(user.id, apiKey.id, ports.directory.settings());
    },
    count: (call) => countPrompt(ports, call),
    // What has no id yet is made.
    kept: (request) =>
      counted(() => (request.id === null ? makeConversation(ports, request) : serveKept(ports, request))),
    ownTasks: (request) => ownTasks(ports, request),
    askAboutTask: (question) => askAboutTask(ports, question),
    takeReport: (report) => takeReport(ports, report),
    taskPicture: (connection, asked) => servePicture(ports, connection, asked),
    ownVideo: (shown, id) => ownVideo(ports, shown, id),
    ownVideos: (shown, page) => ownVideos(ports, shown, page),
    deleteVideo: (shown, id) => deleteVideo(ports, shown, id),
    sendVideoFile: (request) => counted(() => sendVideoFile(ports, request)),
    sendSignedVideo: (request) => counted(() => sendSignedVideo(ports, request)),
    active: () => active,
    serve,
    handle: (call) => serve(call, new HttpCaller(call, call.endpoint.dialect)),
  };
}

/** Who calls, then what is asked for, then its answer. Throws the error that the caller is still to get. */
async function serveCall(ports: StagePorts, call: ConnectedCall, reached: Reached): Promise<void> {
  const identified = reached.to(await identifyCall(ports, reached.last));
  const authenticated = reached.to(await authenticateCall(ports, identified));
  const admitted = reached.to(await enterLimits(ports, authenticated));
  let succeeded = false;
  try {
    const answered = await askForAnswer(ports, call, admitted, reached);
    if (answered !== null) succeeded = await answerCaller(ports, answered);
  } finally {
    reached.last.conversation?.leave();
    leaveLimits(admitted, succeeded);
    releaseBackgroundSlot(ports, reached.last);
    releaseTaskSlot(ports, reached.last);
  }
}

/**
 * From the body to an upstream that has begun to answer; null: the caller has left. What the caller sent is in memory for
 * no longer than this takes, so nothing that is handed on may refer to it, closures made here included.
 */
async function askForAnswer(
  ports: StagePorts,
  { endpoint, bodySource, ip }: ConnectedCall,
  admitted: LimitedCall,
  reached: Reached,
): Promise<AnsweredCall | null> {
  const holder = admitted.user.id;
  const sent = await (typeof bodySource === 'function'
    ? bodySource(holder)
    : ports.bodies[endpoint.body](bodySource, ip, holder));
  try {
    const body = await continuedBody(ports, holder, endpoint, sent);
    const named = reached.to(nameCall(ports, admitted, body));
    const resolved = reached.to(await resolveCall(ports, named, body));
    const conversation = await holdConversation(ports, resolved, body);
    const holding = conversation === null ? resolved : reached.to(extended(resolved, { conversation }));
    const reserved = reached.to(await reserveCall(ports, holding));
    return await whileReserved(reserved, () => askUpstreams(ports, reserved, body));
  } finally {
    sent.leave();
  }
}

/** A call that nobody answers has its outcome before its caller is informed of it, by what is thrown. */
async function askUpstreams(ports: StagePorts, reserved: ReservedCall, body: HeldBody): Promise<AnsweredCall | null> {
  const attempted = await attemptCall(ports, reserved, body).catch(async (error: unknown) => {
    await concludeFaulted(ports, reserved);
    throw error;
  });
  const { tried } = attempted.course;
  if (tried.length > 1)
    ports.log.info({ requestId: reserved.incoming.requestId, channels: tried.join('->') }, 'retried');
  if (attempted.answer !== null) return attempted;
  await concludeUnanswered(ports, attempted);
  if (attempted.failure === null) return null;
  throw attempted.failure.error;
}

/** Delivers and settles, and gives back the place at the channel. True: the answer has reached its caller whole. */
async function answerCaller(ports: StagePorts, answered: AnsweredCall): Promise<boolean> {
  let finished = false;
  try {
    await whileReserved(answered, async () => {
      if (answered.answer.got.kind === 'conversation') {
        finished = await serveSession(ports, answered, answered.answer.got);
        return null;
      }
      const inBackground = await serveBackground(ports, answered);
      if (inBackground !== null) {
        finished = inBackground;
        return null;
      }
      const submitted = await submitTask(ports, answered);
      const delivered = await deliverCall(ports, submitted);
      const concluded = await concludeCall(ports, delivered);
      finished = await finishCall(ports, concluded);
      return null;
    });
    return finished;
  } finally {
    answered.leaveChannel();
  }
}
