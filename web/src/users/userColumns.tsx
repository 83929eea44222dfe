import { Tag } from '@blueprintjs/core';
import type { ListedUserFragment } from '../generated/users/users.js';
import { formatExactly } from '../kit/figures.js';
import { QuotaText } from '../kit/QuotaText.js';
import { StatusTag } from '../kit/StatusTag.js';
import { Time } from '../kit/Time.js';
import type { Column } from '../kit/table/columns.js';
import type { commonZh } from '../kit/words/common.zh.js';
import type { Translate } from '../kit/words/i18n.js';
import { GroupTag } from './GroupTag.js';
import { isDeleted } from './mayManage.js';
import { UserActions } from './UserActions.js';
import type { usersZh } from './users.zh.js';

type UserColumn = Column<ListedUserFragment>;

const roleIntents = { ORDINARY: 'none', AUDITOR: 'success', ADMIN: 'primary', ROOT: 'warning' } as const;

export const userColumns = (
  t: Translate<typeof usersZh>,
  common: Translate<typeof commonZh>,
): readonly UserColumn[] => [
  {
    id: 'id',
    header: t('column.id'),
    priority: 2,
    sort: { descending: 'ID_DESC' },
    cell: ({ id }) => <span className="figures">{id}</span>,
  },
  {
    id: 'user',
    header: t('column.user'),
    heading: true,
    cell: ({ username }) => username,
    under: ({ username, displayName }) => (displayName === username ? null : displayName || null),
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
    cell: ({ requestCount }) => <span className="figures">{formatExactly(requestCount)}</span>,
  },
  {
    id: 'email',
    header: t('column.email'),
    priority: 3,
    initiallyHidden: true,
    cell: ({ email }) => email,
  },
  {
    id: 'identities',
    header: t('column.identities'),
    priority: 3,
    initiallyHidden: true,
    cell: ({ identities }) => identities.map(({ provider }) => common(`provider.${provider}`)).join(', '),
  },
  {
    id: 'invitedCount',
    header: t('column.invitedCount'),
    align: 'end',
    priority: 3,
    initiallyHidden: true,
    cell: ({ invitedCount }) => <span className="figures">{formatExactly(invitedCount)}</span>,
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
    pinned: true,
    align: 'end',
    cell: (user) => <UserActions user={user} />,
  },
];
