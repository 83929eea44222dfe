import type { FieldChange } from '../../projections/models/administrators-log/changed-fields.js';
import type { AdministratorAct } from './administrators-log.js';

/* An order of an administrator in a file: as a row of CSV, or as JSON. */

export const actsHeader = [
  'position',
  'time (UTC)',
  'administrator',
  'asked by',
  'address',
  'order',
  'subject',
  'subject id',
  'name',
  'changes',
];

/** What is not shown has changed all the same. */
const changeText = ({ field, from, to, isCut }: FieldChange): string =>
  from === null || to === null ? `${field}: changed` : `${field}: ${from} -> ${to}${isCut ? ' (cut)' : ''}`;

const askedBy = ({ onCommandLine, face, credential }: AdministratorAct): string | null =>
  onCommandLine ? 'command line' : face && `${face}, ${credential}`;

export const actCells = (act: AdministratorAct) => [
  Number(act.position),
  new Date(act.at).toISOString(),
  act.by,
  askedBy(act),
  act.address,
  act.kind,
  act.subject,
  act.subjectId,
  act.name,
  [...act.changes.map(changeText), ...(act.moreChanges > 0 ? [`${act.moreChanges} more`] : [])].join('\n'),
];

export const actJson = ({ at, ...act }: AdministratorAct) => ({ ...act, at: new Date(at).toISOString() });
