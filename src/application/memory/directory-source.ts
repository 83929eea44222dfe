import { beginning, earliestOf, type Position } from '../../domain/events/events.js';
import { normalEmail } from '../../domain/user/user-fields.js';
import type { ReadModels } from '../../projections/database.js';
import { apiKeyByHash } from '../../projections/models/api-keys.js';
import { allChannels, channelSecrets, channelSettings } from '../../projections/models/channel-queries.js';
import { allOptions, optionValue, pinnedNames } from '../../projections/models/options.js';
import { allPriceRecords } from '../../projections/models/price-history.js';
import { userByAccessTokenHash, userByEmail, userByUsername } from '../../projections/models/user-queries.js';
import type { PersonalData } from '../ports/storage-ports.js';
import type { IdentitySource } from '../sign-in/identity-ports.js';
import type { DirectorySource } from './directory.js';

/* The directory's and the identity's view of the read models. */

/** `positionOf`: of a read model's last committed batch. */
export const directorySource = (db: ReadModels, positionOf: (readModel: string) => Position): DirectorySource => ({
  async snapshot() {
    // Read before the rows: they can only be newer, and a newer event applied again changes nothing.
    // API keys are found by what the tail delivers of them where their read model is behind, or stopped.
    const position = earliestOf(
      positionOf('channels'),
      positionOf('options'),
      positionOf('price_history'),
      positionOf('api_keys'),
    );
    const [channels, options, prices] = await Promise.all([allChannels(db), allOptions(db), allPriceRecords(db)]);
    return {
      position,
      channels: channels.map((row) => ({
        id: row.id,
        status: row.status,
        settings: channelSettings(row),
        secrets: channelSecrets(row),
        position: beginning,
      })),
      prices: new Map(prices.map(({ model, periods, position }) => [model, { periods, position }])),
      options: new Map(
        options.map((row) => {
          const pinned = pinnedNames(row);
          const value = optionValue(row);
          return [row.key, { value, position: row.position, ...(pinned === undefined ? {} : { pinned }) }];
        }),
      ),
    };
  },
  apiKeyIdByHash: async (keyHash) => (await apiKeyByHash(db, keyHash))?.id ?? null,
});

export const identitySource = (db: ReadModels, personal: Pick<PersonalData, 'identityClaim'>): IdentitySource => ({
  async byLogin(login) {
    const row =
      (await userByUsername(db, login)) ??
      (login.includes('@') ? await userByEmail(db, personal.identityClaim('email', normalEmail(login))) : undefined);
    return row === undefined || row.deleted_at !== null ? null : row.id;
  },
  byAccessTokenHash: async (tokenHash) => (await userByAccessTokenHash(db, tokenHash))?.id ?? null,
});
