import { type Position, streams } from '../../domain/events/events.js';
import { Failure } from '../../domain/kernel/failure.js';
import type { UserId } from '../../domain/kernel/ids.js';
import { type FactorCommand, factorsDecider } from '../../domain/user/second-factor.js';
import type { Actor } from '../../domain/user/user.js';
import type { Handle } from '../handle.js';
import type { FactorSource, OneTimeCodes } from '../ports/proof-ports.js';
import type { Directory, PersonalData, Sessions, Tickets, UserView, Vault } from '../ports/storage-ports.js';
import type { PasskeyCeremonies } from './passkeys.js';
import type { PasskeysOf } from './passkeys-of.js';
import type { SecondFactor } from './second-factor.js';
import type { StepUps } from './step-up.js';

export interface FactorCommandPorts {
  readonly handle: Handle;
  readonly vault: Pick<Vault, 'put'>;
  readonly personal: Pick<PersonalData, 'seal'>;
  readonly tickets: Tickets;
  readonly sessions: Pick<Sessions, 'closeOlder'>;
  readonly directory: Pick<Directory, 'settings' | 'user'>;
  readonly passkeysOf: PasskeysOf;
  readonly factors: FactorSource;
  readonly codes: OneTimeCodes;
  readonly passkeys: PasskeyCeremonies;
  readonly secondFactor: SecondFactor;
  readonly stepUps: StepUps;
}

/** One command in the stream of a user's factors. */
export const runFactorCommand = async (
  { handle }: Pick<FactorCommandPorts, 'handle'>,
  id: UserId,
  command: FactorCommand,
  actor: Actor | null = null,
): Promise<Position> =>
  (await (actor === null ? handle : handle.by(actor))(factorsDecider, streams.factors(id), command)).position;

/** Throws `user-not-found`. */
export async function knownUser({ directory }: Pick<FactorCommandPorts, 'directory'>, id: UserId): Promise<UserView> {
  const user = await directory.user(id);
  if (user === null) throw new Failure('user-not-found');
  return user;
}
