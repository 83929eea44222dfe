/* Languages that the console and mails are in. */

export type Language = 'zh' | 'en';

/** For whoever has chosen no other. */
export const defaultLanguage: Language = 'zh';
