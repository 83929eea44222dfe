import { newEventId } from '../application/event-id.js';
import { handle } from '../application/handle.js';
import { KnownKeptObjects } from '../application/memory/kept-objects.js';
import { automaticDisabling } from '../application/usage/automatic-disabling.js';
import { proxyDoubts, warnOfProxies } from '../http/proxy-doubts.js';
import { callLimits } from '../relay/admission/call-limits.js';
import { countWrongKeys } from '../relay/admission/wrong-keys.js';
import { type InFlightCalls, inFlightCalls } from '../relay/metering/in-flight-calls.js';
import { openMeter } from '../relay/metering/metered.js';
import { recordRefusals } from '../relay/pipeline/record-refusals.js';
import { openRelayRuntime } from '../relay-process/runtime.js';
import type { NodeStart } from './node-start.js';
import type { NodeMemory } from './open-memory.js';
import type { NodeLog } from './open-node-log.js';
import type { NodeProjections } from './open-projections.js';
import type { NodeVault } from './open-vault.js';

/* Relayed calls: what is counted and recorded of them once per node, and the relay of this process. */

interface RelayParts {
  readonly store: NodeLog['store'];
  readonly vault: NodeVault['vault'];
  readonly memory: NodeMemory;
  readonly readModels: Pick<NodeProjections, 'db' | 'progress'>;
}

export function openRelayCalls(
  { config, log, clock, closing }: NodeStart,
  { store, vault, memory, readModels }: RelayParts,
) {
  const { directory, gate, traffic } = memory;
  const warn = (facts: object, message: string) => log.warn(facts, message);
  const handling = handle(store, clock);
  const kept = new KnownKeptObjects({ ...readModels, clock, days: () => directory.settings().keptDays });
  const meterOf = (inFlight: Pick<InFlightCalls, 'begin' | 'reserved' | 'end' | 'lose'>) =>
    openMeter({
      ...{ store, gate, clock, newEventId, inFlight },
      kept: (callId, settled) => kept.note(callId, settled),
      warn: (message, facts) => warn(facts, message),
    });
  const inFlight = inFlightCalls();
  const meter = meterOf(inFlight);
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
  };
  const runtime = openRelayRuntime(config, { directory, gate, meter, vault, clock, log, ...shared });
  closing.add(() => runtime.close());
  return { handle: handling, warn, inFlight, meter, meterOf, refusalRecord, proxies, shared, runtime };
}

export type NodeCalls = ReturnType<typeof openRelayCalls>;
