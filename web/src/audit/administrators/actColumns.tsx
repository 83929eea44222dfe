import { Tag } from '@blueprintjs/core';
import { Link } from 'react-router-dom';
import type { AdministratorsLogQuery } from '../../generated/audit/administrators/administrators.js';
import { Time } from '../../kit/Time.js';
import type { Column } from '../../kit/table/columns.js';
import { addressOf, itemOf } from '../../kit/table/openItem.js';
import type { Translate } from '../../kit/words/i18n.js';
import type { administratorsZh } from './administrators.zh.js';

export type Act = AdministratorsLogQuery['administratorsLog']['items'][number];
type Words = Translate<typeof administratorsZh>;

function By({ act: { by, byId, onCommandLine }, t }: { readonly act: Act; readonly t: Words }) {
  if (onCommandLine) return t('by.commandLine');
  if (by !== null && by !== undefined) return <Link to={`/audit/administrators?by=${by.id}`}>{by.username}</Link>;
  return byId === null || byId === undefined ? t('by.unknown') : t('by.erased', { id: byId });
}

/** Where the thing that was administered is shown; null: nowhere, or to root alone. */
function pageOf({ subject, subjectId }: Act, root: boolean): string | null {
  switch (subject) {
    case 'USER':
      return `/audit?kind=USER&id=${subjectId}`;
    case 'API_KEY':
      return `/audit?kind=API_KEY&id=${subjectId}`;
    case 'CHANNEL':
      return `/channel/${subjectId}`;
    case 'CODE':
      return `/audit?kind=CODE&id=${subjectId}`;
    case 'PAYMENT':
      return `/audit?kind=PAYMENT&id=${encodeURIComponent(subjectId)}`;
    case 'OPTION':
      return root ? addressOf('/setting', itemOf('history', subjectId)) : null;
    default:
      return null;
  }
}

function Subject({ act, root, t }: { readonly act: Act; readonly root: boolean; readonly t: Words }) {
  const page = pageOf(act, root);
  const name = `${t(`subject.${act.subject}`)} ${act.name ?? act.subjectId}`.trimEnd();
  return page === null ? name : <Link to={page}>{name}</Link>;
}

/** A field from what to what; what is a secret, or personal, only changed. */
function Change({ change, t }: { readonly change: Act['changes'][number]; readonly t: Words }) {
  const { field, from, to, isCut } = change;
  const shown = (text: string): string => (text === '' ? t('change.nothing') : text);
  const isHidden = from === null || from === undefined || to === null || to === undefined;
  return (
    <div className="act-change">
      <code>{field}</code> {isHidden ? t('change.hidden') : `${shown(from)} → ${shown(to)}`}
      {isCut && t('change.cut')}
    </div>
  );
}

/** `root`: who looks may open settings. */
export const actColumns = (t: Words, root: boolean): readonly Column<Act>[] => [
  {
    id: 'at',
    header: t('column.at'),
    heading: true,
    cell: ({ at }) => <Time at={at} />,
    under: ({ position }) => <span className="figures">{position}</span>,
  },
  { id: 'by', header: t('column.by'), cell: (act) => <By act={act} t={t} /> },
  { id: 'kind', header: t('column.kind'), cell: ({ kind }) => <Tag minimal>{t(`kind.${kind}`)}</Tag> },
  { id: 'subject', header: t('column.subject'), wraps: true, cell: (act) => <Subject act={act} root={root} t={t} /> },
  {
    id: 'changes',
    header: t('column.changes'),
    priority: 2,
    wraps: true,
    cell: ({ changes, moreChanges }) =>
      changes.length === 0 ? (
        '—'
      ) : (
        <>
          {changes.map((change) => (
            <Change key={change.field} change={change} t={t} />
          ))}
          {moreChanges > 0 && t('change.more', { count: moreChanges })}
        </>
      ),
  },
  {
    id: 'from',
    header: t('column.from'),
    priority: 3,
    cell: ({ address }) => address ?? '—',
    under: ({ face, credential }) =>
      face && credential ? `${t(`face.${face}`)}, ${t(`credential.${credential}`)}` : null,
  },
];
