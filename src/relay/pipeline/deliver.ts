import { logBug } from '../contracts/errors.js';
import { elapsed } from '../delivery/call-times.js';
import { passedOn } from '../delivery/passed-on.js';
import { endSound, passOn, type SoundDelivery } from '../delivery/sound-delivery.js';
import { endStream, passStream } from '../delivery/stream-delivery.js';
import { sendWhole } from '../delivery/whole-delivery.js';
import { SeenText } from '../text/seen-text.js';
import type { SoundReading } from '../upstream/sound-answer.js';
import { type AnsweredCall, type ConcludedCall, type DeliveredCall, extended } from './call-context.js';
import type { StagePorts } from './stage-ports.js';

type DeliverPorts = Pick<StagePorts, 'clock' | 'config' | 'log' | 'largeWork' | 'stalledCallers'>;

/** Of sound nothing is looked at: what it costs is known by what was asked for. */
const unheard = { generated: { said: new SeenText(), toolCalls: 0, finishReason: null } };

async function passSound(ports: DeliverPorts, call: AnsweredCall, reading: SoundReading): Promise<SoundDelivery> {
  const { connection, reservation } = call;
  const firstTokenMs = elapsed(ports, call);
  reservation.inFlightCall.firstTokenMs = firstTokenMs;
  reservation.inFlightCall.stream = unheard;
  const { outcome, bug } = await passOn(connection, passedOn(call), reading, ports.stalledCallers);
  if (bug !== null) logBug(ports.log, connection.requestId, bug);
  return { kind: 'sound', outcome, firstTokenMs };
}

/** Passes on what may go to the caller before it is settled: of a stream all but its end, of a whole answer nothing. */
export async function deliverCall(ports: DeliverPorts, call: AnsweredCall): Promise<DeliveredCall> {
  const { got } = call.answer;
  switch (got.kind) {
    case 'answer': {
      const outcome = call.connection.gone ? 'caller-left' : 'completed';
      return extended(call, { delivery: { kind: 'answer', answer: got, outcome, firstTokenMs: null } as const });
    }
    case 'sound':
      return extended(call, { delivery: await passSound(ports, call, got.reading) });
    case 'stream':
      return extended(call, { delivery: await passStream(ports, call, got.reading) });
    case 'conversation':
      throw new Error('a conversation is no answer');
  }
}

/**
 * Sends the rest, now that the call has its outcome: the caller's last byte leaves after the settlement is durable. True:
 * the answer is whole. Throws RelayError, when all of it is withheld.
 */
export async function finishCall(ports: DeliverPorts, call: ConcludedCall): Promise<boolean> {
  const { connection, delivery, charged } = call;
  switch (delivery.kind) {
    case 'answer':
      await sendWhole(ports, call, delivery);
      return true;
    case 'sound':
      return endSound(connection, delivery, charged !== null, ports.stalledCallers);
    case 'stream':
      return endStream(call, delivery, ports.stalledCallers);
  }
}
