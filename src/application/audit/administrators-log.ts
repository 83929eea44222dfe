import type { Position } from '../../domain/events/events.js';
import type { OrderCredential, OrderFace } from '../../domain/events/order-origin.js';
import { checkText, searchText } from '../../domain/kernel/bounds.js';
import { invalidField } from '../../domain/kernel/failure.js';
import type { UserId } from '../../domain/kernel/ids.js';
import type { Instant } from '../../domain/kernel/instant.js';
import type { Actor } from '../../domain/user/user.js';
import type { ReadModels } from '../../projections/database.js';
import {
  type ActKind,
  type ActSubject,
  actKinds,
  actSubjects,
} from '../../projections/models/administrators-log/acts.js';
import { type ActRow, administratorsLog } from '../../projections/models/administrators-log/administrators-log.js';
import { type ActFilter, acts } from '../../projections/models/administrators-log/administrators-log-queries.js';
import { type FieldChange, hiddenChange } from '../../projections/models/administrators-log/changed-fields.js';
import { authorise, mayDo } from '../authorise.js';
import { type ConsistencyPorts, waitForHead } from '../consistency.js';
import type { PersonalData } from '../ports/storage-ports.js';

/* What administrators did: made of the events of their orders, so nobody can switch it off. */

/** One order of an administrator, as it is shown. */
export interface AdministratorAct {
  readonly position: Position;
  readonly at: Instant;
  /** null: not written down by the release of then, or done on the command line. */
  readonly by: UserId | null;
  readonly onCommandLine: boolean;
  /** null: not written down. */
  readonly face: OrderFace | null;
  readonly credential: OrderCredential | null;
  /** null: not written down, not for this viewer, or whoever ordered is erased. */
  readonly address: string | null;
  readonly kind: ActKind;
  readonly subject: ActSubject;
  /** '' : there is one alone, or there are several. */
  readonly subjectId: string;
  /** null: it is called by its id. */
  readonly name: string | null;
  readonly changes: readonly FieldChange[];
  /** Changes beyond those that are kept. */
  readonly moreChanges: number;
}

interface ActsAsked {
  readonly filter: ActFilter;
  readonly order: 'oldest' | 'newest';
  readonly after: Position | null;
  readonly first: number;
}

interface ActStore {
  readonly db: ReadModels;
  readonly personal: Pick<PersonalData, 'openAll'>;
}

/** Only root and auditors read settings and prices, and where others asked from. */
interface Clearance {
  readonly settings: boolean;
  /** Whose own addresses are shown all the same; null: nobody's. */
  readonly self: UserId | null;
}

const everything: Clearance = { settings: true, self: null };

const ofSettings: readonly ActSubject[] = ['option', 'prices'];

const shownChanges = ({ subject, changes }: ActRow, { settings }: Clearance): readonly FieldChange[] =>
  settings || !ofSettings.includes(subject) ? changes : changes.map(({ field }) => hiddenChange(field));

async function shown(
  { personal }: ActStore,
  rows: readonly ActRow[],
  clearance: Clearance,
): Promise<AdministratorAct[]> {
  const sealed = rows.flatMap(({ position, by_user: user, address }) =>
    user === null || address === null || !(clearance.settings || user === clearance.self)
      ? []
      : [{ position, user, sealed: address }],
  );
  const opened = await personal.openAll(sealed);
  const addresses = new Map(sealed.map(({ position }, index) => [position, opened[index] ?? null]));
  return rows.map((row) => ({
    position: row.position,
    at: row.at,
    by: row.by_user,
    onCommandLine: row.on_command_line,
    face: row.face,
    credential: row.credential,
    address: addresses.get(row.position) ?? null,
    kind: row.kind,
    subject: row.subject,
    subjectId: row.subject_id,
    name: row.name,
    changes: shownChanges(row, clearance),
    moreChanges: row.more_changes,
  }));
}

function oneNamed<Name extends string>(field: string, given: string, names: readonly Name[]): Name {
  const found = names.find((name) => name === given);
  if (found === undefined) throw invalidField(field, `one of ${names.join(', ')}`);
  return found;
}

/** Throws `invalid-field`. */
export const actKindNamed = (given: string): ActKind => oneNamed('kind', given, actKinds);

/** Throws `invalid-field`. */
export const actSubjectNamed = (given: string): ActSubject => oneNamed('subject', given, actSubjects);

/** Throws `invalid-field`. */
function checkFilter({ kinds, subject, subjectId }: ActFilter): void {
  if (kinds?.length === 0) throw invalidField('kinds', `some of ${actKinds.join(', ')}`);
  if (subjectId === null) return;
  checkText('subjectId', subjectId, searchText);
  if (subject === null) throw invalidField('subject', `one of ${actSubjects.join(', ')}, where a subject is named`);
}

const actsPerPage = 500;

/** Oldest first, page by page; whoever reads no further asks the database no further. */
async function* pages(store: ActStore, filter: ActFilter, upTo: Position | null, clearance: Clearance) {
  let after: Position | null = null;
  for (;;) {
    const rows: readonly ActRow[] = await acts(store.db, filter, { order: 'oldest', after, upTo, limit: actsPerPage });
    yield await shown(store, rows, clearance);
    after = rows.at(-1)?.position ?? null;
    if (after === null || rows.length < actsPerPage) return;
  }
}

/** For whoever has the database. */
export function actPages(store: ActStore, filter: ActFilter): AsyncGenerator<readonly AdministratorAct[]> {
  checkFilter(filter);
  return pages(store, filter, null, everything);
}

interface AdministratorsLogPorts extends ConsistencyPorts, ActStore {}

export function administratorsLogQueries(ports: AdministratorsLogPorts) {
  const ready = async (viewer: Actor, filter: ActFilter): Promise<{ upTo: Position; clearance: Clearance }> => {
    authorise(viewer, 'admin-reading');
    checkFilter(filter);
    const upTo = await waitForHead(ports, [administratorsLog.name]);
    return { upTo, clearance: { settings: mayDo(viewer, 'root-reading'), self: viewer.id } };
  };
  return {
    /** Throws `role-too-low`, and `store-unavailable` while the log is being built. */
    async administratorsLog(
      viewer: Actor,
      { filter, order, after, first }: ActsAsked,
    ): Promise<{ readonly items: readonly AdministratorAct[]; readonly hasMore: boolean }> {
      const { upTo, clearance } = await ready(viewer, filter);
      const rows = await acts(ports.db, filter, { order, after, upTo, limit: first + 1 });
      return { items: await shown(ports, rows.slice(0, first), clearance), hasMore: rows.length > first };
    },

    /** All of them, oldest first, to be kept. Throws as above. */
    async exportedActs(viewer: Actor, filter: ActFilter): Promise<AsyncGenerator<readonly AdministratorAct[]>> {
      const { upTo, clearance } = await ready(viewer, filter);
      return pages(ports, filter, upTo, clearance);
    },
  };
}
