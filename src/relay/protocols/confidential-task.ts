import type { TaskObservation } from '../../application/ports/task-ports.js';
import type { Provider, UpstreamChannel } from '../contracts/protocol.js';
import { type Confidential, withoutSecrets } from '../upstream/confidential.js';
import { confidentialOf } from './confidential-of.js';

/* What an upstream says of a task in its own words is read by the task's owner: as of a refusal, nothing confidential. */

const maxWords = 2_048;

/** Words of upstream's, without what is confidential of its channel. */
export const plainWords = (words: string, confidential: Confidential): string =>
  words === '' ? '' : withoutSecrets(words, confidential, maxWords);

export function plainObservation(seen: TaskObservation, provider: Provider, channel: UpstreamChannel): TaskObservation {
  const { failReason = '', description = '' } = seen.content;
  if (failReason === '' && description === '') return seen;
  const confidential = confidentialOf(provider, channel);
  const content = {
    ...seen.content,
    ...(failReason !== '' && { failReason: plainWords(failReason, confidential) }),
    ...(description !== '' && { description: plainWords(description, confidential) }),
  };
  return { ...seen, content };
}
