import fc from 'fast-check';

/* JSON texts as somebody may have written them: numbers of every form, blanks anywhere, characters with and without escapes. */

const digits = (maxLength: number) => fc.stringMatching(new RegExp(`^\\d{1,${maxLength}}$`));
const whole = fc.oneof(fc.constant('0'), fc.stringMatching(/^[1-9]\d{0,30}$/), fc.stringMatching(/^[1-9]\d{0,3}$/));

/** As JSON has them, with digits that no double may keep. */
export const numberTexts = fc
  .tuple(
    fc.constantFrom('', '-'),
    whole,
    fc.option(digits(25), { nil: null }),
    fc.option(fc.tuple(fc.constantFrom('e', 'E'), fc.constantFrom('', '+', '-'), digits(3)), { nil: null }),
  )
  .map(
    ([sign, before, after, power]) =>
      `${sign}${before}${after === null ? '' : `.${after}`}${power === null ? '' : power.join('')}`,
  );

const blanks = fc.constantFrom('', '', '', ' ', '\n', '\t ', '\r\n');
const escaped = fc.constantFrom(
  '\\u00e4',
  '\\ud83d\\ude00',
  '\\ud800',
  '\\n',
  '\\/',
  '\\"',
  '\\\\',
  '\\u0000',
  'ä',
  '😀',
);

const stringTexts = fc
  .array(fc.oneof(fc.stringMatching(/^[ !#-[\]-~]{0,8}$/), escaped), { maxLength: 4 })
  .map((parts) => `"${parts.join('')}"`);

const between = (parts: readonly string[], open: string, close: string, space: string): string =>
  `${open}${space}${parts.join(`${space},${space}`)}${space}${close}`;

const { value } = fc.letrec<{ value: string; list: string; object: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom('true', 'false', 'null'),
    numberTexts,
    stringTexts,
    tie('list'),
    tie('object'),
  ),
  list: fc
    .tuple(fc.array(tie('value'), { maxLength: 4 }), blanks)
    .map(([parts, space]) => between(parts, '[', ']', space)),
  object: objectOf(tie('value')),
}));

function objectOf(values: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc
    .tuple(
      fc.uniqueArray(fc.tuple(stringTexts, values), { maxLength: 5, selector: ([name]) => JSON.parse(name) }),
      blanks,
    )
    .map(([members, space]) =>
      between(
        members.map(([name, one]) => `${name}${space}:${space}${one}`),
        '{',
        '}',
        space,
      ),
    );
}

export const jsonTexts = value;
/** No member stands twice in an object. */
export const objectTexts = objectOf(value);
