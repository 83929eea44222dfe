import type { CallId } from '../../src/domain/kernel/ids.js';
import { inFlightCalls } from '../../src/relay/metering/in-flight-calls.js';
import { type Meter, type MeterPorts, openMeter } from '../../src/relay/metering/metered.js';
import { CallsOfWorkers } from '../../src/relay-process/workers/calls-of-workers.js';
import type { PrimaryMethods } from '../../src/relay-process/workers/messages.js';
import { Peer } from '../../src/relay-process/workers/peer.js';
import { remoteMeter } from '../../src/relay-process/workers/remote-meter.js';
import { type PrimaryPorts, serveWorker } from '../../src/relay-process/workers/serve-worker.js';
import { pipe } from './pipe.js';

/* The meter as each process of a node has it: one suite is run over both. */

export interface Metering {
  /** As the relay has it. */
  readonly meter: Meter;
  readonly pending: () => number;
  /** For those who recover what nobody serves. */
  readonly isInFlight: (callId: CallId) => boolean;
}

export const meteringKinds: readonly (readonly [
  kind: string,
  open: (ports: Omit<MeterPorts, 'inFlight'>) => Metering,
])[] = [
  [
    'in the process that serves the call',
    (ports) => {
      const inFlight = inFlightCalls();
      const meter = openMeter({ ...ports, inFlight });
      return { meter, pending: meter.pending, isInFlight: inFlight.has };
    },
  ],
  [
    'asked by a worker that serves the call',
    (ports) => {
      const everyCall = new CallsOfWorkers();
      const calls = everyCall.enter();
      const meter = openMeter({ ...ports, inFlight: calls });
      const [worker, primary] = pipe();
      const rest = {} as PrimaryPorts;
      new Peer(primary, serveWorker({ ...rest, meter, calls, onTaken: () => {} }).methods, () => {});
      return {
        meter: remoteMeter(new Peer<PrimaryMethods>(worker, {}, () => {}), inFlightCalls()),
        pending: meter.pending,
        isInFlight: (callId) => everyCall.has(callId),
      };
    },
  ],
];
