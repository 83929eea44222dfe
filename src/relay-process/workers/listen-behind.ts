import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import type { Closing } from '../../process/closing.js';
import type { WorkerSetting } from './messages.js';
import { takePassedOn } from './passing-on.js';
import type { RelayWorkers, RelayWorkersPorts } from './relay-workers.js';

interface Behind {
  readonly ports: RelayWorkersPorts;
  readonly setting: Omit<WorkerSetting, 'faces'>;
}

/** The workers listen, and pass on to the faces what is theirs. Resolves with the port. */
export async function listenBehind(
  workers: RelayWorkers,
  faces: FastifyInstance,
  closing: Closing,
  { ports, setting }: Behind,
): Promise<number> {
  // Nobody else may enter: who gets to the socket is believed about where a request came from.
  const directory = await mkdtemp(join(tmpdir(), 'tallygate-faces-'));
  closing.add(() => rm(directory, { recursive: true, force: true }));
  const path = join(directory, 'socket');
  takePassedOn(faces.server);
  await faces.listen({ path });
  closing.add(() => workers.stop());
  return workers.start(ports, { ...setting, faces: path });
}
