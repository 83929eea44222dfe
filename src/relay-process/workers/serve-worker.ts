import type { NodeDirectory } from '../../application/memory/directory.js';
import type { BackgroundCalls } from '../../application/ports/background-call-ports.js';
import type { KeptObjects } from '../../application/ports/kept-object-ports.js';
import type { EventStore, QuotaGate, Vault } from '../../application/ports/storage-ports.js';
import type { StoredResponses } from '../../application/ports/stored-response-ports.js';
import { CompactingMap } from '../../data-structures/compacting-map.js';
import type { Position } from '../../domain/events/events.js';
import { Failure } from '../../domain/kernel/failure.js';
import type { CallId } from '../../domain/kernel/ids.js';
import type { ReportDoubt } from '../../http/client-address.js';
import type { ApiKeyStatusNotice } from '../../relay/admission/authenticate.js';
import type { CallLimits, Leave } from '../../relay/admission/call-limits.js';
import type { WrongKeys } from '../../relay/admission/wrong-keys.js';
import { RelayError } from '../../relay/contracts/errors.js';
import type { ChannelHealthNotice, RelayPorts } from '../../relay/contracts/ports.js';
import type { Meter, Reservation } from '../../relay/metering/metered.js';
import type { RefusalRecord } from '../../relay/pipeline/record-refusals.js';
import { decodeReserve, decodeSettlement } from './call-messages.js';
import type { CallsOfWorker } from './calls-of-workers.js';
import type { PrimaryMethods, SerializedRefusal } from './messages.js';

/* What the primary does for one worker. All that it holds for it is given back when the worker is gone. */

export interface PrimaryPorts {
  readonly store: Pick<EventStore, 'streamPages'>;
  readonly directory: Pick<NodeDirectory, 'apiKey'>;
  readonly gate: Pick<QuotaGate, 'isSpent' | 'isUserSpent'>;
  readonly vault: Pick<Vault, 'get'>;
  readonly limits: CallLimits;
  readonly wrongKeys: WrongKeys;
  readonly apiKeyStatus: ApiKeyStatusNotice;
  readonly channelHealth: ChannelHealthNotice;
  readonly kept: KeptObjects;
  readonly background: BackgroundCalls;
  readonly storedResponses: StoredResponses;
  readonly tasks: RelayPorts['tasks'];
  readonly refusalRecord: Pick<RefusalRecord, 'take'>;
  readonly doubted: ReportDoubt;
}

interface WorkerPorts extends PrimaryPorts {
  readonly meter: Meter;
  readonly calls: CallsOfWorker;
  readonly onTaken: (position: Position) => void;
}

const serializedRefusal = ({
  status,
  code,
  message,
  type,
  param,
  retryAfter,
  shouldRetry,
}: RelayError): SerializedRefusal => ({
  status,
  code,
  message,
  type,
  param,
  retryAfter,
  shouldRetry,
});

const neverServed = { kind: 'never-sent', reason: 'recovered', status: null, code: null } as const;

interface WorkerService {
  readonly methods: PrimaryMethods;
  /** The worker is gone. Whether calls may be left without an outcome. */
  end(): boolean;
}

export function serveWorker(ports: WorkerPorts): WorkerService {
  const { store, directory, gate, vault, limits, wrongKeys, apiKeyStatus, channelHealth } = ports;
  const { meter, calls, onTaken, refusalRecord, background } = ports;
  const slots = new CompactingMap<number, Leave>();
  const reservations = new CompactingMap<CallId, Reservation>();
  const backgroundSlots = new Set<CallId>();
  const taskSlots = new Set<CallId>();
  let tickets = 0;
  let ended = false;

  const taken = (leave: Leave): number => {
    // Nobody is left who would leave it.
    if (ended) {
      leave(false);
      return 0;
    }
    slots.set(++tickets, leave);
    return tickets;
  };

  /** Of a call that is concluded by what is asked now. */
  const last = (callId: CallId): Reservation => {
    const reservation = reserved(callId);
    reservations.delete(callId);
    return reservation;
  };
  const reserved = (callId: CallId): Reservation => {
    const reservation = reservations.get(callId);
    if (reservation === undefined) throw new Error(`No worker of this node has reserved ${callId}`);
    return reservation;
  };

  const methods: PrimaryMethods = {
    async streamPage(stream, after) {
      for await (const page of store.streamPages(stream, after)) return page;
      return [];
    },
    apiKeyIdByHash: async (keyHash) => (await directory.apiKey(keyHash))?.id ?? null,
    secret: (id) => vault.get(id),
    taken: onTaken,

    isSpent: (apiKey) => gate.isSpent(apiKey),
    isUserSpent: (user) => gate.isUserSpent(user),
    async admit(user, apiKey, asked) {
      try {
        return { ticket: taken(await limits.admit(user, apiKey, asked)) };
      } catch (error) {
        if (error instanceof RelayError) return { refused: serializedRefusal(error) };
        throw error;
      }
    },
    async enterChannel(channel, max) {
      const leave = await limits.enterChannel(channel, max);
      return leave && taken(leave);
    },
    left(ticket, succeeded) {
      slots.get(ticket)?.(succeeded);
      slots.delete(ticket);
    },
    mayShowKey: async (network) => wrongKeys.mayShow(network),
    wrongKey: (network) => wrongKeys.shown(network),

    async reserve(...order) {
      const { callId, facts, terms, estimate } = decodeReserve(order);
      const reserving = await meter.reserve(callId, facts, terms, estimate);
      if (!reserving.ok) return reserving.shortage;
      const { reservation } = reserving;
      if (ended) {
        // Whoever asked has not heard that it may: nothing went upstream.
        await reservation.release(neverServed);
        throw new Failure('store-unavailable');
      }
      reservations.set(callId, reservation);
      const { reserved, outputLimit, bound } = reservation;
      return [calls.announce(callId), reserved, outputLimit, bound.output];
    },
    extend: (callId, quota) => reserved(callId).extend(quota),
    settle: (...settlement) => last(settlement[0]).settle(decodeSettlement(settlement)),
    settleOrWithdraw: (withdrawal, ...settlement) =>
      last(settlement[0]).settleOrWithdraw(decodeSettlement(settlement), withdrawal),
    release: (callId, release) => last(callId).release(release),
    abandon: (callId) => last(callId).leave(),
    note: (notedTo, progressed) => calls.note(notedTo, progressed),

    async takeBackgroundSlot(callId, user) {
      const isTaken = await background.takeSlot(callId, user);
      if (isTaken && ended) background.releaseSlot(callId);
      else if (isTaken) backgroundSlots.add(callId);
      return isTaken;
    },
    releaseBackgroundSlot(callId) {
      backgroundSlots.delete(callId);
      background.releaseSlot(callId);
    },
    beginBackground: (call) => background.begin(call),
    isBackgroundOpen: (callId) => background.isOpen(callId),
    lookAtBackground: (callId) => background.look(callId),
    deliveredInBackground: (callId, delivered) => background.delivered(callId, delivered),
    stopBackground: (callId) => background.stop(callId),
    endBackground: (callId) => background.end(callId),
    async takeTaskSlot(callId, user, limit) {
      const isTaken = await ports.tasks.takeSlot(callId, user, limit);
      if (isTaken && ended) ports.tasks.releaseSlot(callId);
      else if (isTaken) taskSlots.add(callId);
      return isTaken;
    },
    releaseTaskSlot(callId) {
      taskSlots.delete(callId);
      ports.tasks.releaseSlot(callId);
    },
    taskSubmitted: (task) => ports.tasks.submitted(task),
    tasksOfUser: (user, publicIds, platform) => ports.tasks.ofUser(user, publicIds, platform),
    taskById: (taskId) => ports.tasks.byId(taskId),
    taskByCall: (callId) => ports.tasks.byCall(callId),
    pageOfTasks: (user, platform, page) => ports.tasks.page(user, platform, page),
    forgetTask: (taskId) => ports.tasks.forget(taskId),
    observeTask: (taskId, seen) => ports.tasks.observe(taskId, seen),
    lookAtTask: (taskId) => ports.tasks.look(taskId),
    ownedKept: async (user, ids) => [...(await ports.kept.ownedBy(user, ids))],

    async reserveStoredResponse(user, id, bytes) {
      const release = await ports.storedResponses.reserve(user, id, bytes);
      return release && taken(release);
    },
    shrinkStoredResponse: (id, bytes) => ports.storedResponses.shrink(id, bytes),
    storeResponse: (userId, id, at, content) =>
      ports.storedResponses.put({ userId, id, at, content: Buffer.from(content, 'base64') }),
    storedResponse: async (user, id) => (await ports.storedResponses.find(user, id))?.toString('base64') ?? null,
    removeStoredResponse: (user, id) => ports.storedResponses.remove(user, id),

    apiKeyRefused: (id, owner, cause) => apiKeyStatus.refused(id, owner, cause),
    channelOutOfOrder: (id, key, reason) => channelHealth.outOfOrder(id, key, reason),
    proxyDoubted: (...doubted) => ports.doubted(...doubted),
    refused: (kinds) => refusalRecord.take(kinds),
  };

  return {
    methods,
    end() {
      ended = true;
      const hadCalls = calls.leave();
      for (const [callId, reservation] of reservations) {
        reservations.delete(callId);
        reservation.leave();
      }
      for (const [ticket, leave] of slots) {
        slots.delete(ticket);
        leave(false);
      }
      for (const callId of backgroundSlots) background.releaseSlot(callId);
      backgroundSlots.clear();
      for (const callId of taskSlots) ports.tasks.releaseSlot(callId);
      taskSlots.clear();
      return hadCalls;
    },
  };
}
