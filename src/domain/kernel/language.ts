/* Languages that the console and mails are in. */

export type Language = 'zh' | 'en';

/** For who has told no other. */
export const defaultLanguage: Language = 'zh';
