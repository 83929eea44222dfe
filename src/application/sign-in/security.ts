import type { UserId } from '../../domain/kernel/ids.js';
import type { Instant } from '../../domain/kernel/instant.js';
import type { FactorSource } from '../ports/proof-ports.js';
import type { PersonalData, UserView } from '../ports/storage-ports.js';

/* By what a user signs in, as the user may see it. */

interface OwnPasskey {
  /** Names it; opens nothing. */
  readonly id: string;
  readonly name: string;
  readonly addedAt: Instant;
}

interface OwnFactors {
  readonly secondFactor: boolean;
  /** Not used yet. */
  readonly recoveryCodes: number;
  /** Oldest first. */
  readonly passkeys: readonly OwnPasskey[];
  /** A role is withheld until there is a second factor. */
  readonly demanded: boolean;
}

interface SecurityQueryPorts {
  readonly factors: FactorSource;
  readonly personal: Pick<PersonalData, 'openAll'>;
}

export function securityQueries({ factors, personal }: SecurityQueryPorts) {
  const passkeysOf = async (user: UserId): Promise<readonly OwnPasskey[]> => {
    const { factors: known, addedAt } = await factors.of(user);
    const passkeys = [...known.passkeys];
    const names = await personal.openAll(passkeys.map(([, { name }]) => ({ user, sealed: name })));
    return passkeys.map(([id], index) => ({ id, name: names[index] ?? '', addedAt: addedAt.get(id) as Instant }));
  };

  return {
    async ownFactors({ id, withheldRole }: UserView): Promise<OwnFactors> {
      const { totp, recoveryCodes } = (await factors.of(id)).factors;
      return {
        secondFactor: totp !== null,
        recoveryCodes: recoveryCodes.length,
        passkeys: await passkeysOf(id),
        demanded: withheldRole !== undefined,
      };
    },
  };
}
