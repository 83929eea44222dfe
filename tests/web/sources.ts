import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

/* The console's sources as syntax, for rules that no linter knows. */

const directory = fileURLToPath(new URL('../../web/src', import.meta.url));

export interface WebSource {
  /** Below web/src. */
  readonly path: string;
  readonly syntax: ts.SourceFile;
}

export const parsedSource = (path: string, text: string): WebSource => ({
  path,
  syntax: ts.createSourceFile(
    path,
    text,
    ts.ScriptTarget.ES2022,
    true,
    path.endsWith('.tsx') ? ts.ScriptKind.TSX : ts.ScriptKind.TS,
  ),
});

export const webSources = (): readonly WebSource[] =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !relative(directory, file).startsWith('generated'))
    .map((file) => parsedSource(relative(directory, file), readFileSync(file, 'utf8')));

function everyNode(node: ts.Node, visit: (node: ts.Node) => void): void {
  visit(node);
  ts.forEachChild(node, (child) => everyNode(child, visit));
}

/** `path:line: what` for every node something is to be said about. */
export function findings({ path, syntax }: WebSource, judge: (node: ts.Node) => string | null): string[] {
  const found: string[] = [];
  everyNode(syntax, (node) => {
    const what = judge(node);
    if (what === null) return;
    const { line } = syntax.getLineAndCharacterOfPosition(node.getStart());
    found.push(`${path}:${line + 1}: ${what}`);
  });
  return found;
}
