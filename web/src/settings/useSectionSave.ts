import { useState } from 'react';
import { toaster } from '../kit/Toasts.js';
import { useText } from '../kit/words/i18n.js';
import { changesOf, problemOf } from './drafts.js';
import { useSettings } from './SettingsProvider.js';
import type { SettingSection } from './sections.js';
import { settingsTexts } from './settings.texts.js';
import { useSettingName } from './settingWords.js';

interface SectionSave {
  readonly submit: () => Promise<void>;
  readonly busy: boolean;
  /** Somebody has tried to save: from now on what is wrong is said at once. */
  readonly judged: boolean;
  /** What kept all or some of it from being saved. */
  readonly problem: string | null;
}

/** Saves what was changed in one section, and says how that went. */
export function useSectionSave(section: SettingSection): SectionSave {
  const t = useText(settingsTexts);
  const name = useSettingName();
  const { options, drafts, save } = useSettings();
  const [judged, setJudged] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);

  const submit = async (): Promise<void> => {
    setProblem(null);
    const fields = section.fields.flatMap((field) => {
      const option = options.get(field.key);
      return option === undefined ? [] : [[field, option] as const];
    });
    const changes = changesOf(fields, drafts);
    if (changes.length === 0) return toaster.warning(t('unchanged'));
    setJudged(true);
    const isWrong = fields.some(([field, option]) => {
      const draft = drafts.get(option.key);
      return draft !== undefined && problemOf(option, field, draft.text) !== null;
    });
    if (isWrong) return toaster.warning(t('save.check'));
    const { needs } = section;
    if (needs !== undefined && options.get(needs)?.value === '')
      return setProblem(t('save.needs', { name: name(needs) }));
    setBusy(true);
    try {
      const refused = await save(changes);
      if (refused.length === 0) toaster.success(t('saved', { count: changes.length }));
      else setProblem(t('save.some', { names: refused.map(({ key }) => name(key)).join(t('names.and')) }));
    } catch {
      // Said where all mutations fail.
    } finally {
      setBusy(false);
    }
  };

  return { submit, busy, judged, problem };
}
