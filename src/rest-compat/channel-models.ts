import type { Application } from '../application/application.js';
import type { UpstreamModel } from '../application/ports/upstream-ports.js';
import { Failure } from '../domain/kernel/failure.js';
import { ChannelId } from '../domain/kernel/ids.js';
import { channelFields } from './channel-record.js';
import type { Endpoints } from './wire/endpoints.js';
import { success } from './wire/envelope.js';
import { oneSentence, RestRefusal } from './wire/errors.js';
import { messageOf } from './wire/messages.js';

/* Which models an upstream has, of a channel and of what a form holds. */

const namesOf = (models: readonly UpstreamModel[]): readonly string[] => models.map(({ name }) => name);

const unreadable = oneSentence('Invalid request', 400);

export function channelModelsEndpoints(endpoints: Endpoints, { channels }: Application) {
  endpoints.guarded(
    'admin',
    'GET',
    '/channel/fetch_models/:id',
    async (viewer, { id }) => {
      const wanted = id();
      if (wanted <= 0) throw new Failure('channel-not-found');
      return success(namesOf(await channels.upstreamModels(viewer, ChannelId(wanted), null)));
    },
    // Upstreams count what they are asked with a key.
    { changes: true },
  );

  endpoints.guarded(
    'admin',
    'POST',
    '/channel/fetch_models',
    async (viewer, exchange) => {
      const body = exchange.body();
      const draft = { type: body.integer('type') ?? 0, baseUrl: body.text('base_url'), key: body.text('key') };
      try {
        return success(namesOf(await channels.upstreamModels(viewer, null, draft)));
      } catch (error) {
        if (error instanceof Failure && error.kind === 'upstream') throw new RestRefusal(messageOf(error), 500);
        throw error;
      }
    },
    {
      wordings: {
        ...unreadable,
        'channel-type-unknown': ['Invalid request', 400],
        'channel-type-not-served': ['Invalid request', 400],
        'channel-key-missing': ['Invalid request', 400],
      },
      fields: channelFields,
    },
  );
}
