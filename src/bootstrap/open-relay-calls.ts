import { postgresBackgroundCalls } from '../adapters/background-calls.js';
import { postgresStoredResponses } from '../adapters/stored-responses.js';
import { newEventId } from '../application/event-id.js';
import { handle } from '../application/handle.js';
import { KnownKeptObjects } from '../application/memory/kept-objects.js';
import { OpenBackgroundCalls } from '../application/reactions/background-calls.js';
import { QueuedStoredResponses } from '../application/responses/stored-responses.js';
import { automaticDisabling } from '../application/usage/automatic-disabling.js';
import { proxyDoubts, warnOfProxies } from '../http/proxy-doubts.js';
import { callLimits } from '../relay/admission/call-limits.js';
import { countWrongKeys } from '../relay/admission/wrong-keys.js';
import { type InFlightCalls, inFlightCalls } from '../relay/metering/in-flight-calls.js';
import { openMeter } from '../relay/metering/metered.js';
import { channelParser } from '../relay/pipeline/channels/channel-settings.js';
import { recordRefusals } from '../relay/pipeline/record-refusals.js';
import { backgroundProbe } from '../relay/probes/background-probe.js';
import { taskProbe } from '../relay/probes/task-probe.js';
import { openRelayRuntime } from '../relay-process/runtime.js';
import type { RelayWorkers } from '../relay-process/workers/relay-workers.js';
import type { NodeStart } from './node-start.js';
import type { NodeMemory } from './open-memory.js';
import type { NodeDatabase } from './open-node-database.js';
import type { NodeLog } from './open-node-log.js';
import { openNodeTasks } from './open-node-tasks.js';
import type { NodeProjections } from './open-projections.js';
import type { NodeVault } from './open-vault.js';

/* Relayed calls: what is counted and recorded of them once per node, and the relay of this process. */

interface RelayParts {
  readonly store: NodeLog['store'];
  readonly vault: NodeVault['vault'];
  readonly personal: NodeVault['personal'];
  readonly memory: NodeMemory;
  readonly readModels: Pick<NodeProjections, 'db' | 'progress'>;
  readonly pool: NodeDatabase['pool'];
  /** null: this process serves all calls itself. */
  readonly workers: Pick<RelayWorkers, 'has'> | null;
}

export function openRelayCalls(
  node: NodeStart,
  { store, vault, personal, memory, readModels, pool, workers }: RelayParts,
) {
  const { config, log, clock, closing } = node;
  const { directory, gate, traffic } = memory;
  const warn = (facts: object, message: string) => log.warn(facts, message);
  const handling = handle(store, clock, undefined, personal);
  const kept = new KnownKeptObjects({ ...readModels, clock, days: () => directory.settings().keptDays });
  const meterOf = (inFlight: Pick<InFlightCalls, 'begin' | 'reserved' | 'end' | 'lose'>) =>
    openMeter({
      ...{ store, gate, clock, newEventId, inFlight },
      kept: (callId, settled) => kept.note(callId, settled),
      warn: (message, facts) => warn(facts, message),
    });
  const inFlight = inFlightCalls();
  const meter = meterOf(inFlight);
  const background = new OpenBackgroundCalls({
    calls: postgresBackgroundCalls(pool),
    ...{ store, handle: handling, gate, clock },
    // What asks is opened below, with what calls are served by.
    ask: (call, stop) => probe(call, stop),
    hasChannel: (channel) => directory.channel(channel) !== null,
    isServed: (callId) => inFlight.has(callId) || (workers?.has(callId) ?? false),
    began: (call) => kept.noteBackground(call),
    settled: (callId, settled) => kept.note(callId, settled),
    ended: (call) => kept.endBackground(call),
    warn,
  });
  const { taskStore, taskPoller, tasks } = openNodeTasks(node, {
    ...{ pool, store, handle: handling, personal, clock },
    ...readModels,
    position: () => memory.tail.position(),
    upstreams: () => taskUpstreams,
  });
  const storedResponses = new QueuedStoredResponses({
    rows: postgresStoredResponses({ pool, keys: personal, warn }),
    settings: () => directory.settings(),
    clock,
    warn,
  });
  closing.add(() => storedResponses.stop());
  const refusalRecord = recordRefusals({ store, clock, newEventId, counted: traffic.refused, warn });
  closing.add(refusalRecord.startWriting());
  const proxies = proxyDoubts(() => clock.now(), warnOfProxies(warn));
  const notices = automaticDisabling(handling, log);
  /** What is counted once, whichever process serves a call, and who is notified of what happens to it. */
  const shared = {
    limits: callLimits(clock),
    wrongKeys: countWrongKeys(clock),
    apiKeyStatus: notices,
    channelHealth: notices,
    doubted: proxies.report,
    refusals: refusalRecord.own,
    kept,
    background,
    storedResponses,
    tasks,
  };
  const runtime = openRelayRuntime(config, { directory, gate, meter, vault, clock, log, ...shared });
  const probe = backgroundProbe({ ...runtime.ports, parsedChannel: channelParser() });
  const taskUpstreams = taskProbe({ ...runtime.ports, parsedChannel: channelParser() });
  closing.add(() => runtime.close());
  return {
    background,
    taskPoller,
    taskStore,
    handle: handling,
    warn,
    inFlight,
    meter,
    meterOf,
    refusalRecord,
    proxies,
    shared,
    runtime,
  };
}

export type NodeCalls = ReturnType<typeof openRelayCalls>;
