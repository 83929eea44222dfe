import { describe, expect, test } from 'vitest';
import type { ListedUserFragment } from '../../web/src/generated/users/users.js';
import { nameProblems, passwordProblem } from '../../web/src/kit/form/userProblems.js';
import type { Viewer } from '../../web/src/kit/SessionProvider.js';
import { actionsFor, mayOpen } from '../../web/src/users/mayManage.js';
import { type AdjustmentDraft, adjustmentOf, digitsOf } from '../../web/src/users/quotaAdjustment.js';

const rates = { quotaPerUnit: 500_000, yuanPerDollar: 7.3 };
const adjusted = (patch: Partial<AdjustmentDraft>, balance = 1_000) =>
  adjustmentOf({ direction: 'add', unit: 'quota', amount: '100', gift: '', ...patch }, rates, balance);

describe('the adjustment of a quota', () => {
  test('adds units unchanged', () => expect(adjusted({})).toEqual({ delta: 100, gift: 0 }));

  test('subtracts an amount', () => expect(adjusted({ direction: 'subtract' })).toEqual({ delta: -100, gift: 0 }));

  test('converts dollars to quota', () =>
    expect(adjusted({ unit: 'usd', amount: '2' })).toEqual({ delta: 1_000_000, gift: 0 }));

  test('converts yuan to quota by the rate of the gateway', () =>
    expect(adjusted({ unit: 'cny', amount: '73' })).toEqual({ delta: 5_000_000, gift: 0 }));

  test('adds a percentage as a gift', () => expect(adjusted({ gift: '20' })).toEqual({ delta: 100, gift: 20 }));

  test('adds no gift to a subtraction', () =>
    expect(adjusted({ direction: 'subtract', gift: '20' })).toEqual({ delta: -100, gift: 0 }));

  test.each(['', '0', '1.5', '-1', '1e3'])('refuses the amount “%s”', (amount) =>
    expect(adjusted({ amount })).toBe('invalid'),
  );

  test('refuses a gift that is not a number', () => expect(adjusted({ gift: 'x' })).toBe('giftInvalid'));

  test('refuses an amount beyond the safe integers', () => {
    expect(adjusted({ amount: '9007199254740993' })).toBe('tooLarge');
    expect(adjusted({ amount: '1' }, Number.MAX_SAFE_INTEGER)).toBe('tooLarge');
    expect(adjusted({ amount: '9007199254740991', gift: '100' })).toBe('tooLarge');
  });

  test('accepts digits only', () => expect(digitsOf('+1.5e-3')).toBe('153'));
});

const user = (patch: Partial<ListedUserFragment> = {}): ListedUserFragment => ({
  id: '2',
  username: 'alice',
  displayName: 'Alice',
  email: '',
  identities: [],
  role: 'ORDINARY',
  status: 'ENABLED',
  group: 'default',
  quota: 0,
  usedQuota: 0,
  requestCount: 0,
  createdAt: 1_700_000_000,
  invitedCount: 0,
  deletedAt: null,
  ...patch,
});
const viewer = (role: Viewer['role']): Viewer => ({
  id: '1',
  username: 'who',
  displayName: 'Who',
  email: '',
  role,
  group: 'default',
  createdAt: 1_700_000_000,
});

describe('the offered actions on a user', () => {
  test('are promoting, disabling and deleting an ordinary user for root', () =>
    expect(actionsFor(viewer('ROOT'), user())).toEqual(['PROMOTE', 'APPOINT_AUDITOR', 'DISABLE', 'DELETE']));

  test('exclude promoting for an administrator', () =>
    expect(actionsFor(viewer('ADMIN'), user())).toEqual(['DISABLE', 'DELETE']));

  test('exclude every action on an administrator’s equals', () => {
    expect(mayOpen(viewer('ADMIN'), user({ role: 'ADMIN' }))).toBe(false);
    expect(actionsFor(viewer('ADMIN'), user({ role: 'ADMIN' }))).toEqual([]);
  });

  test('include demoting administrators for root', () =>
    expect(actionsFor(viewer('ROOT'), user({ role: 'ADMIN' }))).toEqual([
      'APPOINT_AUDITOR',
      'DEMOTE',
      'DISABLE',
      'DELETE',
    ]));

  test('include enabling for a disabled user', () =>
    expect(actionsFor(viewer('ADMIN'), user({ status: 'DISABLED' }))).toEqual(['ENABLE', 'DELETE']));

  test('exclude root, and deleted users', () => {
    expect(actionsFor(viewer('ROOT'), user({ role: 'ROOT' }))).toEqual([]);
    expect(actionsFor(viewer('ROOT'), user({ deletedAt: 1_800_000_000 }))).toEqual([]);
  });
});

describe('names and passwords of users', () => {
  test('have 1 to 12 characters for a user name', () => {
    expect(nameProblems({ username: 'twelve chars', displayName: '' }).username).toBeUndefined();
    expect(nameProblems({ username: 'thirteen char', displayName: '' }).username).toBe('username');
    expect(nameProblems({ username: '  ', displayName: '' }).username).toBe('username');
  });

  test('count one for a character of any encoding', () =>
    expect(nameProblems({ username: '😀'.repeat(12), displayName: '' }).username).toBeUndefined());

  test('have 8 to 20 characters for a password', () =>
    expect(['1234567', '12345678', '1'.repeat(20), '1'.repeat(21)].map(passwordProblem)).toEqual([
      'password',
      undefined,
      undefined,
      'password',
    ]));
});
