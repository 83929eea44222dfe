import type { Sealed, UserId } from '../../domain/kernel/ids.js';
import { searchTermsOf } from '../../domain/kernel/search-terms.js';
import type { UserEvent } from '../../domain/user/user.js';
import type { ReadModels } from '../database.js';
import { putRows } from '../engine/multi-row.js';
import type { PersonalDataReader } from '../engine/projection.js';
import type { Personal, PersonalTexts } from './users.js';

/* What of users is personal: rows of a table of its own, which go with their user. */

export type PersonalChange = Partial<PersonalTexts & Pick<Personal, 'email_claim'>>;

/** What an event says about personal texts; null: there are none any more; undefined: nothing. */
export function personalIn(event: UserEvent): PersonalChange | null | undefined {
  switch (event.type) {
    case 'UserRegistered':
      return { display_name: event.displayName };
    case 'UserProfileChanged':
      return event.displayName === null ? {} : { display_name: event.displayName };
    case 'EmailChanged':
      return { email: event.email?.shown ?? null, email_claim: event.email?.claim ?? null };
    case 'IdentityLinked':
      return { [event.provider]: event.shown };
    case 'IdentityUnlinked':
      return { [event.provider]: null };
    case 'UserSettingsChanged':
      return { settings: event.settings };
    case 'UserDeleted':
      return null;
    default:
      return undefined;
  }
}

const nothingPersonal: Required<PersonalChange> = {
  display_name: null,
  email: null,
  settings: null,
  github: null,
  oidc: null,
  linuxdo: null,
  wechat: null,
  telegram: null,
  email_claim: null,
};

export async function changePersonal(
  tx: ReadModels,
  changes: ReadonlyMap<UserId, PersonalChange | null>,
  personalData: PersonalDataReader,
): Promise<void> {
  const ids = [...changes.keys()];
  const stored = await tx.selectFrom('user_personal').selectAll().where('user_id', 'in', ids).execute();
  const before = new Map(stored.map((personal) => [personal.user_id, personal]));
  const gone = ids.filter((id) => changes.get(id) === null);
  const rows = ids
    .filter((id) => changes.get(id) !== null)
    .map(async (id): Promise<Personal> => {
      const texts = { ...nothingPersonal, ...before.get(id), ...changes.get(id) };
      const open = async (text: Sealed | null) => (text === null ? '' : ((await personalData.open(id, text)) ?? ''));
      const [name, address] = await Promise.all([open(texts.display_name), open(texts.email)]);
      const terms = new Set([...searchTermsOf(name), ...searchTermsOf(address)]);
      return {
        ...texts,
        user_id: id,
        search_tokens: [...terms].map((term) => personalData.searchToken(term)),
      };
    });
  if (gone.length > 0) await tx.deleteFrom('user_personal').where('user_id', 'in', gone).execute();
  await putRows(tx, 'user_personal', ['user_id'], await Promise.all(rows));
}
