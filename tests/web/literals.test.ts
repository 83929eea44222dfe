// biome-ignore-all lint/suspicious/noTemplateCurlyInString: examples of code hold templates
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { findings, parsedSource, type WebSource, webSources } from './sources.js';

const sources = webSources();

const cjk = /[\u3040-\u30ff\u3400-\u9fff\uff00-\uffef]/;
const word = /[A-Za-z]{2,}|[\u3040-\u30ff\u3400-\u9fff]/;
/** Attributes whose text somebody reads or hears. */
const spoken = /^(alt|aria-label|aria-description|caption|description|header|help|hint|label|placeholder|text|title)$/;
/** Marks and units that are the same in every language. */
const languageless = /^(ID|RPM|TPM|API|URL|JSON|HTTP|USD|ms|sk-)$/;

const isDictionary = ({ path }: WebSource): boolean => /\.(zh|en)\.ts$/.test(path);

const outside = sources.filter((source) => !isDictionary(source));

const isStray = (text: string): boolean => word.test(text) && !languageless.test(text.trim());

const textOf = (node: ts.Node): string | null => {
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return node.text;
  return ts.isTemplateExpression(node)
    ? [node.head, ...node.templateSpans.map(({ literal }) => literal)].map(({ text }) => text).join(' ')
    : null;
};

/** The literals an expression may come to: through conditions, `??` and `&&`, not into calls. */
function outcomes(node: ts.Expression): ts.Expression[] {
  if (ts.isParenthesizedExpression(node)) return outcomes(node.expression);
  if (ts.isConditionalExpression(node)) return [...outcomes(node.whenTrue), ...outcomes(node.whenFalse)];
  if (ts.isBinaryExpression(node)) return [...outcomes(node.left), ...outcomes(node.right)];
  return [node];
}

/** A comparison's operands are no output. */
const isCompared = (node: ts.Node): boolean =>
  ts.isBinaryExpression(node.parent) &&
  ![ts.SyntaxKind.QuestionQuestionToken, ts.SyntaxKind.BarBarToken, ts.SyntaxKind.AmpersandAmpersandToken].includes(
    node.parent.operatorToken.kind,
  ) &&
  node.parent.operatorToken.kind !== ts.SyntaxKind.PlusToken;

const strayIn = (expression: ts.Expression): string | null =>
  outcomes(expression)
    .filter((node) => !isCompared(node))
    .map(textOf)
    .find((text) => text !== null && isStray(text)) ?? null;

function strayLiteral(node: ts.Node): string | null {
  if (ts.isJsxText(node) && isStray(node.text)) return node.text.trim();
  if (ts.isJsxExpression(node) && node.expression !== undefined && !ts.isJsxAttribute(node.parent))
    return strayIn(node.expression);
  if (ts.isJsxAttribute(node) && spoken.test(node.name.getText()) && node.initializer !== undefined) {
    if (ts.isStringLiteral(node.initializer)) return isStray(node.initializer.text) ? node.initializer.text : null;
    if (ts.isJsxExpression(node.initializer) && node.initializer.expression !== undefined)
      return strayIn(node.initializer.expression);
  }
  // Columns, choices and questions are given as objects.
  if (ts.isPropertyAssignment(node) && spoken.test(node.name.getText())) return strayIn(node.initializer);
  if (ts.isCallExpression(node) && /^toaster\./.test(node.expression.getText()))
    return node.arguments.map(strayIn).find((text) => text !== null) ?? null;
  return null;
}

const chineseText = (node: ts.Node): string | null => {
  const text = ts.isJsxText(node) ? node.text : textOf(node);
  return text !== null && cjk.test(text) ? text.trim() : null;
};

const iconByName = (node: ts.Node): string | null => {
  if (!ts.isJsxAttribute(node) || !/icon$/i.test(node.name.getText())) return null;
  const { initializer } = node;
  if (initializer === undefined) return null;
  if (ts.isStringLiteral(initializer)) return initializer.text;
  const expression = ts.isJsxExpression(initializer) ? initializer.expression : undefined;
  const named = expression === undefined ? undefined : outcomes(expression).find((one) => ts.isStringLiteralLike(one));
  return named === undefined ? null : named.getText();
};

describe('the finder of stray literals', () => {
  const judged = (jsx: string): string[] => findings(parsedSource('example.tsx', `const a = ${jsx};`), strayLiteral);

  test.each([
    '<p>Hello</p>',
    '<p>你好</p>',
    "<p>{'Hello'}</p>",
    "<p>{ready ? 'Hello' : t('later')}</p>",
    '<p>{`${count} rows`}</p>',
    '<Button text="Save" />',
    "<img alt={broken ? 'Broken' : ''} />",
    '<a aria-label={`Row ${id}`} />',
    "{ id: 'name', header: 'Name' }",
    "toaster.success('Saved')",
  ])('finds the one in %s', (jsx) => expect(judged(jsx)).toHaveLength(1));

  test.each([
    "<p>{t('hello')}</p>",
    '<p className="lead">{name}: {count} ·</p>',
    '<Field name="username" type="text" />',
    '<p>{`${page} / ${pages}`}</p>',
    "<p>{status === 'OPEN' ? t('open') : null}</p>",
    '<Tag>RPM</Tag>',
    "{ id: 'name', header: t('name') }",
    "toaster.success(t('saved'))",
  ])('finds nothing in %s', (jsx) => expect(judged(jsx)).toEqual([]));
});

describe('the source of the console', () => {
  test('has texts in its dictionaries only', () => {
    expect(outside.flatMap((source) => findings(source, strayLiteral))).toEqual([]);
  });
  test('has Chinese in its dictionaries only', () => {
    expect(outside.flatMap((source) => findings(source, chineseText))).toEqual([]);
  });
  test('imports icons as components, so that only displayed ones are fetched', () => {
    expect(
      findings(parsedSource('example.tsx', 'const a = <Button icon="add" endIcon={x ? \'b\' : <C />} />;'), iconByName),
    ).toHaveLength(2);
    expect(sources.flatMap((source) => findings(source, iconByName))).toEqual([]);
  });
  test('is written in modules that export by name', () => {
    const exported = (node: ts.Node): string | null =>
      ts.isExportAssignment(node) || (node.kind === ts.SyntaxKind.DefaultKeyword && !ts.isDefaultClause(node.parent))
        ? 'default export'
        : null;
    expect(sources.flatMap((source) => findings(source, exported))).toEqual([]);
  });
  test('uses the server only through the generated documents', () => {
    const foreign = (node: ts.Node): string | null =>
      ts.isImportDeclaration(node) && /\.\.\/src\//.test(node.moduleSpecifier.getText()) ? 'reaches into src' : null;
    expect(sources.flatMap((source) => findings(source, foreign))).toEqual([]);
  });
});
