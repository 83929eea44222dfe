import type { RelayPorts } from '../contracts/ports.js';
import type { ReservedCall } from '../pipeline/call-context.js';

/** Milliseconds since the call was about to be reserved. */
export const elapsed = ({ clock }: Pick<RelayPorts, 'clock'>, { startedAt }: Pick<ReservedCall, 'startedAt'>): number =>
  Math.max(0, clock.now() - startedAt);

/** Milliseconds of them that the caller was there for. */
export const presentFor = (
  ports: Pick<RelayPorts, 'clock'>,
  call: Pick<ReservedCall, 'startedAt' | 'connection'>,
): number => Math.max(elapsed(ports, call) - call.connection.goneFor, 0);
