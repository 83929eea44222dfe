import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { webSources } from './sources.js';

const sources = webSources();

/** Files that bring in a component of the library under its own name. */
const importing = (component: string): readonly string[] =>
  sources
    .filter(({ syntax }) =>
      syntax.statements.some((statement) => {
        if (!ts.isImportDeclaration(statement)) return false;
        const named = statement.importClause?.namedBindings;
        return (
          named !== undefined &&
          ts.isNamedImports(named) &&
          named.elements.some(({ name, propertyName }) => (propertyName ?? name).text === component)
        );
      }),
    )
    .map(({ path }) => path);

describe('the console has one component for each shared need', () => {
  test.each([
    ['HTMLTable', 'kit/table/ResourceTable.tsx'],
    ['Drawer', 'kit/table/DetailDrawer.tsx'],
    ['usePageSize', 'kit/table/useKeysetPages.ts', 'kit/table/useNumberedPages.ts'],
  ])('such as %s, used by %s', (component, ...users) => expect([...importing(component)].sort()).toEqual(users));
});

/** Elements of what shows that something goes on, in a file, that have no name of their own. */
function nameless(syntax: ts.SourceFile): readonly string[] {
  const found: string[] = [];
  const look = (node: ts.Node): void => {
    if (ts.isJsxSelfClosingElement(node) && ['Spinner', 'ProgressBar'].includes(node.tagName.getText(syntax))) {
      const { properties } = node.attributes;
      const isNamed = properties.some(
        (property) => ts.isJsxSpreadAttribute(property) || property.name.getText(syntax) === 'aria-label',
      );
      if (!isNamed) found.push(node.getText(syntax));
    }
    ts.forEachChild(node, look);
  };
  look(syntax);
  return found;
}

test('every progress indicator has a name for screen readers, in the language of the console', () =>
  expect(sources.flatMap(({ path, syntax }) => nameless(syntax).map((element) => `${path}: ${element}`))).toEqual([]));
