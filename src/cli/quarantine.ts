import { setTimeout as pause } from 'node:timers/promises';
import { type QuarantinePorts, quarantineEvent } from '../application/read-models.js';
import { Position } from '../domain/events/events.js';
import { Failure } from '../domain/kernel/failure.js';
import { listReadModels } from '../projections/engine/rebuild.js';
import { readModels } from '../projections/read-models.js';
import { type CommandContext, optionsIn } from './command.js';
import { type CommandDatabase, withDatabase } from './database.js';
import { commandName, modelNamed } from './model-names.js';

const usage = 'quarantine --model NAME --position NUMBER --reason TEXT; without any of them it lists what is stopped.';

/** How the read models of this release stand, by their checkpoints. */
const standing = async ({ pool, store }: CommandDatabase) => {
  const listed = await listReadModels(pool, store);
  return readModels.flatMap(
    ({ name, version }) => listed.find((row) => row.name === name && row.version === version) ?? [],
  );
};

/**
 * `quarantine --model channels --position 41 --reason "…"`: a stopped read model goes on, for ever without the one event
 * that it cannot fold. Beside a gateway that serves it goes on at once, else at the next start.
 */
export async function quarantine({ config, log, args }: CommandContext): Promise<void> {
  const text = { type: 'string' } as const;
  const { model, position, reason } = optionsIn(args, { model: text, position: text, reason: text });
  if (model === undefined && position === undefined && reason === undefined) {
    await withDatabase(config, log, listStopped);
    return;
  }
  if (model === undefined || position === undefined || !/^\d{1,15}$/.test(position) || !reason?.trim())
    throw new Failure('invalid-field', { reason: `Usage: ${usage}` });
  const { name } = modelNamed(model);
  await withDatabase(config, log, async (database) => {
    const states = await standing(database);
    const left = { model: name, position: Position(position), reason };
    await quarantineEvent({ handle: database.handle, progress: progressOf(database, states) })('cli', left);
    const now = (await standing(database)).find((state) => state.name === name);
    const goesOn = now !== undefined && now.position >= left.position;
    console.log(
      `${commandName(name)}: leaves out event ${position}; ${goesOn ? 'it has gone on' : 'it goes on where it is served, or at the next start'}.`,
    );
  });
}

async function listStopped(database: CommandDatabase): Promise<void> {
  const stopped = (await standing(database)).filter(({ failure }) => failure !== null);
  if (stopped.length === 0) console.log('No read model is stopped.');
  for (const { name, failure } of stopped)
    console.log(`${commandName(name)}: stopped at event ${failure?.position}, ${failure?.type}: ${failure?.error}`);
}

/** The checkpoints are all that is known from here. */
const progressOf = (
  database: CommandDatabase,
  states: Awaited<ReturnType<typeof standing>>,
): QuarantinePorts['progress'] => ({
  status: () => states,
  async passed(name, position, timeoutMs) {
    for (const deadline = performance.now() + timeoutMs; performance.now() < deadline; await pause(50)) {
      const state = (await standing(database)).find((model) => model.name === name);
      if (state === undefined || !state.led) return false;
      if (state.position >= position) return true;
    }
    return false;
  },
});
