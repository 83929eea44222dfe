import type { Application } from '../application/application.js';
import { latestOf } from '../domain/events/events.js';
import { invalidField } from '../domain/kernel/failure.js';
import { emptiedOption } from '../domain/options/option-values.js';
import { shownMaps } from './shown-maps.js';
import type { Body } from './wire/body.js';
import type { Endpoints } from './wire/endpoints.js';
import { success } from './wire/envelope.js';
import { badParameter, oneSentence } from './wire/errors.js';

/* The option store, for root. */

const ratiosReset = '重置模型倍率成功';

/** Hidden by their names in this contract, secret or not. */
const hidden = /(Token|Secret|Key)$/;

function keyIn(body: Body): string {
  const key = body.text('key') ?? '';
  if (key === '') throw invalidField('key', 'the name of an option, not empty');
  return key;
}

export function optionEndpoints(endpoints: Endpoints, { options, visible }: Application): void {
  const shown = shownMaps();

  endpoints.guarded('root', 'GET', '/option/', (viewer, { request }) => {
    shown.show(request, options.readMaps(viewer));
    return success(options.list(viewer).filter(({ key }) => !hidden.test(key)));
  });

  endpoints.guarded(
    'root',
    'PUT',
    '/option/',
    async (viewer, exchange) => {
      const body = exchange.body();
      const key = keyIn(body);
      // Older consoles send an emptied field as it is, and show "saved" whatever the answer says.
      const value = body.scalar('value') || emptiedOption(key);
      const reading = shown.last(exchange.request, key);
      const position = await (reading === null
        ? options.change(viewer, key, value)
        : options.changeAsRead(viewer, key, value, reading));
      await visible(position);
      const now = options.readMaps(viewer).get(key);
      // It knows what it has written, and no more.
      if (reading !== null && now !== undefined)
        shown.show(exchange.request, new Map([[key, { ...now, position: latestOf([reading.position, position]) }]]));
      return success();
    },
    { wordings: oneSentence(badParameter, 400) },
  );

  endpoints.guarded('root', 'POST', '/option/rest_model_ratio', async (viewer) => {
    await visible(await options.reset(viewer, 'ModelRatio'));
    return success(null, ratiosReset);
  });
}
