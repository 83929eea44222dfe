import { count, seconds } from '../arguments.js';
import { booksLine } from '../books.js';
import { microsecondsEach } from '../cpu.js';
import { type Outcome, part } from '../part.js';
import { tallygate, withRig } from '../rig.js';
import { table, whole } from '../table.js';

/* Whether a gateway is after a million calls what it was after the first hundred thousand. */

const model = 'gpt-4o-mini';
const mebibyte = 1024 * 1024;

interface Leg {
  /** Sent since the gateway started. */
  readonly calls: number;
  readonly callsPerSecond: number;
  readonly p99Ms: number;
  readonly gatewayUsPerCall: number;
  /** Of what stays resident; null where the system does not say. */
  readonly gatewayMiB: number | null;
  readonly postgresMiB: number | null;
}

export const soak = part({
  name: 'soak',
  says: 'memory, rate and CPU per call at saturation over many calls: whether they stay as they are',
  options: {
    calls: count(1_000_000, 'so many JSON calls', 1_000_000_000),
    seconds: seconds(30, 'length of each measurement on the way'),
    connections: count(32, 'callers at saturation', 4096),
  },
  run({ calls, seconds, connections }, surroundings) {
    const models = { [model]: { chunks: 10, chunkSize: 5 } };
    return withRig({ models }, surroundings, async (rig): Promise<Outcome> => {
      const legs: Leg[] = [];
      while (rig.sent() < calls) {
        surroundings.signal.throwIfAborted();
        const found = await rig.measure(tallygate, { model, stream: false, pace: { connections }, seconds });
        const { gateway = null, postgres = null } = await rig.meter.resident();
        const inMiB = (bytes: number | null): number | null => (bytes === null ? null : Math.round(bytes / mebibyte));
        legs.push({
          calls: rig.sent(),
          callsPerSecond: Math.round(found.callsPerSecond),
          p99Ms: Math.round(found.latencyMs.p99),
          gatewayUsPerCall: Math.round(microsecondsEach(found.cpu, 'gateway', found.sent)),
          gatewayMiB: inMiB(gateway),
          postgresMiB: inMiB(postgres),
        });
        surroundings.progress(`${rig.sent()} of ${calls} calls`);
      }
      const { books, differences } = await rig.checkBooks();
      return {
        figures: { legs, books },
        lines: [
          ...table(
            ['calls so far', 'calls/s', 'p99 ms', 'gateway µs', 'gateway MiB', 'Postgres MiB'],
            legs.map((leg) => [
              whole(leg.calls),
              whole(leg.callsPerSecond),
              whole(leg.p99Ms),
              whole(leg.gatewayUsPerCall),
              whole(leg.gatewayMiB ?? Number.NaN),
              whole(leg.postgresMiB ?? Number.NaN),
            ]),
          ),
          '',
          booksLine(books, differences),
        ],
        differences,
      };
    });
  },
});
