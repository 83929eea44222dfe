import { streamKey } from '../../domain/events/events.js';
import { UserId } from '../../domain/kernel/ids.js';
import type { Reaction } from './run-reactions.js';

/** What an erased user had claimed is free. Whoever erases does it at once; this does it where a process died in between. */
export const freeErasedClaims = (freeClaims: (id: UserId) => Promise<void>): Reaction => ({
  name: 'free-erased-claims',
  asks: ({ stream, event }) => (event.type === 'UserErased' ? stream : null),
  react: (stream) => freeClaims(UserId(streamKey(stream))),
});
