import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const directory = fileURLToPath(new URL('../../web/src', import.meta.url));
const tokens = 'styles/tokens.css';

interface Declaration {
  readonly path: string;
  readonly property: string;
  readonly value: string;
}

const declarationsOf = (path: string, text: string): readonly Declaration[] =>
  [...text.replace(/\/\*[\s\S]*?\*\//g, '').matchAll(/([\w-]+):\s*([^;{}]+);/g)].map(
    ([, property = '', value = '']) => ({ path, property, value }),
  );

const sheets = readdirSync(directory, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.css') && !relative(directory, join(directory, path)).startsWith('generated'))
  .map((path) => ({ path, text: readFileSync(join(directory, path), 'utf8') }));
const declarations = sheets.flatMap(({ path, text }) => declarationsOf(path, text));

/** Rules that cut a text at the end of its line, and also what its letters have below it. */
const cutBelow = (text: string): string[] =>
  [...text.matchAll(/[^{}]+\{[^{}]*\}/g)]
    .map(([rule]) => rule.trim())
    .filter((rule) => rule.includes('text-overflow: ellipsis') && /overflow(-y)?: (hidden|clip)/.test(rule));

const written = ({ path, property, value }: Declaration): string => `${path}: ${property}: ${value}`;

/** A length between things that is written out. What is drawn over an edge is negative; a switch is 38 wide. */
const isStraySpace = ({ property, value }: Declaration): boolean =>
  /^(margin|padding|gap|row-gap|column-gap)(-|$)/.test(property) &&
  [...value.matchAll(/(?<![\w.-])(\d+)px/g)].some(([, length]) => Number(length) < 50 && Number(length) !== 38);

const isStrayText = ({ property, value }: Declaration): boolean => property === 'font-size' && /\dpx/.test(value);

/** Colours that are no state: the marks of providers, and what a QR code must stand on. */
const ownColours = ['channels/channels.css: background:', 'kit/identity-providers/identityProviders.css: background:'];

const isStrayColour = (declaration: Declaration): boolean =>
  /#[0-9a-f]{3,8}\b/i.test(declaration.value) &&
  declaration.path !== tokens &&
  !ownColours.some((own) => written(declaration).startsWith(own));

describe('the finder of inline style values', () => {
  const found = (css: string, isStray: (declaration: Declaration) => boolean): number =>
    declarationsOf('example.css', css).filter(isStray).length;

  test('finds lengths, font sizes and colours', () => {
    expect(found('a { padding: 4px var(--space-8); margin-top: 7px; }', isStraySpace)).toBe(2);
    expect(found('a { font-size: 13px; }', isStrayText)).toBe(1);
    expect(found('a { color: #ac2f33; }', isStrayColour)).toBe(1);
  });
  test('finds text cut at the bottom, not at the side', () => {
    expect(cutBelow('a { overflow: hidden; text-overflow: ellipsis; } b { overflow: hidden; }')).toHaveLength(1);
    expect(cutBelow('a { overflow-x: clip; text-overflow: ellipsis; }')).toEqual([]);
  });
  test('finds nothing where they have names', () => {
    const named = 'a { padding: 0 var(--space-8); margin: 0 auto; font-size: var(--text-small); color: var(--bad); }';
    expect([isStraySpace, isStrayText, isStrayColour].map((isStray) => found(named, isStray))).toEqual([0, 0, 0]);
  });
});

describe('the style sheets', () => {
  test.each([
    ['spaces between things', isStraySpace],
    ['sizes of letters', isStrayText],
    ['colours', isStrayColour],
  ] as const)('take their %s from one list', (_, isStray) =>
    expect(declarations.filter(isStray).map(written)).toEqual([]),
  );
  test('cut texts at the side only, because letters of some fonts extend below their line', () =>
    expect(sheets.flatMap(({ path, text }) => cutBelow(text).map((rule) => `${path}: ${rule}`))).toEqual([]));
  test('use no name outside the list', () => {
    const known = new Set(declarations.map(({ property }) => property).filter((name) => name.startsWith('--')));
    const used = declarations.flatMap(({ value }) =>
      [...value.matchAll(/var\((--(?!bp)[\w-]+)/g)].map(([, name]) => name),
    );
    expect(used.filter((name) => name !== undefined && !known.has(name))).toEqual([]);
  });
});
