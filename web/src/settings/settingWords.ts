import { texts, useText } from '../kit/words/i18n.js';
import { settingHintsEn } from './settingHints.en.js';
import { settingHintsZh } from './settingHints.zh.js';
import type { SettingName } from './settingName.js';
import { settingNamesEn } from './settingNames.en.js';
import { settingNamesZh } from './settingNames.zh.js';

/* A name and an explanation for each option. */

const nameTexts = texts('settingNames', settingNamesZh, settingNamesEn);
const hintTexts = texts('settingHints', settingHintsZh, settingHintsEn);

const isNamed = (key: string): key is SettingName => Object.hasOwn(settingNamesZh, key);

/** Options that clients have made up are called by their keys. */
export function useSettingName(): (key: string) => string {
  const name = useText(nameTexts);
  return (key) => (isNamed(key) ? name(key) : key);
}

export function useSettingHint(): (key: SettingName) => string {
  return useText(hintTexts);
}
