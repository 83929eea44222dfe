import { useQuery } from '@apollo/client/react';
import { EveryonesTokensDocument } from '../generated/tokens/tokens.js';
import { ResourceTable } from '../shared/table/ResourceTable.js';
import { usePageSize } from '../shared/table/usePageSize.js';
import { useText } from '../shared/words/i18n.js';
import { useEveryonesTokenColumns } from './tokenColumns.js';
import { tokensTexts } from './tokens.texts.js';
import { type SetTokensParams, statusOf, type TokensParams } from './tokensParams.js';

interface EveryonesTokensProps {
  readonly params: TokensParams;
  readonly setParams: SetTokensParams;
}

/** For administrators: to see whose tokens there are. Their keys are nobody's but their owners'. */
export function EveryonesTokens({ params, setParams }: EveryonesTokensProps) {
  const t = useText(tokensTexts);
  const [size, setSize] = usePageSize();
  const columns = useEveryonesTokenColumns();
  const { page, name, key, owner, group } = params;
  const { data, loading, error, refetch } = useQuery(EveryonesTokensDocument, {
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
  });
  return (
    <ResourceTable
      label={t('mode.everyone')}
      columnsKey="all-tokens-table-columns"
      columns={columns}
      rows={data?.allApiKeys.items}
      rowKey={({ id }) => id}
      result={{ loading, error, refetch }}
      empty={t('empty.search')}
      paging={{
        kind: 'numbered',
        page,
        total: data?.allApiKeys.total,
        size,
        onPage: (wanted) => setParams({ page: wanted }),
        onSize: (chosen) => {
          setSize(chosen);
          setParams({ page: 1 });
        },
      }}
    />
  );
}
