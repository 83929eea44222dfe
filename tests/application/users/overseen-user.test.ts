import { expect, test } from 'vitest';
import { disclosedTo } from '../../../src/application/users/overseen-user.js';
import { UserId } from '../../../src/domain/kernel/ids.js';
import type { UserRow } from '../../../src/projections/models/users.js';
import { admin, root } from '../../support/memory/memory-node.js';

const nowhereElse = { github: '', oidc: '', linuxdo: '', wechat: '', telegram: '' };
const personal = (email: string) => ({
  id: UserId(7),
  username: 'alice',
  email,
  ...nowhereElse,
  settings: '{"notify_type":"email"}',
});
const seen = (viewer: Parameters<typeof disclosedTo>[0], email: string) =>
  disclosedTo(viewer, personal(email) as UserRow);

test.each([
  ['alice@example.org', 'a***@example.org'],
  ['𝒜lice@example.org', '𝒜***@example.org'],
  ['a@example.org', 'a***@example.org'],
  ['"x@y"@example.org', '"***@example.org'],
  ['', ''],
])('an administrator sees the address %j of a user as %j, and no settings', (email, masked) => {
  for (const viewer of [admin, root])
    expect(seen(viewer, email)).toEqual({ ...personal(email), email: masked, settings: '' });
});

test('an administrator sees only a part of a user’s name at an identity provider', () => {
  const bound = { ...personal(''), github: '583231', oidc: 'https://id.example 7f3', telegram: '𝒜' } as UserRow;
  for (const viewer of [admin, root])
    expect(disclosedTo(viewer, bound)).toEqual({
      ...personal(''),
      github: '5***',
      oidc: 'h***',
      telegram: '𝒜***',
      settings: '',
    });
});

test('users see all their own data', () => {
  expect(seen({ id: UserId(7), role: 'admin' }, 'alice@example.org')).toEqual(personal('alice@example.org'));
});
