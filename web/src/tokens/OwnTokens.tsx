import { useQuery } from '@apollo/client/react';
import { FoundTokensDocument, TokensDocument } from '../generated/tokens/tokens.js';
import { useOpenItem } from '../shared/table/openItem.js';
import { ResourceTable } from '../shared/table/ResourceTable.js';
import { usePageSize } from '../shared/table/usePageSize.js';
import { useText } from '../shared/words/i18n.js';
import { useOwnTokenColumns } from './tokenColumns.js';
import { tokensTexts } from './tokens.texts.js';
import type { SetTokensParams, TokensParams } from './tokensParams.js';

interface OwnTokensProps {
  readonly params: TokensParams;
  readonly setParams: SetTokensParams;
}

/** One's own tokens: page by page, or all that were found. */
export function OwnTokens({ params: { page, name, key }, setParams }: OwnTokensProps) {
  const t = useText(tokensTexts);
  const [size, setSize] = usePageSize();
  const { open, openLink } = useOpenItem();
  const columns = useOwnTokenColumns();
  const isSearch = name !== '' || key !== '';
  const all = useQuery(TokensDocument, {
    variables: { page, size },
    fetchPolicy: 'cache-and-network',
    skip: isSearch,
  });
  const found = useQuery(FoundTokensDocument, {
    variables: { name, key },
    fetchPolicy: 'cache-and-network',
    skip: !isSearch,
  });
  const { loading, error, refetch } = isSearch ? found : all;
  const rows = isSearch ? found.data?.searchApiKeys : all.data?.apiKeys.items;
  return (
    <ResourceTable
      key={String(isSearch)}
      label={t('mode.own')}
      columnsKey="tokens-table-columns"
      columns={columns}
      rows={rows}
      rowKey={({ id }) => id}
      result={{ loading, error, refetch }}
      rowLink={({ id }) => openLink(id)}
      isOpen={({ id }) => id === open}
      empty={t(isSearch ? 'empty.search' : 'empty')}
      toolbar={isSearch && rows !== undefined && rows.length >= 100 ? t('search.most') : undefined}
      paging={
        isSearch
          ? undefined
          : {
              kind: 'numbered',
              page,
              total: all.data?.apiKeys.total,
              size,
              onPage: (wanted) => setParams({ page: wanted }),
              onSize: (chosen) => {
                setSize(chosen);
                setParams({ page: 1 });
              },
            }
      }
    />
  );
}
