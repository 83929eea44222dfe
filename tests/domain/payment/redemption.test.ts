import { describe, expect, test } from 'vitest';
import { SecretId, UserId } from '../../../src/domain/kernel/ids.js';
import { Quota } from '../../../src/domain/kernel/quota.js';
import {
  checkRedemptionCount,
  checkRedemptionName,
  type RedemptionEvent,
  redemptionCode,
  redemptionDecider,
  redemptionQuota,
} from '../../../src/domain/payment/redemption.js';
import type { Role } from '../../../src/domain/user/role.js';
import { scenariosOf } from '../../support/given/given.js';
import { refusal } from '../../support/refusal.js';

const given = scenariosOf(redemptionDecider);
const [admin, alice, bob] = [UserId(1), UserId(7), UserId(8)];
const terms = { name: 'promo', quota: Quota(500) };
const facts = { codeHash: 'hash', secret: SecretId('text'), ...terms, by: admin };

const issued: RedemptionEvent = { type: 'RedemptionCodeIssued', ...facts };
const disabled: RedemptionEvent = { type: 'RedemptionCodeDisabled', by: admin };
const enabled: RedemptionEvent = { type: 'RedemptionCodeEnabled', by: admin };
const deleted: RedemptionEvent = { type: 'RedemptionCodeDeleted', by: admin };
const redeemed: RedemptionEvent = { type: 'RedemptionCodeRedeemed', user: alice, quota: terms.quota };

const issue = { type: 'IssueRedemptionCode', ...facts } as const;
const edit = (name: string, quota: number) =>
  ({ type: 'EditRedemptionCode', name, quota: Quota(quota), by: admin }) as const;
const enable = { type: 'EnableRedemptionCode', by: admin } as const;
const disable = { type: 'DisableRedemptionCode', by: admin } as const;
const remove = { type: 'DeleteRedemptionCode', by: admin } as const;
const redeem = (user = alice, balance = 0, role: Role = 'ordinary') =>
  ({ type: 'RedeemCode', user, role, balance: Quota(balance) }) as const;

describe('redeeming a code', () => {
  test('credits the user with its value', () => given(issued).when(redeem()).thenRecorded(redeemed));
  test('uses its current value', () =>
    given(issued, { type: 'RedemptionCodeEdited', name: 'promo', quota: Quota(9), by: admin })
      .when(redeem())
      .thenRecorded({ ...redeemed, quota: Quota(9) }));
  test('succeeds once, for one user', () => {
    given(issued, redeemed).when(redeem(bob)).thenRefused('redemption-code-used');
    given(issued, redeemed).when(redeem(alice)).thenRefused('redemption-code-used');
  });
  test('is refused to its issuer, with any role except root', () => {
    given(issued)
      .when(redeem(admin, 0, 'admin'))
      .thenRefused('redemption-code-own');
    given(issued).when(redeem(admin)).thenRefused('redemption-code-own');
    given(issued)
      .when(redeem(admin, 0, 'root'))
      .thenRecorded({ ...redeemed, user: admin });
  });
  test('is refused to a user that has changed its value; another name changes nothing', () => {
    const worth: RedemptionEvent = { type: 'RedemptionCodeEdited', name: 'promo', quota: Quota(9), by: bob };
    given(issued, worth)
      .when(redeem(bob, 0, 'admin'))
      .thenRefused('redemption-code-own');
    const named: RedemptionEvent = { type: 'RedemptionCodeEdited', name: 'n', quota: terms.quota, by: bob };
    given(issued, named)
      .when(redeem(bob, 0, 'admin'))
      .thenRecorded({ ...redeemed, user: bob });
  });
  test('is refused while it is disabled', () => {
    given(issued, disabled).when(redeem()).thenRefused('redemption-code-used');
    given(issued, disabled, enabled).when(redeem()).thenRecorded(redeemed);
  });
  test('does not distinguish unknown from deleted codes', () => {
    given().when(redeem()).thenRefused('redemption-code-unknown');
    given(issued, deleted).when(redeem()).thenRefused('redemption-code-unknown');
    given(issued, redeemed, deleted).when(redeem()).thenRefused('redemption-code-unknown');
  });
  test('never exceeds the integer range of a balance', () => {
    given(issued)
      .when(redeem(alice, Number.MAX_SAFE_INTEGER - 499))
      .thenRefused('quota-out-of-range');
    given(issued)
      .when(redeem(alice, Number.MAX_SAFE_INTEGER - 500))
      .thenRecorded(redeemed);
  });
});

describe('an administrator of redemption codes', () => {
  test('issues a code once', () => given().when(issue).thenRecordedOnce(issued));
  test('changes unused codes only', () => {
    const edited: RedemptionEvent = { type: 'RedemptionCodeEdited', name: 'other', quota: Quota(7), by: admin };
    given(issued).when(edit('other', 7)).thenRecordedOnce(edited);
    given(issued).when(edit('promo', 500)).thenNothing();
    given(issued, disabled).when(edit('other', 7)).thenRefused('redemption-not-unused');
    given(issued, redeemed).when(edit('other', 7)).thenRefused('redemption-not-unused');
    given(issued, deleted).when(edit('other', 7)).thenRefused('redemption-not-found');
  });
  test('disables and enables unused codes', () => {
    given(issued).when(disable).thenRecordedOnce(disabled);
    given(issued, disabled).when(enable).thenRecordedOnce(enabled);
    given(issued).when(enable).thenNothing();
    for (const order of [enable, disable]) {
      given(issued, redeemed).when(order).thenRefused('redemption-used');
      given(issued, deleted).when(order).thenRefused('redemption-not-found');
    }
  });
  test('deletes any code, once', () => {
    for (const before of [[issued], [issued, disabled], [issued, redeemed]])
      given(...before)
        .when(remove)
        .thenRecorded(deleted);
    given(issued, deleted).when(remove).thenRefused('redemption-not-found');
  });
});

describe('a command to issue codes', () => {
  test('has a printable name of 1 to 20 bytes', () => {
    for (const name of ['x', 'x'.repeat(20), '十'.repeat(6)]) expect(() => checkRedemptionName(name)).not.toThrow();
    for (const name of ['', 'x'.repeat(21), '十'.repeat(7)])
      expect(() => checkRedemptionName(name)).toThrow(refusal('redemption-name-length'));
    expect(() => checkRedemptionName('a\nb')).toThrow(refusal('invalid-field'));
  });
  test('has a number of 1 to 100 codes', () => {
    for (const count of [1, 100]) expect(() => checkRedemptionCount(count)).not.toThrow();
    for (const count of [0, -1, Number.NaN])
      expect(() => checkRedemptionCount(count)).toThrow(refusal('redemption-count-too-small'));
    for (const count of [101, 1.5])
      expect(() => checkRedemptionCount(count)).toThrow(refusal('redemption-count-too-large'));
  });
  test('has a positive value within the input limit', () => {
    expect(redemptionQuota(1)).toBe(1);
    for (const quota of [0, -5]) expect(() => redemptionQuota(quota)).toThrow(refusal('redemption-quota-too-small'));
    for (const quota of [1e16, 0.5]) expect(() => redemptionQuota(quota)).toThrow(refusal('quota-out-of-range'));
  });
});

test('a redemption code is 32 lower-case hexadecimal digits', () => {
  const code = '0123456789abcdef0123456789abcdef';
  for (const typed of [code, ` ${code}\n`]) expect(redemptionCode(typed)).toBe(code);
  for (const typed of ['', '  ']) expect(() => redemptionCode(typed)).toThrow(refusal('redemption-code-missing'));
  for (const typed of ['x', code.toUpperCase(), `${code}0`])
    expect(() => redemptionCode(typed)).toThrow(refusal('redemption-code-unknown', { field: 'code' }));
});
