import { useQuery } from '@apollo/client/react';
import { PriceSourcesDocument } from '../../generated/settings/updates/updates.js';
import { Section } from '../../kit/Section.js';
import { useListParams } from '../../kit/table/useListParams.js';
import { useText } from '../../kit/words/i18n.js';
import { SettingsSection } from '../SettingsSection.js';
import { priceSourceSection } from '../sections.js';
import { PriceDifferences } from './PriceDifferences.js';
import { PriceFile } from './PriceFile.js';
import { PriceSourceList } from './PriceSourceList.js';
import { updatesTexts } from './updates.texts.js';
import './updates.css';

/** Prices from outside: where they are read, what they would change, and what is applied of it. */
export function PriceUpdates() {
  const t = useText(updatesTexts);
  const result = useQuery(PriceSourcesDocument, { fetchPolicy: 'cache-and-network' });
  const [{ source: chosen }, setParams] = useListParams({ source: '' });
  const sources = result.data?.priceSources;
  const source = sources?.find(({ name }) => name === chosen);
  const look = (name: string): void => setParams({ source: name });
  const renew = async (): Promise<void> => void (await result.refetch());
  return (
    <>
      <p className="section-note">{t('note')}</p>
      <Section title={t('sources.title')}>
        <PriceSourceList result={result} sources={sources} chosen={chosen} onLook={look} onFetched={renew} />
      </Section>
      {source !== undefined && source.readAt !== null && (
        // What was found, picked and paged through was of this reading.
        <PriceDifferences key={`${source.name} ${source.readAt}`} source={source.name} />
      )}
      <PriceFile
        onRead={async (name) => {
          await renew();
          look(name);
        }}
      />
      <SettingsSection section={priceSourceSection} />
    </>
  );
}
