import { CallId } from '../../domain/kernel/ids.js';
import { RelayError } from '../contracts/errors.js';
import type { HeldBody } from '../contracts/ports.js';
import { type CallContext, extended, type LimitedCall, type NamedCall, type ResolvedCall } from './call-context.js';
import { knownGroupIn } from './call-group.js';
import { keptCallOf } from './kept/kept-call.js';
import { type ResolutionPorts, resolutionSteps } from './resolution.js';
import { modelAsked, named } from './sent-text.js';
import type { StagePorts } from './stage-ports.js';
import { parentTaskOf } from './tasks/parent-task.js';
import { takeTaskSlot } from './tasks/task-slot.js';

type ResolvePorts = ResolutionPorts & Pick<StagePorts, 'largeWork' | 'kept' | 'background' | 'tasks'>;

/** What the body names, whether or not that can be served. */
export function nameCall(
  { directory }: Pick<StagePorts, 'directory'>,
  call: LimitedCall,
  body: Pick<HeldBody, 'value'>,
): NamedCall {
  const { endpoint } = call.incoming;
  const value = named(body.value, modelAsked(call.incoming, body.value));
  const group = knownGroupIn(call, value, directory.settings());
  return extended(call, { named: { model: value.model ?? endpoint.usualModel, group } });
}

/** Whoever gets the result gives it back with `releaseBackgroundSlot`. Throws RelayError. */
async function takeBackgroundSlot(
  { background }: Pick<StagePorts, 'background'>,
  { incoming, user }: NamedCall,
): Promise<void> {
  if (await background.takeSlot(CallId(incoming.requestId), user.id)) return;
  throw new RelayError(
    429,
    'too_many_background_responses',
    'there are as many responses in the background as there may be; try again when one has ended',
    { retryAfter: '60' },
  );
}

/** Of a call that has not begun in the background; one that has keeps it. */
export function releaseBackgroundSlot(
  { background }: Pick<StagePorts, 'background'>,
  { incoming, resolution }: CallContext,
): void {
  if (resolution?.background === true) background.releaseSlot(CallId(incoming.requestId));
}

/** What is asked for, who may serve it and the most that it can cost; large bodies take turns. Throws RelayError. */
export async function resolveCall(
  ports: ResolvePorts,
  call: NamedCall,
  { value, bytes, upload }: Pick<HeldBody, 'value' | 'bytes' | 'upload'>,
): Promise<ResolvedCall> {
  const { endpoint } = call.incoming;
  const body = named(value, modelAsked(call.incoming, value));
  const kept = await keptCallOf(ports, call.user.id, endpoint, body);
  const parent = await parentTaskOf(ports, call.user.id, endpoint, body);
  const resolution = await ports.largeWork.runSteps(bytes, () =>
    resolutionSteps(ports, call, { endpoint, body, bytes, upload, kept, parent }),
  );
  if (resolution.background) await takeBackgroundSlot(ports, call);
  await takeTaskSlot(ports, call);
  return extended(call, { resolution });
}
