import type { Application } from '../application/application.js';
import { invalidField } from '../domain/kernel/failure.js';
import { emptiedOption } from '../domain/options/option-values.js';
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
  if (key === '') throw invalidField('key', 'the name of an option');
  return key;
}

export function optionEndpoints(endpoints: Endpoints, { options, visible }: Application): void {
  endpoints.guarded('root', 'GET', '/option/', (viewer) =>
    success(options.list(viewer).filter(({ key }) => !hidden.test(key))),
  );

  endpoints.guarded(
    'root',
    'PUT',
    '/option/',
    async (viewer, exchange) => {
      const body = exchange.body();
      const key = keyIn(body);
      // Older consoles send an emptied field as it is, and show "saved" whatever the answer says.
      await visible(await options.change(viewer, key, body.scalar('value') || emptiedOption(key)));
      return success();
    },
    { wordings: oneSentence(badParameter, 400) },
  );

  endpoints.guarded('root', 'POST', '/option/rest_model_ratio', async (viewer) => {
    await visible(await options.reset(viewer, 'ModelRatio'));
    return success(null, ratiosReset);
  });
}
