import { streamKey, streams } from '../../domain/events/events.js';
import { UserId } from '../../domain/kernel/ids.js';
import { factorsDecider } from '../../domain/user/second-factor.js';
import type { Handle } from '../handle.js';
import type { Reaction } from './run-reactions.js';

/** A deleted user proves nothing any more: the secrets of its factors leave the vault with their last mention. */
export const forgetFactors = ({ handle }: { readonly handle: Handle }): Reaction => ({
  name: 'forget-factors',
  asks: ({ stream, event }) => (event.type === 'UserDeleted' ? stream : null),
  async react(stream) {
    const by = UserId(streamKey(stream));
    await handle(factorsDecider, streams.factors(by), { type: 'ResetFactors', by });
  },
});
