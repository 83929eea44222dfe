import { NetworkStatus } from '@apollo/client';
import { useQuery } from '@apollo/client/react';
import { FoundTokensDocument, TokensDocument } from '../generated/tokens/tokens.js';
import { EmptyList } from '../kit/table/EmptyList.js';
import { ResourceTable } from '../kit/table/ResourceTable.js';
import { useNumberedPages } from '../kit/table/useNumberedPages.js';
import { useText } from '../kit/words/i18n.js';
import { following } from './following.js';
import { useOwnTokenColumns } from './tokenColumns.js';
import { tokensTexts } from './tokens.texts.js';
import type { TokensParams } from './tokensParams.js';

/** One's own tokens: page by page, or all that were found. */
export function OwnTokens({ params: { name, key } }: { readonly params: TokensParams }) {
  const t = useText(tokensTexts);
  const { page, size, paging } = useNumberedPages();
  const columns = useOwnTokenColumns();
  const isSearch = name !== '' || key !== '';
  const all = useQuery(TokensDocument, {
    variables: { page, size },
    fetchPolicy: 'cache-and-network',
    ...following,
    skip: isSearch,
  });
  const found = useQuery(FoundTokensDocument, {
    variables: { name, key },
    fetchPolicy: 'cache-and-network',
    ...following,
    skip: !isSearch,
  });
  const { loading, networkStatus, error, refetch } = isSearch ? found : all;
  const rows = isSearch ? found.data?.searchApiKeys : all.data?.apiKeys.items;
  return (
    <ResourceTable
      key={String(isSearch)}
      label={t('mode.own')}
      columnsKey="tokens-table-columns"
      columns={columns}
      rows={rows}
      rowKey={({ id }) => id}
      result={{ loading: loading && networkStatus !== NetworkStatus.poll, error, refetch }}
      opens={({ id }) => id}
      empty={
        isSearch ? (
          t('empty.search')
        ) : (
          <EmptyList text={t('empty')} hint={t('empty.hint')} to="?open=new">
            {t('empty.add')}
          </EmptyList>
        )
      }
      toolbar={isSearch && rows !== undefined && rows.length >= 100 ? t('search.most') : undefined}
      paging={isSearch ? undefined : paging(all.data?.apiKeys.total)}
    />
  );
}
