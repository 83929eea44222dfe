import { RelayError } from '../contracts/errors.js';
import type { HeldBody } from '../contracts/ports.js';
import { extended, type LimitedCall, type NamedCall, type ResolvedCall } from './call-context.js';
import { knownGroupIn } from './call-group.js';
import { keptCallOf } from './kept-call.js';
import { type ResolutionPorts, resolutionSteps } from './resolution.js';
import { named } from './sent-text.js';
import type { StagePorts } from './stage-ports.js';

type ResolvePorts = ResolutionPorts & Pick<StagePorts, 'largeWork' | 'kept' | 'background'>;

/** What the body names, whether or not that can be served. */
export function nameCall(
  { directory }: Pick<StagePorts, 'directory'>,
  call: LimitedCall,
  body: Pick<HeldBody, 'value'>,
): NamedCall {
  const { endpoint, model } = call.incoming;
  const value = named(body.value, model);
  const group = knownGroupIn(call, value, directory.settings());
  return extended(call, { named: { model: value.model ?? endpoint.usualModel, group } });
}

/** What is asked for, who may serve it and the most that it can cost; large bodies take turns. Throws RelayError. */
export async function resolveCall(
  ports: ResolvePorts,
  call: NamedCall,
  { value, bytes, upload }: Pick<HeldBody, 'value' | 'bytes' | 'upload'>,
): Promise<ResolvedCall> {
  const { endpoint, model } = call.incoming;
  const body = named(value, model);
  if (endpoint.inBackground?.(body) === true && !(await ports.background.mayBegin(call.user.id)))
    throw new RelayError(
      429,
      'too_many_background_responses',
      'there are as many responses in the background as there may be; try again when one has ended',
      { retryAfter: '60' },
    );
  const kept = await keptCallOf(ports, call.user.id, endpoint, body);
  const resolution = await ports.largeWork.runSteps(bytes, () =>
    resolutionSteps(ports, call, { endpoint, body, bytes, upload, kept }),
  );
  return extended(call, { resolution });
}
