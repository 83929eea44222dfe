import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { auditCommands, expectedOfAudit } from './support/audit-page.js';
import { longParagraphs, longSentences } from './support/prose.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const pagesIn = (folder: string): string[] =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${folder}/${name}`);
const pages = ['README.md', 'CONTRIBUTING.md', ...pagesIn('docs')];
/** Kept as they were written down: what was decided, and what was measured. */
const records = [...pagesIn('docs/decisions'), ...pagesIn('docs/measurements')];
const textOf = (page: string): string => readFileSync(join(root, page), 'utf8');

/** Made by the build. */
const built = 'web/dist';

/** Files and folders of ours that a text names in code marks. */
const pathsIn = (text: string): string[] =>
  [...text.matchAll(/`((?:src|web|tests|docs|scripts|bench|fuzz|torture)\/[\w./-]+)`/g)].map(([, path]) => path ?? '');

const exportsFunction = (path: string, name: string): boolean =>
  new RegExp(`^export (?:async )?(?:function\\*? ${name}\\b|const ${name} =)`, 'm').test(textOf(path));

/** Pages and headings that a page links to, as `docs/relay.md` and `docs/relay.md#api-keys`. */
function linksOf(page: string): { readonly path: string; readonly heading: string | null }[] {
  return [...textOf(page).matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g)].map(([, path = '', heading]) => ({
    path: path === '' ? page : join(dirname(page), path),
    heading: heading ?? null,
  }));
}

/** As pages show them in addresses. */
const anchorsIn = (page: string): string[] =>
  [...textOf(page).matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );

const maxSentence = 35;
const maxParagraph = 100;

describe('the reader of prose', () => {
  const page = [
    '# A heading of five words',
    'One two three. Four five',
    'six: `a`, `b` and `c`.',
    '',
    '* An item.',
    '* Another [with a link](to/somewhere.md).',
    '',
    '| Head | Cell |',
    '|---|---|',
    '| one two three four | five. Six |',
    '',
    '```',
    'code is not prose at all',
    '```',
  ].join('\n');
  test('counts words by sentence, in cells of tables too, with a list of names as one word', () =>
    expect(longSentences(page, 2)).toEqual([
      { words: 3, text: 'One two three.' },
      { words: 4, text: 'Four five six: code.' },
      { words: 4, text: 'Another with a link.' },
      { words: 4, text: 'one two three four' },
    ]));
  test('counts words by paragraph and item of a list, not in tables and code', () =>
    expect(longParagraphs(page, 4)).toEqual([{ words: 7, text: 'One two three. Four five six: code.' }]));
});

describe('the manual', () => {
  test.each(pages)(`%s has no sentence of more than ${maxSentence} words`, (page) => {
    expect(longSentences(textOf(page), maxSentence)).toEqual([]);
  });

  test.each(pages)(`%s has no paragraph of more than ${maxParagraph} words`, (page) => {
    expect(longParagraphs(textOf(page), maxParagraph)).toEqual([]);
  });

  test('has titles of decisions with at most 18 words, as the list of decisions has them', () => {
    const list = textOf('docs/decisions/README.md');
    const titles = pagesIn('docs/decisions')
      .filter((page) => /\/\d{4}-/.test(page))
      .map((page) => ({ page, title: /^# (?:\d+\.? ?·? )?(.+)$/m.exec(textOf(page))?.[1] ?? '' }));
    expect(titles.length).toBeGreaterThan(90);
    for (const { page, title } of titles) {
      expect(title.split(' ').length, page).toBeLessThanOrEqual(18);
      expect(list, page).toContain(`[${title}](${page.replace('docs/decisions/', '')})`);
    }
  });

  test.each([...pages, ...records])('has valid links to headings in %s', (page) => {
    const missing = linksOf(page).filter(
      ({ path, heading }) => heading !== null && path.endsWith('.md') && !anchorsIn(path).includes(heading),
    );
    expect(missing).toEqual([]);
  });

  test.each(pages)('has existing files and pages in %s', (page) => {
    const text = textOf(page);
    const linked = linksOf(page).map(({ path }) => path);
    const missing = [...pathsIn(text), ...linked].filter((path) => path !== built && !existsSync(join(root, path)));
    expect(missing).toEqual([]);
  });

  test('describes a call in at most twelve steps, each a function that its file exports', () => {
    const [, walk = ''] = textOf('docs/where-does-my-change-go.md').split('## A call, step by step');
    const rows = (walk.split('\n## ')[0] ?? '').split('\n').filter((line) => /^\| \d+ \|/.test(line));
    expect(rows.length).toBeGreaterThan(5);
    expect(rows.length).toBeLessThanOrEqual(12);
    for (const row of rows) {
      const [, , , called = '', path = ''] = row.split('|');
      const name = /`(\w+)`/.exec(called)?.[1];
      const [file = '', ...others] = pathsIn(path);
      expect([name, others], row).toEqual([expect.any(String), []]);
      expect(exportsFunction(file, name ?? ''), `${file} exports ${name}`).toBe(true);
    }
    for (const stage of ['resolve', 'reserve', 'attempt', 'deliver', 'conclude'])
      expect(walk).toContain(`\`${stage}Call\` | \`src/relay/pipeline/${stage}.ts\``);
  });

  test('has only commands of audits that are tried, each by a line in tests/support/audit-page.ts', () => {
    expect(auditCommands.map(({ name }) => name).sort()).toEqual(Object.keys(expectedOfAudit).sort());
  });

  test('has a glossary with a meaning and a path for each term, each term once', () => {
    const page = 'docs/glossary.md';
    const rows = textOf(page)
      .split('\n')
      .filter((line) => line.startsWith('| ') && !line.startsWith('| Term '))
      .map((line) => line.split('|').map((cell) => cell.trim()));
    expect(rows.length).toBeGreaterThan(40);
    for (const [, term, meaning, where = ''] of rows) {
      expect(meaning, term).toMatch(/^[A-Z].*\.$/);
      expect(pathsIn(where), term).not.toEqual([]);
    }
    const terms = rows.map(([, term]) => term);
    expect(terms).toEqual([...new Set(terms)]);
    for (const reader of ['README.md', 'CONTRIBUTING.md']) expect(textOf(reader)).toContain(`(${page})`);
  });

  test('describes changes of six kinds or more, file by file, with a link from CONTRIBUTING', () => {
    const page = 'docs/where-does-my-change-go.md';
    const examples = textOf(page)
      .split('\n## ')
      .slice(1)
      .filter((section) => !section.startsWith('A call, step by step'));
    expect(examples.length).toBeGreaterThanOrEqual(6);
    for (const example of examples) expect(pathsIn(example).length, example).toBeGreaterThan(4);
    expect(textOf('CONTRIBUTING.md')).toContain(`(${page})`);
  });
});
