import type { Application } from '../../application/application.js';
import type { Handle } from '../../application/handle.js';
import { Failure } from '../../domain/kernel/failure.js';
import type { ChannelId, UserId } from '../../domain/kernel/ids.js';
import type { Seeded, SeededPerson } from '../seed.js';
import type { DemoBalances } from './balances.js';

/** What those need who act in the past; the clock of `app` and `handle` stands at the moment of their act. */
export interface Stage {
  readonly app: Application;
  readonly handle: Handle;
  readonly seeded: Seeded;
  readonly balances: DemoBalances;
}

export function channelNamed({ seeded }: Pick<Stage, 'seeded'>, name: string): ChannelId {
  const id = seeded.channels.get(name);
  if (id === undefined) throw new Failure('channel-not-found');
  return id;
}

export function personNamed(
  { seeded }: Pick<Stage, 'seeded'>,
  username: string,
): SeededPerson & { readonly id: UserId } {
  const person = seeded.people.find(({ cast }) => cast.username === username);
  if (person === undefined) throw new Failure('user-not-found');
  return person;
}
