import type { settingNamesZh } from './settingNames.zh.js';

/** The key of an option that has a field here. */
export type SettingName = keyof typeof settingNamesZh;
