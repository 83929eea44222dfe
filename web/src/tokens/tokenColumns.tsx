import { Tag } from '@blueprintjs/core';
import { useMemo } from 'react';
import type { EveryonesTokensQuery, OwnTokenFragment, TokenTermsFragment } from '../generated/tokens/tokens.js';
import { QuotaText } from '../kit/QuotaText.js';
import { Time } from '../kit/Time.js';
import type { Column } from '../kit/table/columns.js';
import { commonTexts } from '../kit/words/common.texts.js';
import { type Translate, useText } from '../kit/words/i18n.js';
import { RevokeToken } from './RevokeToken.js';
import { maskedKey } from './shownKey.js';
import { TokenActions } from './TokenActions.js';
import { TokenBudget } from './TokenBudget.js';
import { TokenStatusTag } from './TokenStatusTag.js';
import { tokensTexts } from './tokens.texts.js';
import type { tokensZh } from './tokens.zh.js';

type EveryonesToken = EveryonesTokensQuery['allApiKeys']['items'][number];
type T = Translate<typeof tokensZh>;

export function useOwnTokenColumns(): readonly Column<OwnTokenFragment>[] {
  const t = useText(tokensTexts);
  const common = useText(commonTexts);
  return useMemo<readonly Column<OwnTokenFragment>[]>(
    () => [
      nameColumn(t),
      statusColumn(t),
      {
        id: 'key',
        header: t('column.key'),
        cell: ({ key }) => (key === null ? t('key.lost') : <code>{maskedKey(key)}</code>),
        priority: 2,
      },
      ...termsColumns(t),
      {
        id: 'actions',
        header: common('actions'),
        cell: (token) => <TokenActions token={token} />,
        align: 'end',
        fixed: true,
        pinned: true,
      },
    ],
    [t, common],
  );
}

export function useEveryonesTokenColumns(): readonly Column<EveryonesToken>[] {
  const t = useText(tokensTexts);
  const common = useText(commonTexts);
  return useMemo<readonly Column<EveryonesToken>[]>(
    () => [
      nameColumn(t),
      { id: 'user', header: t('column.user'), cell: ({ owner, ownerId }) => `${owner?.username || '—'} (${ownerId})` },
      statusColumn(t),
      ...termsColumns(t),
      {
        id: 'actions',
        header: common('actions'),
        cell: (token) => <RevokeToken token={token} />,
        align: 'end',
        fixed: true,
        pinned: true,
      },
    ],
    [t, common],
  );
}

const nameColumn = (t: T): Column<TokenTermsFragment> => ({
  id: 'name',
  header: t('column.name'),
  cell: ({ name, id }) => name || id,
  heading: true,
});

const statusColumn = (t: T): Column<TokenTermsFragment> => ({
  id: 'status',
  header: t('column.status'),
  cell: (token) => <TokenStatusTag token={token} />,
});

const termsColumns = (t: T): readonly Column<TokenTermsFragment>[] => [
  {
    id: 'remaining',
    header: t('column.remaining'),
    cell: ({ unlimited, remainingQuota }) =>
      unlimited ? <Tag minimal>{t('unlimited')}</Tag> : <QuotaText quota={remainingQuota} />,
    align: 'end',
  },
  {
    id: 'used',
    header: t('column.used'),
    cell: ({ usedQuota }) => <QuotaText quota={usedQuota} />,
    align: 'end',
    priority: 2,
  },
  {
    id: 'budget',
    header: t('column.budget'),
    cell: ({ budget }) => (budget === null ? t('budget.none') : <TokenBudget budget={budget} />),
    priority: 2,
  },
  {
    id: 'group',
    header: t('column.group'),
    cell: ({ group }) => (group === '' ? t('group.own') : <Tag minimal>{group}</Tag>),
    priority: 3,
  },
  {
    id: 'models',
    header: t('column.models'),
    cell: ({ modelLimitsEnabled, modelLimits }) =>
      modelLimitsEnabled ? (
        <span title={modelLimits.join('\n')}>{t('models.some', { count: modelLimits.length })}</span>
      ) : (
        t('models.any')
      ),
    priority: 3,
    initiallyHidden: true,
  },
  {
    id: 'ips',
    header: t('column.ips'),
    cell: ({ allowIps }) =>
      allowIps.length === 0 ? (
        t('ips.any')
      ) : (
        <span title={allowIps.join('\n')}>{t('ips.some', { count: allowIps.length })}</span>
      ),
    priority: 3,
    initiallyHidden: true,
  },
  {
    id: 'created',
    header: t('column.created'),
    cell: ({ createdAt }) => <Time at={createdAt} />,
    priority: 3,
    initiallyHidden: true,
  },
  {
    id: 'accessed',
    header: t('column.accessed'),
    cell: ({ accessedAt }) => <Time at={accessedAt} otherwise={t('never.used')} />,
    priority: 3,
  },
  {
    id: 'expires',
    header: t('column.expires'),
    cell: ({ expiresAt }) => <Time at={expiresAt} otherwise={t('never.expires')} />,
    priority: 2,
  },
];
