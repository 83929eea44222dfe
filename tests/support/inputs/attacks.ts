/* What is sent into a field that must refuse it, by what the field is for. */

export interface Attack {
  readonly name: string;
  readonly value: unknown;
}

/** Longer than any field of the system may be, short enough for the bodies of both faces. */
const endless = 'x'.repeat(600_000);

export const malformedTexts: readonly Attack[] = [
  { name: 'a NUL character', value: 'a\u0000b' },
  { name: 'half a character pair', value: 'a\ud800b' },
];

export const textAttacks: readonly Attack[] = [
  { name: 'more than anybody writes', value: endless },
  ...malformedTexts,
  { name: 'a number', value: 5 },
  { name: 'a list', value: ['a', 'b'] },
];

/** The same for lists of texts. */
export const textListAttacks: readonly Attack[] = [
  { name: 'one that is endless', value: [endless] },
  { name: 'too many', value: Array.from({ length: 50_000 }, (_, index) => `m${index}`) },
  ...malformedTexts.map(({ name, value }) => ({ name, value: ['ok', value] })),
  { name: 'numbers', value: [5] },
];

export const numberAttacks: readonly Attack[] = [
  { name: 'more than can be counted', value: 2 ** 60 },
  { name: 'more than can be meant', value: 9e15 },
  { name: 'far below', value: -9e15 },
  { name: 'a fraction', value: 1.5 },
  { name: 'text', value: '5' },
];

/** Where a fraction is allowed. */
export const amountAttacks: readonly Attack[] = [
  { name: 'beyond all measure', value: 1e300 },
  { name: 'far below', value: -1e300 },
  { name: 'text', value: '5' },
];

export const typeAttacks: readonly Attack[] = [{ name: 'something of another kind', value: { odd: true } }];
