import { useQuery } from '@apollo/client/react';
import { SegmentedControl } from '@blueprintjs/core';
import { Add } from '@blueprintjs/icons';
import { lazy } from 'react';
import { EveryGroupDocument } from '../generated/tokens/tokens.js';
import { isAdmin, useSignedIn } from '../kit/SessionProvider.js';
import { DrawerLink } from '../kit/table/DrawerLink.js';
import { FilterBar, NameFilter, SelectFilter, TextFilter } from '../kit/table/FilterBar.js';
import { ListPage } from '../kit/table/ListPage.js';
import { useListParams } from '../kit/table/useListParams.js';
import { WhenOpened } from '../kit/table/WhenOpened.js';
import { commonTexts } from '../kit/words/common.texts.js';
import { useText } from '../kit/words/i18n.js';
import './tokens.css';
import { EveryonesTokens } from './EveryonesTokens.js';
import { OwnTokens } from './OwnTokens.js';
import { tokensTexts } from './tokens.texts.js';
import { activeFilters, type TokensParams, tokenStatuses, tokensDefaults } from './tokensParams.js';

const TokenDrawer = lazy(async () => ({ default: (await import('./TokenDrawer.js')).TokenDrawer }));

export function TokensPage() {
  const t = useText(tokensTexts);
  const admin = isAdmin(useSignedIn());
  const [asked, setParams] = useListParams(tokensDefaults);
  const params = { ...asked, everyone: asked.everyone && admin };
  return (
    <ListPage
      title={t('title')}
      warning={t('warning')}
      help={params.everyone ? t('everyone.note') : undefined}
      actions={
        <>
          {admin && (
            <SegmentedControl
              size="small"
              aria-label={t('mode')}
              options={[
                { label: t('mode.own'), value: 'own' },
                { label: t('mode.everyone'), value: 'everyone' },
              ]}
              value={params.everyone ? 'everyone' : 'own'}
              onValueChange={(mode) => setParams({ ...tokensDefaults, everyone: mode === 'everyone' })}
            />
          )}
          <DrawerLink open="new" intent="primary" icon={<Add />}>
            {t('new')}
          </DrawerLink>
        </>
      }
      above={<TokenFilters params={params} onChange={setParams} />}
    >
      <div className="token-table">
        {params.everyone ? <EveryonesTokens params={params} /> : <OwnTokens params={params} />}
      </div>
      <WhenOpened>
        <TokenDrawer />
      </WhenOpened>
    </ListPage>
  );
}

interface TokenFiltersProps {
  readonly params: TokensParams;
  readonly onChange: (patch: Partial<TokensParams>) => void;
}

function TokenFilters({ params, onChange }: TokenFiltersProps) {
  const t = useText(tokensTexts);
  return (
    <FilterBar
      active={activeFilters(params)}
      onReset={() => onChange({ name: '', key: '', owner: '', status: '', group: '' })}
    >
      <TextFilter label={t('filter.name')} value={params.name} onChange={(name) => onChange({ name })} />
      <TextFilter
        label={t('filter.key')}
        placeholder={t(params.everyone ? 'filter.keyWhole' : 'filter.keyPart')}
        value={params.key}
        onChange={(key) => onChange({ key })}
      />
      {params.everyone && <EveryonesFilters params={params} onChange={onChange} />}
    </FilterBar>
  );
}

function EveryonesFilters({ params, onChange }: TokenFiltersProps) {
  const t = useText(tokensTexts);
  const common = useText(commonTexts);
  const { data } = useQuery(EveryGroupDocument);
  return (
    <>
      <TextFilter
        label={t('filter.owner')}
        value={params.owner}
        onChange={(owner) => onChange({ owner: owner.replaceAll(/\D/g, '') })}
      />
      <SelectFilter
        label={t('filter.status')}
        value={params.status}
        options={[
          { value: '', label: common('all') },
          ...tokenStatuses.map((status) => ({ value: status, label: t(`status.${status}`) })),
        ]}
        onChange={(status) => onChange({ status })}
      />
      <NameFilter
        label={t('filter.group')}
        value={params.group}
        names={data?.groups ?? []}
        onChange={(group) => onChange({ group })}
      />
    </>
  );
}
