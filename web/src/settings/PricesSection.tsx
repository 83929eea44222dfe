import { Tab, Tabs } from '@blueprintjs/core';
import { BuiltInPricesDay } from '../kit/BuiltInPricesDay.js';
import { useListParams } from '../kit/table/useListParams.js';
import { useText } from '../kit/words/i18n.js';
import { PriceTable } from './prices/PriceTable.js';
import { ResetRatios } from './ResetRatios.js';
import { SettingsSection } from './SettingsSection.js';
import { priceSection } from './sections.js';
import { settingsTexts } from './settings.texts.js';
import { PriceUpdates } from './updates/PriceUpdates.js';
import './prices/prices.css';

const views = ['model', 'visual', 'unset_models', 'updates'] as const;
type View = (typeof views)[number];

/** The prices of models: as the maps of older clients, as a table, what still has none, and what sources say. */
export function PricesSection() {
  const t = useText(settingsTexts);
  const [params, setParams] = useListParams({ prices: 'model' });
  const view = views.find((name) => name === params.prices) ?? 'model';
  const panelOf = (name: View) =>
    name === 'updates' ? (
      <PriceUpdates />
    ) : name === 'model' ? (
      <>
        <SettingsSection section={priceSection} />
        <ResetRatios />
      </>
    ) : (
      <PriceTable key={name} unpriced={name === 'unset_models'} />
    );
  return (
    <>
      <BuiltInPricesDay />
      <Tabs
        id="prices"
        className="setting-tabs"
        selectedTabId={view}
        onChange={(next) => setParams({ prices: String(next) })}
        renderActiveTabPanelOnly
      >
        {views.map((name) => (
          <Tab key={name} id={name} title={t(`prices.${name}`)} panel={panelOf(name)} />
        ))}
      </Tabs>
    </>
  );
}
