import { rebuild } from '../projections/engine/rebuild.js';
import { readModels } from '../projections/read-models.js';
import { type CommandContext, optionsIn } from './command.js';
import { withDatabase } from './database.js';
import { commandName, modelNamed } from './model-names.js';

/** `replay --model usage-log`: makes read models anew from the log, while the gateway serves; without, all of them. */
export async function replay({ config, log, args }: CommandContext): Promise<void> {
  const given = optionsIn(args, { model: { type: 'string', multiple: true } });
  const wanted = new Set(given.model?.map(modelNamed) ?? readModels);
  await withDatabase(config, log, async ({ pool, store, personalData, newClient }) => {
    for (const projection of readModels) {
      if (!wanted.has(projection)) continue;
      const startedAt = Date.now();
      const { events, position } = await rebuild({
        projection,
        feed: store,
        pool,
        newClient,
        context: { personalData },
      });
      console.log(
        `${commandName(projection.name)}: rebuilt from ${events} events, up to position ${position}, in ${Date.now() - startedAt} ms`,
      );
    }
  });
}
