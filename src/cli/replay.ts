import { parseArgs } from 'node:util';
import { Failure } from '../domain/failure.js';
import { readModels } from '../projections/read-models.js';
import { rebuild } from '../projections/rebuild.js';
import type { CommandContext } from './command.js';
import { withDatabase } from './database.js';

/** Names on the command line are written with dashes. */
const commandName = (name: string): string => name.replaceAll('_', '-');

/** `replay --model usage-log`: makes read models anew from the log, while the gateway serves; without, all of them. */
export async function replay({ config, log, args }: CommandContext): Promise<void> {
  const { values } = parseArgs({ args: [...args], options: { model: { type: 'string', multiple: true } } });
  const wanted = values.model ?? readModels.map(({ name }) => commandName(name));
  const unknown = wanted.find((name) => !readModels.some((model) => commandName(model.name) === commandName(name)));
  if (unknown !== undefined) {
    const known = readModels.map(({ name }) => commandName(name)).join(', ');
    throw new Failure('invalid-field', {
      reason: `--model ${unknown}: there is no such read model. Known are: ${known}.`,
    });
  }
  await withDatabase(config, log, async ({ pool, store, personalData, newClient }) => {
    for (const projection of readModels) {
      const name = commandName(projection.name);
      if (!wanted.some((model) => commandName(model) === name)) continue;
      const startedAt = Date.now();
      const { events, position } = await rebuild({
        projection,
        feed: store,
        pool,
        newClient,
        context: { personalData },
      });
      console.log(
        `${name}: rebuilt from ${events} events, up to position ${position}, in ${Date.now() - startedAt} ms`,
      );
    }
  });
}
