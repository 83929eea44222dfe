import type { CallOutcome } from '../../domain/call/call.js';
import type { Usage } from '../../domain/call/usage.js';
import type { Got } from '../answers/answer-reading.js';
import { jsonType, storeUnavailable } from '../contracts/errors.js';
import type { RelayPorts } from '../contracts/ports.js';
import type { ConcludedCall } from '../pipeline/call-context.js';
import { passedOn } from './passed-on.js';
import type { StalledCallers } from './stalled-callers.js';
import { writeToEnd } from './write-answer.js';

/* A whole answer: its caller gets all of it, or nothing, once it is settled. */

type WholeGot = Extract<Got, { kind: 'answer' }>;

/** An answer of which its caller has nothing yet. */
export interface WholeDelivery {
  readonly kind: 'answer';
  readonly answer: WholeGot;
  readonly outcome: Extract<CallOutcome, 'completed' | 'caller-left'>;
  readonly firstTokenMs: null;
}

const withheld = 'the answer could not be booked and is withheld; nothing is charged for this call, try again later';

const taskWithheld =
  'the task was taken, and its charge could not be booked yet; it is among your tasks, so do not ask for it again';

interface WholeDeliveryPorts extends Pick<RelayPorts, 'largeWork'> {
  readonly stalledCallers: StalledCallers;
}

/** The usage that the caller gets is what is charged. */
async function bytesWithUsage(
  { largeWork }: Pick<RelayPorts, 'largeWork'>,
  { incoming: { endpoint } }: Pick<ConcludedCall, 'incoming'>,
  answer: WholeGot,
  usage: Usage,
): Promise<Buffer> {
  const { bytes, textType } = answer;
  if (usage === answer.usage || textType !== undefined) return bytes;
  return await largeWork.run(bytes.length, () => endpoint.dialect.withUsage(bytes, usage));
}

/** Sends it, if its caller is there. Throws RelayError, when it is not settled: it is withheld then. */
export async function sendWhole(
  ports: WholeDeliveryPorts,
  call: ConcludedCall,
  { answer, outcome }: WholeDelivery,
): Promise<void> {
  // Who has left gets nothing: what upstream has done for them is settled, however long that takes.
  if (outcome === 'caller-left') return;
  if (call.charged === null) throw storeUnavailable(call.task === null ? withheld : taskWithheld);
  const bytes = await bytesWithUsage(ports, call, answer, call.finalUsage.usage);
  if (call.answer.stores) call.conversation?.store(bytes, false);
  call.connection.begin(answer.textType ?? jsonType, passedOn(call), bytes.length);
  await writeToEnd(call.connection, bytes, ports.stalledCallers);
}
