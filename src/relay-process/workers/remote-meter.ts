import { withOutput } from '../../domain/call/usage-bound.js';
import { Position } from '../../domain/events/events.js';
import type { InFlightCalls } from '../../relay/metering/in-flight-calls.js';
import type { Meter, Reservation } from '../../relay/metering/metered.js';
import { encodeReserve, encodeSettlement } from './call-messages.js';
import type { PrimaryMethods } from './messages.js';
import type { Peer } from './peer.js';

/*
 * The money side of a worker's calls: the primary admits, reserves, settles and releases them. What is under way here is
 * what the primary has not been asked to conclude.
 */

export function remoteMeter(
  primary: Peer<PrimaryMethods>,
  inFlight: Pick<InFlightCalls, 'begin' | 'reserved' | 'end' | 'lose'>,
): Meter {
  return {
    // Whatever is on its way to the log is on its way there from the primary.
    pending: () => 0,

    async reserve(callId, facts, terms, estimate) {
      const call = inFlight.begin(callId);
      const reserving = await primary
        .ask('reserve', ...encodeReserve(callId, facts, terms, estimate))
        .catch((error) => {
          inFlight.end(callId);
          throw error;
        });
      if ('short' in reserving) {
        inFlight.end(callId);
        return { ok: false, shortage: reserving };
      }
      const [turn, granted, outputLimit, output] = reserving;
      // Its turn, in place of a position that the primary may not know itself yet.
      inFlight.reserved(callId, Position(turn));
      let reserved = granted;
      let concluding = false;
      const conclude = async <Result>(asked: Promise<Result>): Promise<Result> => {
        concluding = true;
        try {
          return await asked;
        } finally {
          inFlight.end(callId);
        }
      };
      const reservation: Reservation = {
        inFlightCall: call,
        get reserved() {
          return reserved;
        },
        outputLimit,
        bound: withOutput(estimate.bound, output),
        async extend(wanted) {
          if (!(await primary.ask('extend', callId, wanted))) return false;
          reserved = wanted;
          return true;
        },
        settle: (settlement) => conclude(primary.ask('settle', ...encodeSettlement(callId, settlement))),
        settleOrWithdraw: (settlement, withdrawal) =>
          conclude(primary.ask('settleOrWithdraw', withdrawal, ...encodeSettlement(callId, settlement))),
        release: (release) => conclude(primary.ask('release', callId, release)),
        leave() {
          if (concluding) return;
          inFlight.lose(callId);
          primary.send('abandon', callId);
        },
      };
      return { ok: true, reservation };
    },
  };
}
