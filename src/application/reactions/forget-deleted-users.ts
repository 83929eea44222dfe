import { streamKey } from '../../domain/events/events.js';
import { UserId } from '../../domain/kernel/ids.js';
import type { PersonalData } from '../ports/storage-ports.js';
import type { StoredResponsesOfUser } from '../ports/stored-response-ports.js';
import type { TaskStore } from '../ports/task-ports.js';
import type { Reaction } from './run-reactions.js';

/**
 * The key of a deleted user's personal data is destroyed. Whoever deletes does it at once; this does it where a process
 * died in between. What the user's tasks and stored responses hold cannot be read without it, and need not be kept.
 */
export const forgetDeletedUsers = ({
  personal,
  taskContents,
  storedResponses,
}: {
  readonly personal: Pick<PersonalData, 'forget'>;
  readonly taskContents: Pick<TaskStore, 'clearOf'>;
  readonly storedResponses: Pick<StoredResponsesOfUser, 'removeAll'>;
}): Reaction => ({
  name: 'forget-deleted-users',
  asks: ({ stream, event }) => (event.type === 'UserDeleted' ? stream : null),
  // Nobody comes back from being deleted, so the stream need not be asked.
  async react(stream) {
    const user = UserId(streamKey(stream));
    await personal.forget([user]);
    await taskContents.clearOf([user]);
    await storedResponses.removeAll(user);
  },
});
