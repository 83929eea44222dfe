/* How long the sentences and paragraphs of a Markdown page are. */

export interface LongText {
  readonly words: number;
  readonly text: string;
}

/** Markup that is no prose: fenced code, headings, links' targets, names in code marks. A list of names is one word. */
const proseOf = (page: string): string =>
  page
    .replace(/^```[\s\S]*?^```/gm, '\n')
    .replace(/^#+ .*$/gm, '\n')
    .replace(/!?\[([^\]]*)\]\([^)\s]*\)/g, '$1')
    .replace(/`[^`]*`(?:(?:,|;| \/| and| or|, and|, or)? ?`[^`]*`)*/g, 'code');

/** Paragraphs and items of lists; of tables, the cells. */
function blocksOf(page: string): { readonly text: string; readonly isCell: boolean }[] {
  const blocks: { text: string; isCell: boolean }[] = [];
  let open = false;
  for (const line of proseOf(page).split('\n')) {
    const trimmed = line.trim();
    if (trimmed.startsWith('|')) {
      if (!/^[|\s:-]+$/.test(trimmed))
        blocks.push(...trimmed.split('|').map((cell) => ({ text: cell.trim(), isCell: true })));
      open = false;
    } else if (trimmed === '') {
      open = false;
    } else {
      const item = /^(?:[-*]|\d+\.) /.exec(trimmed);
      const last = blocks.at(-1);
      if (open && item === null && last !== undefined) last.text += ` ${trimmed}`;
      else blocks.push({ text: item === null ? trimmed : trimmed.slice(item[0].length), isCell: false });
      open = true;
    }
  }
  return blocks.filter(({ text }) => text !== '');
}

const wordsIn = (text: string): number => text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;

const sentencesOf = (text: string): string[] => text.split(/(?<=[.!?][)"*_”’]*)\s+(?=[\p{Lu}\p{N}"(*_“‘]|code\b)/u);

const longer = (texts: readonly string[], max: number): LongText[] =>
  texts.map((text) => ({ words: wordsIn(text), text })).filter(({ words }) => words > max);

export const longSentences = (page: string, max: number): LongText[] =>
  longer(
    blocksOf(page).flatMap(({ text }) => sentencesOf(text)),
    max,
  );

export const longParagraphs = (page: string, max: number): LongText[] =>
  longer(
    blocksOf(page).flatMap(({ text, isCell }) => (isCell ? [] : [text])),
    max,
  );
