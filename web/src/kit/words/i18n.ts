import i18next from 'i18next';
import { useMemo } from 'react';
import { initReactI18next, useTranslation } from 'react-i18next';
import { recall, remember } from '../remembered.js';

/*
 * Two languages; Chinese is the default. Each folder has its texts: `log.zh.ts` is the reference (`as const`, dotted
 * keys), `log.en.ts` a `Translation<typeof logZh>`, `log.texts.ts` joins them by `texts('log', logZh, logEn)`. Components
 * say `const t = useText(logTexts)`; keys and the values for `{{total}}` are checked. Common words: `common.zh.ts`.
 */

export const languages = ['zh', 'en'] as const;
type Language = (typeof languages)[number];
const fallback: Language = 'zh';
const htmlLanguage = { zh: 'zh-CN', en: 'en' } as const satisfies Record<Language, string>;
const storageKey = 'language';

type Dictionary = Readonly<Record<string, string>>;
export type Translation<Reference> = { readonly [Key in keyof Reference]: string };

export interface Texts<Reference extends Dictionary> {
  readonly namespace: string;
  readonly zh: Reference;
  readonly en: Translation<Reference>;
}

export const texts = <const Reference extends Dictionary>(
  namespace: string,
  zh: Reference,
  en: Translation<Reference>,
): Texts<Reference> => ({ namespace, zh, en });

type Placeholders<Text extends string> = Text extends `${string}{{${infer Name}}}${infer Rest}`
  ? Name | Placeholders<Rest>
  : never;
type Values<Text extends string> = [Placeholders<Text>] extends [never]
  ? []
  : [values: Readonly<Record<Placeholders<Text>, string | number>>];

export type Translate<Reference extends Dictionary> = <Key extends keyof Reference & string>(
  key: Key,
  ...values: Values<Reference[Key]>
) => string;

const isLanguage = (text: string | null): text is Language => languages.some((language) => language === text);

function preferred(): Language {
  const chosen = recall(storageKey);
  if (isLanguage(chosen)) return chosen;
  const wanted = navigator.languages.map((language) => language.slice(0, 2));
  return wanted.find(isLanguage) ?? fallback;
}

/** To be called once, before anything is rendered. */
export function startLanguage(): void {
  void i18next.use(initReactI18next).init({
    lng: preferred(),
    fallbackLng: fallback,
    resources: {},
    initAsync: false,
    keySeparator: false,
    nsSeparator: false,
    // React escapes.
    interpolation: { escapeValue: false },
    react: { useSuspense: false },
  });
  markDocument();
}

export const currentLanguage = (): Language => (isLanguage(i18next.language) ? i18next.language : fallback);

function markDocument(): void {
  document.documentElement.lang = htmlLanguage[currentLanguage()];
}

export async function changeLanguage(language: Language): Promise<void> {
  remember(storageKey, language);
  await i18next.changeLanguage(language);
  markDocument();
}

export function useLanguage(): Language {
  useTranslation();
  return currentLanguage();
}

function inLanguage<Reference extends Dictionary>(
  language: Language,
  { namespace, zh, en }: Texts<Reference>,
): Translate<Reference> {
  if (!i18next.hasResourceBundle(fallback, namespace)) {
    i18next.addResourceBundle('zh', namespace, zh);
    i18next.addResourceBundle('en', namespace, en);
  }
  const translate = i18next.getFixedT(language, namespace);
  return (key, ...[values]) => translate(key as string, values ?? {});
}

/** For what is said outside components; inside, `useText` follows a change of language. */
export const translator = <Reference extends Dictionary>(spoken: Texts<Reference>): Translate<Reference> =>
  inLanguage(currentLanguage(), spoken);

export function useText<Reference extends Dictionary>(spoken: Texts<Reference>): Translate<Reference> {
  const language = useLanguage();
  return useMemo(() => inLanguage(language, spoken), [language, spoken]);
}
