import { readFileSync } from 'node:fs';
import { getNamedType, isObjectType, validateSchema } from 'graphql';
import { describe, expect, test } from 'vitest';
import { graphqlSchema, printedSchema } from '../../src/graphql/schema.js';

describe('the GraphQL schema', () => {
  test('is valid: a start does not check it again', () => {
    expect(validateSchema(graphqlSchema())).toEqual([]);
  });
  test('is the committed one: `npm run schema > schema.graphql` after a change', () => {
    expect(readFileSync(new URL('../../schema.graphql', import.meta.url), 'utf8')).toBe(printedSchema());
  });
  test('has no field that contains a secret, or names one', () => {
    const fields = Object.values(graphqlSchema().getTypeMap())
      .filter(isObjectType)
      .filter(({ name }) => !name.startsWith('__'))
      .flatMap((type) => Object.keys(type.getFields()).map((field) => `${type.name}.${field}`));
    expect(fields.filter((field) => /secret|hash|password|token$/i.test(field)).sort()).toEqual([
      // Readable this once, by who asked for it.
      'IssuedAccessToken.token',
      'Mutation.issueAccessToken',
      'Mutation.requestPasswordReset',
      'Mutation.resetPassword',
      // Of lines of the log, each with a random id in it.
      'ReceiptEvent.hash',
      // Whether something is there or allowed, not what.
      'Seal.eventsHash',
      'Status.passwordLogin',
      'Status.passwordReset',
      // Shown this once, to whom it is for.
      'TotpSecret.address',
      'TotpSecret.secret',
      // How long the first one of an answer took.
      'UsageFigures.firstToken',
      'UsagePiece.firstToken',
      'User.hasPassword',
      'UserAt.hasPassword',
      'UserSettings.hasWebhookSecret',
    ]);
    expect(fields).toContain('ApiKey.key');
    expect(fields).not.toContain('Channel.key');
  });
  test('has no path to a channel from fields of ordinary users', () => {
    const leading = Object.values(graphqlSchema().getTypeMap())
      .filter(isObjectType)
      .filter((type) => Object.values(type.getFields()).some((field) => getNamedType(field.type).name === 'Channel'))
      .map(({ name }) => name);
    expect(leading.sort()).toEqual(['ChannelChange', 'ChannelPage', 'ChannelTag', 'ChannelTest', 'Mutation', 'Query']);
  });
});
