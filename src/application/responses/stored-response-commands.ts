import type { UserView } from '../ports/storage-ports.js';
import type { StoredResponsesOfUser } from '../ports/stored-response-ports.js';

/** What users do with the responses that are stored of them. They are no events, so nothing has to become visible. */
export const storedResponseCommands = ({ storedResponses }: { readonly storedResponses: StoredResponsesOfUser }) => ({
  /** How many are stored of oneself. */
  count: ({ id }: Pick<UserView, 'id'>): Promise<number> => storedResponses.count(id),
  /** Deletes all of one's own, and resolves with how many there were. */
  removeAll: ({ id }: Pick<UserView, 'id'>): Promise<number> => storedResponses.removeAll(id),
});
