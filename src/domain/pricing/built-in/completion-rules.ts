/*
 * Output prices by model family. A locked rule beats an operator's entry: such a family's price relation is fixed, so
 * an editor shows it read-only.
 */

export interface CompletionRule {
  readonly ratio: string;
  readonly locked: boolean;
}

interface Rule {
  readonly matches: (model: string) => boolean;
  readonly rule: CompletionRule;
}

const is =
  (...names: string[]) =>
  (model: string) =>
    names.includes(model);
const starts =
  (...prefixes: string[]) =>
  (model: string) =>
    prefixes.some((prefix) => model.startsWith(prefix));
const contains =
  (...parts: string[]) =>
  (model: string) =>
    parts.some((part) => model.includes(part));

const locked = (matches: Rule['matches'], ratio: string): Rule => ({ matches, rule: { ratio, locked: true } });
const open = (matches: Rule['matches'], ratio: string): Rule => ({ matches, rule: { ratio, locked: false } });

const gpt4 = (model: string) => model.startsWith('gpt-4') && !model.endsWith('-all') && !model.endsWith('-gizmo-*');

/** Names whose vendors publish another relation than their family has had. */
const published: readonly Rule[] = [
  locked(starts('gpt-4o-mini-tts'), '20'),
  locked(is('gpt-4o:extended'), '3'),
  locked(is('gpt-5-image'), '1'),
  locked(is('gpt-5-image-mini'), '0.8'),
  locked(starts('gpt-5-4-nano'), '6.25'),
  locked(is('gpt-5-6', 'gpt-5-6-sol'), '5'),
  locked(starts('gpt-5-4', 'gpt-5-5', 'gpt-5-6-'), '6'),
  locked(is('gemini-2.5-pro-preview-tts'), '20'),
  locked(is('mistral-medium-2312'), '3'),
  locked(starts('mistral-medium'), '5'),
  locked(is('mistral-small-2603', 'mistral-small-latest'), '4'),
  locked(is('mistral-small-24b-instruct-2501'), '1.6'),
  locked(is('mistral-small-3.1-24b-instruct'), '1.581196581197'),
  locked(is('mistral-small-3.2-24b-instruct'), '2.666666666667'),
  locked(
    is('mistral-7b', 'mistral-embed', 'mistral-embed-2312', 'mistral-nemo', 'mistral-tiny', 'mistral-saba-24b'),
    '1',
  ),
];

/** First match wins. */
const rules: readonly Rule[] = [
  ...published,
  locked(is('gpt-4o-2024-05-13'), '3'),
  locked((model) => gpt4(model) && model.startsWith('gpt-4o'), '4'),
  locked((model) => gpt4(model) && model.startsWith('gpt-4.5-preview'), '2'),
  locked((model) => gpt4(model) && (model.startsWith('gpt-4-turbo') || /gpt-4-110[56]$/.test(model)), '3'),
  open((model) => gpt4(model) && model.startsWith('gpt-4.1'), '4'),
  open(gpt4, '2'),
  locked(starts('o1', 'o3'), '4'),
  locked(is('chatgpt-4o-latest'), '3'),
  locked((model) => model.startsWith('gpt-5') && !model.includes('.'), '8'),
  locked(contains('claude-sonnet-4', 'claude-opus-4', 'claude-haiku-4'), '5'),
  locked(contains('claude-instant-1', 'claude-2'), '3'),
  locked(contains('claude-3'), '5'),
  locked((model) => model === 'gpt-3.5-turbo' || (model.startsWith('gpt-3.5') && model.endsWith('0125')), '3'),
  locked((model) => model.startsWith('gpt-3.5') && model.endsWith('1106'), '2'),
  locked(starts('gpt-3.5'), '1.3333333333333333'),
  locked(starts('mistral-'), '3'),
  locked(starts('gemini-1.5', 'gemini-2.0'), '4'),
  locked(starts('gemini-2.5-pro-preview'), '8'),
  open(starts('gemini-2.5-pro'), '8'),
  open((model) => model.startsWith('gemini-2.5-flash-preview') && model.endsWith('-nothinking'), '4'),
  open(starts('gemini-2.5-flash-preview'), '23.333333333333'),
  open(starts('gemini-2.5-flash-lite'), '4'),
  open(starts('gemini-2.5-flash'), '8.333333333333'),
  open(starts('gemini-'), '4'),
  locked(is('command-r'), '3'),
  locked(is('command-r-plus'), '5'),
  locked(is('command-r-08-2024', 'command-r-plus-08-2024'), '4'),
  open(starts('command'), '4'),
  locked((model) => /^deepseek-(chat|reasoner)$/i.test(model), '4'),
  locked(starts('ERNIE-Speed-', 'ERNIE-Lite-', 'ERNIE-Character', 'ERNIE-Functions'), '2'),
  locked(is('llama2-70b-4096'), '1.25'),
  locked(is('llama3-8b-8192'), '2'),
  locked(is('llama3-70b-8192'), '1.338983050847'),
  open(is('gpt-image-1'), '8'),
];

/** The family's rule for a model; null where none applies. */
export const completionRule = (model: string): CompletionRule | null =>
  rules.find(({ matches }) => matches(model))?.rule ?? null;
