import { GraphQLError, GraphQLScalarType, Kind } from 'graphql';
import { representable } from '../../domain/kernel/quota.js';

/*
 * Values the built-in scalars cannot carry: Int ends at 2^31, Float is not exact. The messages never repeat the value,
 * which may be a secret somebody put into the wrong field.
 */

const wholeNumber = (name: string, description: string): GraphQLScalarType<number, number> => {
  const checked = (value: unknown): number => {
    if (typeof value !== 'number' || !Number.isSafeInteger(value))
      throw new GraphQLError(`${name} must be a whole number within ±(2^53 - 1).`);
    return value;
  };
  return new GraphQLScalarType({
    name,
    description,
    serialize: (value) => checked(typeof value === 'number' ? representable(value) : value),
    parseValue: checked,
    parseLiteral: (node) => checked(node.kind === Kind.INT ? Number(node.value) : null),
  });
};

export const QuotaScalar = wholeNumber(
  'Quota',
  'An amount in the unit of account (500000 = 1 USD unless configured otherwise). A whole number within ±(2^53 - 1); a sum beyond that is told as the nearest.',
);

export const SafeIntScalar = wholeNumber(
  'SafeInt',
  'A whole number within ±(2^53 - 1), for what may outgrow the 32 bits of Int; a sum beyond that is told as the nearest.',
);

export const TimestampScalar = wholeNumber('Timestamp', 'A moment: whole seconds since 1970-01-01 00:00 UTC.');

const decimalPattern = /^[+-]?\d+(\.\d+)?([eE][+-]?\d{1,3})?$/;

const checkedDecimal = (value: unknown): string => {
  if (typeof value !== 'string' || !decimalPattern.test(value))
    throw new GraphQLError('Decimal must be decimal text such as "1.25".');
  return value;
};

export const DecimalScalar = new GraphQLScalarType<string, string>({
  name: 'Decimal',
  description: 'An exact decimal number as text, e.g. "1.25": a ratio or a price.',
  serialize: checkedDecimal,
  parseValue: checkedDecimal,
  parseLiteral: (node) => checkedDecimal(node.kind === Kind.STRING ? node.value : null),
});
