import type { ChannelId, UserId } from '../../../domain/kernel/ids.js';
import type { Endpoint } from '../../contracts/endpoint.js';
import type { HeldBody } from '../../contracts/ports.js';
import { checkBody, checkNamesNothingKept, checkWords } from '../call-checks.js';
import type { StagePorts } from '../stage-ports.js';
import { keptCallOf } from './kept-call.js';

/**
 * Items that are put into a conversation are checked as the input of a response is, or they would get past the checks.
 * What else the body says names nothing that is kept.
 * The channel that they need; null: any will do. Throws RelayError.
 */
export async function checkItems(
  ports: StagePorts,
  user: UserId,
  endpoint: Endpoint,
  { value, bytes }: Pick<HeldBody, 'value' | 'bytes'>,
): Promise<ChannelId | null> {
  const { items = null } = value;
  await ports.largeWork.runSteps(bytes, function* () {
    checkNamesNothingKept(value);
    yield;
  });
  if (items === null) return null;
  // No model is asked; what is checked must name one.
  const body = { model: 'conversation', input: items };
  const settings = ports.directory.settings();
  const kept = await keptCallOf(ports, user, endpoint, body);
  await ports.largeWork.runSteps(bytes, function* () {
    checkBody({ endpoint, body, upload: null, kept, storedHere: false }, settings);
    yield* checkWords(endpoint, body, settings.sensitiveWords);
  });
  return kept?.channelId ?? null;
}
