import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const pages = [
  'CONTRIBUTING.md',
  ...readdirSync(join(root, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];
const textOf = (page: string): string => readFileSync(join(root, page), 'utf8');

/** Made by the build. */
const built = 'web/dist';

/** Files and folders of ours that a text names in code marks. */
const pathsIn = (text: string): string[] =>
  [...text.matchAll(/`((?:src|web|tests|docs|scripts|bench|fuzz)\/[\w./-]+)`/g)].map(([, path]) => path ?? '');

const exportsFunction = (path: string, name: string): boolean =>
  new RegExp(`^export (?:async )?(?:function\\*? ${name}\\b|const ${name} =)`, 'm').test(textOf(path));

describe('the manual', () => {
  test.each(pages)('%s names files and pages that are there', (page) => {
    const text = textOf(page);
    const linked = [...text.matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)].map(([, path]) =>
      join(dirname(page), path ?? ''),
    );
    const missing = [...pathsIn(text), ...linked].filter((path) => path !== built && !existsSync(join(root, path)));
    expect(missing).toEqual([]);
  });

  test('walks a call in at most twelve steps, each a function that its file exports', () => {
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

  test('the glossary says of each term what it means and where it lives, each term once', () => {
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

  test('says where changes of six kinds or more go, file by file, and contributors are sent there', () => {
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
