/** What follows is read by nobody: a browser names a handful. */
const maxLength = 1024;

const languages = ['zh', 'en'] as const;
type Language = (typeof languages)[number];

/** The language that `Accept-Language` wants most among those there are; null: it wants none of them. */
export function languageIn(header: string | undefined): Language | null {
  let best: { readonly language: Language; readonly weight: number } | null = null;
  for (const range of (header ?? '').slice(0, maxLength).split(',')) {
    const [tag = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const [primary] = tag.split('-');
    const language = languages.find((known) => known === primary);
    const quality = parameters.find((parameter) => parameter.startsWith('q='));
    const weight = quality === undefined ? 1 : Number(quality.slice(2));
    if (language !== undefined && weight > (best?.weight ?? 0)) best = { language, weight };
  }
  return best?.language ?? null;
}
