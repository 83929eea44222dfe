import { NetworkStatus } from '@apollo/client';
import { useQuery } from '@apollo/client/react';
import { EveryonesTokensDocument } from '../generated/tokens/tokens.js';
import { ResourceTable } from '../kit/table/ResourceTable.js';
import { useNumberedPages } from '../kit/table/useNumberedPages.js';
import { useText } from '../kit/words/i18n.js';
import { following } from './following.js';
import { useEveryonesTokenColumns } from './tokenColumns.js';
import { tokensTexts } from './tokens.texts.js';
import { statusOf, type TokensParams } from './tokensParams.js';

/** For administrators: to see whose tokens there are, and to disable them. Their keys are nobody's but their owners'. */
export function EveryonesTokens({ params }: { readonly params: TokensParams }) {
  const t = useText(tokensTexts);
  const { page, size, paging } = useNumberedPages();
  const columns = useEveryonesTokenColumns();
  const { name, key, owner, group } = params;
  const { data, loading, networkStatus, error, refetch } = useQuery(EveryonesTokensDocument, {
    variables: {
      page,
      size,
      ...(name !== '' && { name }),
      ...(key !== '' && { key }),
      ...(owner !== '' && { ownerId: owner }),
      ...(group !== '' && { group }),
      status: statusOf(params) ?? undefined,
    },
    fetchPolicy: 'cache-and-network',
    ...following,
  });
  return (
    <ResourceTable
      label={t('mode.everyone')}
      columnsKey="all-tokens-table-columns"
      columns={columns}
      rows={data?.allApiKeys.items}
      rowKey={({ id }) => id}
      result={{ loading: loading && networkStatus !== NetworkStatus.poll, error, refetch }}
      empty={t('empty.search')}
      paging={paging(data?.allApiKeys.total)}
    />
  );
}
