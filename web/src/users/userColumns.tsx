import { Tag } from '@blueprintjs/core';
import type { ListedUserFragment } from '../generated/users/users.js';
import { QuotaText } from '../shared/QuotaText.js';
import { StatusTag } from '../shared/StatusTag.js';
import type { Viewer } from '../shared/session.js';
import { Time } from '../shared/Time.js';
import type { Column } from '../shared/table/columns.js';
import { DrawerLink } from '../shared/table/DrawerLink.js';
import type { commonZh } from '../shared/words/common.zh.js';
import type { Translate } from '../shared/words/i18n.js';
import { GroupTag } from './GroupTag.js';
import { isDeleted, outranks } from './mayManage.js';
import { UserActions } from './UserActions.js';
import type { usersZh } from './users.zh.js';

type UserColumn = Column<ListedUserFragment>;

const roleIntents = { ORDINARY: 'none', ADMIN: 'primary', ROOT: 'warning' } as const;

export const userColumns = (
  t: Translate<typeof usersZh>,
  common: Translate<typeof commonZh>,
  viewer: Viewer,
): readonly UserColumn[] => [
  {
    id: 'user',
    header: t('column.user'),
    fixed: true,
    sort: { descending: 'ID_DESC' },
    cell: (user) => <UserName user={user} mayOpen={!isDeleted(user) && outranks(viewer, user)} />,
  },
  {
    id: 'group',
    header: t('column.group'),
    priority: 2,
    cell: ({ group }) => <GroupTag group={group} />,
  },
  {
    id: 'role',
    header: t('column.role'),
    priority: 2,
    cell: ({ role }) => (
      <Tag minimal intent={roleIntents[role]}>
        {t(`role.${role}`)}
      </Tag>
    ),
  },
  {
    id: 'status',
    header: t('column.status'),
    cell: (user) => {
      if (isDeleted(user)) return <StatusTag>{t('status.deleted')}</StatusTag>;
      return (
        <StatusTag intent={user.status === 'ENABLED' ? 'success' : 'danger'}>{t(`status.${user.status}`)}</StatusTag>
      );
    },
  },
  {
    id: 'quota',
    header: t('column.quota'),
    align: 'end',
    sort: { ascending: 'QUOTA_ASC', descending: 'QUOTA_DESC' },
    cell: ({ quota }) => <QuotaText quota={quota} />,
  },
  {
    id: 'usedQuota',
    header: t('column.usedQuota'),
    align: 'end',
    priority: 2,
    sort: { ascending: 'USED_QUOTA_ASC', descending: 'USED_QUOTA_DESC' },
    cell: ({ usedQuota }) => <QuotaText quota={usedQuota} />,
  },
  {
    id: 'requestCount',
    header: t('column.requestCount'),
    align: 'end',
    priority: 2,
    sort: { ascending: 'REQUEST_COUNT_ASC', descending: 'REQUEST_COUNT_DESC' },
    cell: ({ requestCount }) => <span className="figures">{requestCount.toLocaleString('en-US')}</span>,
  },
  {
    id: 'email',
    header: t('column.email'),
    priority: 3,
    initiallyHidden: true,
    cell: ({ email }) => email,
  },
  {
    id: 'createdAt',
    header: t('column.createdAt'),
    priority: 3,
    cell: ({ createdAt }) => <Time at={createdAt} />,
  },
  {
    id: 'actions',
    header: common('actions'),
    fixed: true,
    align: 'end',
    cell: (user) => <UserActions user={user} />,
  },
];

function UserName({ user, mayOpen }: { readonly user: ListedUserFragment; readonly mayOpen: boolean }) {
  const { id, username, displayName } = user;
  return (
    <>
      <span className="figures row-number">{`#${id}`}</span>{' '}
      {mayOpen ? <DrawerLink open={id}>{username}</DrawerLink> : username}
      {displayName !== '' && displayName !== username && <div className="cell-second">{displayName}</div>}
    </>
  );
}
