import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { longFunctions, longParameterLists } from './support/function-shapes.js';

/*
 * Functions that a reader can hold in mind, and calls whose arguments say what they are. What is longer stands in lists
 * that may only get shorter: who divides one takes it out there, and nothing is ever added.
 */

const src = fileURLToPath(new URL('../src/', import.meta.url));
const rooms = /^(relay|application|bootstrap|projections|graphql|rest-compat|adapters|payments|identity-providers)\//;
const maxLines = 80;
const maxParameters = 4;

interface Shape {
  /** File below src, and the name of the function, or of the member that it is the value of. */
  readonly name: string;
  /** From its first line to its last; 0: it has no body. */
  readonly lines: number;
  readonly parameters: number;
}

function nameOf(node: ts.SignatureDeclaration, syntax: ts.SourceFile): string {
  if (ts.isConstructorDeclaration(node)) return `${node.parent.name?.text ?? ''}.constructor`;
  const named = node.name ?? (node.parent as { name?: ts.Node } | undefined)?.name;
  return named?.getText(syntax) ?? 'unnamed';
}

/** Parameters that a caller distinguishes by their position; GraphQL names those of a resolver. */
const positionsOf = ({ parameters }: ts.SignatureDeclaration): number =>
  parameters.some((one) => (ts.getDecorators(one)?.length ?? 0) > 0) ? 0 : parameters.length;

function shapesIn(path: string, text: string): Shape[] {
  const syntax = ts.createSourceFile(path, text, ts.ScriptTarget.ES2022, true);
  const found: Shape[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node)) {
      const hasBody = 'body' in node && node.body !== undefined;
      const lineAt = (position: number): number => syntax.getLineAndCharacterOfPosition(position).line;
      const lines = hasBody ? lineAt(node.end) - lineAt(node.getStart(syntax)) + 1 : 0;
      found.push({ name: `${path} ${nameOf(node, syntax)}`, lines, parameters: positionsOf(node) });
    }
    ts.forEachChild(node, visit);
  };
  visit(syntax);
  return found;
}

const names = (shapes: readonly Shape[]): string[] => [...new Set(shapes.map(({ name }) => name))].sort();

describe('the reader of function shapes', () => {
  const shapes = shapesIn(
    'a.ts',
    `function one(a, b) {\n  return (c) => {\n    return c;\n  };\n}
     interface I { two(a, b, c, d, e): void; three: (a: number) => void }
     class C { constructor(a) {} four = (a, b) => a; five(@Arg('a') a, @Arg('b') b) {} }`,
  );
  test('finds functions, members, constructors and signatures, with their lines and parameters', () => {
    expect(shapes).toEqual([
      { name: 'a.ts one', lines: 5, parameters: 2 },
      { name: 'a.ts unnamed', lines: 3, parameters: 1 },
      { name: 'a.ts two', lines: 0, parameters: 5 },
      { name: 'a.ts three', lines: 0, parameters: 1 },
      { name: 'a.ts C.constructor', lines: 1, parameters: 1 },
      { name: 'a.ts four', lines: 1, parameters: 2 },
      { name: 'a.ts five', lines: 1, parameters: 0 },
    ]);
  });
});

describe('functions of the relay, the application, composition, read models, faces and adapters', () => {
  const shapes = readdirSync(src, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => rooms.test(relative(src, file)))
    .flatMap((file) => shapesIn(relative(src, file), readFileSync(file, 'utf8')));

  test(`have at most ${maxLines} lines, but for those listed, and each of the listed has more`, () =>
    expect(names(shapes.filter(({ lines }) => lines > maxLines))).toEqual([...longFunctions].sort()));

  test(`take at most ${maxParameters} parameters in a row, but for those listed, and each of the listed takes more`, () =>
    expect(names(shapes.filter(({ parameters }) => parameters > maxParameters))).toEqual([
      ...[...longParameterLists].sort(),
    ]));
});
