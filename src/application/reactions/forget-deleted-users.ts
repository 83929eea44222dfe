import { streamKey } from '../../domain/events/events.js';
import { UserId } from '../../domain/kernel/ids.js';
import type { PersonalData } from '../ports/storage-ports.js';
import type { Reaction } from './run-reactions.js';

/**
 * The key of a deleted user's personal data is destroyed. Whoever deletes does it at once; this does it where a process
 * died in between.
 */
export const forgetDeletedUsers = ({ personal }: { readonly personal: Pick<PersonalData, 'forget'> }): Reaction => ({
  name: 'forget-deleted-users',
  asks: ({ stream, event }) => (event.type === 'UserDeleted' ? stream : null),
  // Nobody comes back from being deleted, so the stream need not be asked.
  react: (stream) => personal.forget([UserId(streamKey(stream))]),
});
