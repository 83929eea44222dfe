import { Tab, Tabs } from '@blueprintjs/core';
import { History } from '@blueprintjs/icons';
import { lazy, Suspense } from 'react';
import { PageFrame } from '../kit/PageFrame.js';
import { DrawerLink } from '../kit/table/DrawerLink.js';
import { namedBy, useOpenItem } from '../kit/table/openItem.js';
import { useListParams } from '../kit/table/useListParams.js';
import { useText } from '../kit/words/i18n.js';
import { SettingsProvider, useSettings } from './SettingsProvider.js';
import { SettingsSection } from './SettingsSection.js';
import { isSettingTab, priceSection, priceSourceSection, type SettingTab, settingTabs } from './sections.js';
import { settingsTexts } from './settings.texts.js';
import { VersionSection } from './VersionSection.js';
import './settings.css';

const PricesSection = lazy(async () => ({ default: (await import('./PricesSection.js')).PricesSection }));
const HistoryDrawer = lazy(async () => ({ default: (await import('./HistoryDrawer.js')).HistoryDrawer }));

/** What the gateway is configured with while it runs. */
export function SettingsPage() {
  const t = useText(settingsTexts);
  return (
    <PageFrame
      title={t('title')}
      help={t('help')}
      actions={
        <DrawerLink open="history" icon={<History />}>
          {t('history.all')}
        </DrawerLink>
      }
    >
      <SettingsProvider>
        <SettingsTabs />
        <OpenHistory />
      </SettingsProvider>
    </PageFrame>
  );
}

const tabNames = Object.keys(settingTabs) as SettingTab[];

function SettingsTabs() {
  const t = useText(settingsTexts);
  const { drafts } = useSettings();
  const [params, setParams] = useListParams({ tab: 'operation' });
  const tab = isSettingTab(params.tab) ? params.tab : 'operation';
  const titleOf = (name: SettingTab): string => {
    const changed = settingTabs[name].flatMap(({ fields }) => fields).filter(({ key }) => drafts.has(key)).length;
    const title = t(`tab.${name}`);
    return changed === 0 ? title : t('tab.changed', { tab: title, changed });
  };
  return (
    <Tabs
      id="settings"
      className="setting-tabs"
      selectedTabId={tab}
      onChange={(next) => setParams({ tab: String(next) })}
      renderActiveTabPanelOnly
    >
      {tabNames.map((name) => (
        <Tab key={name} id={name} title={titleOf(name)} panel={<TabPanel tab={name} />} />
      ))}
    </Tabs>
  );
}

function TabPanel({ tab }: { readonly tab: SettingTab }) {
  return (
    <>
      <div className="sections">
        {settingTabs[tab]
          .filter((section) => section !== priceSection && section !== priceSourceSection)
          .map((section) => (
            <SettingsSection key={section.name} section={section} />
          ))}
        {tab === 'other' && <VersionSection />}
      </div>
      {tab === 'operation' && (
        <Suspense>
          <PricesSection />
        </Suspense>
      )}
    </>
  );
}

/** Of one option, or of all. */
function OpenHistory() {
  const { open, close } = useOpenItem();
  const key = namedBy('history', open);
  if (open !== 'history' && key === null) return null;
  return (
    <Suspense>
      <HistoryDrawer key={key ?? ''} option={key} onClose={close} />
    </Suspense>
  );
}
