import { Button } from '@blueprintjs/core';
import type { FormEvent } from 'react';
import { FormProblem } from '../kit/form/FormProblem.js';
import { Section } from '../kit/Section.js';
import { commonTexts } from '../kit/words/common.texts.js';
import { useText } from '../kit/words/i18n.js';
import { ClearLog } from './ClearLog.js';
import { OidcFetch } from './OidcFetch.js';
import { SettingRow } from './SettingRow.js';
import { useSettings } from './SettingsProvider.js';
import type { SettingSection } from './sections.js';
import { settingsTexts } from './settings.texts.js';
import { useSectionSave } from './useSectionSave.js';

/** A part of the settings with a button of its own, which saves what was changed in it and nothing else. */
export function SettingsSection({ section }: { readonly section: SettingSection }) {
  const t = useText(settingsTexts);
  const common = useText(commonTexts);
  const { options, saving } = useSettings();
  const { submit, busy, judged, problem } = useSectionSave(section);
  const title = t(`section.${section.name}`);
  const onSubmit = (event: FormEvent): void => {
    event.preventDefault();
    void submit();
  };
  return (
    <Section title={title}>
      <FormProblem text={problem} />
      <form className="setting-form" onSubmit={onSubmit} noValidate>
        {section.fields.map((field) => {
          const option = options.get(field.key);
          return option === undefined ? null : (
            <SettingRow key={field.key} field={field} option={option} judged={judged} />
          );
        })}
        <div className="setting-buttons">
          <Button
            type="submit"
            intent="primary"
            text={common('save')}
            aria-label={t('save', { section: title })}
            loading={busy}
            disabled={saving && !busy}
          />
          {section.fetches === 'oidc' && <OidcFetch />}
        </div>
      </form>
      {section.clears === 'log' && <ClearLog />}
    </Section>
  );
}
