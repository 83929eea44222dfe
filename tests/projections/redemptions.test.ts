import { describe, expect, test } from 'vitest';
import { RedemptionId } from '../../src/domain/kernel/ids.js';
import { Quota } from '../../src/domain/kernel/quota.js';
import {
  type RedemptionFilter,
  redemptionById,
  redemptionIdByHash,
  redemptionPage,
} from '../../src/projections/models/redemptions.js';
import { userById } from '../../src/projections/models/user-queries.js';
import { refusal } from '../support/refusal.js';
import { alice, at, codeIssued, ofCode, redeemed, registered, root, seconds, when } from './history.js';
import { forEachTest, type Projected } from './projected.js';

let projected: Projected;
forEachTest(
  (fresh) => {
    projected = fresh;
  },
  'emptied',
  'dense',
);

const id = RedemptionId;
const disabled = { type: 'RedemptionCodeDisabled', by: root } as const;
const deleted = { type: 'RedemptionCodeDeleted', by: root } as const;

describe('a redemption code', () => {
  test('is listed with its value, and a reference to its text', async () => {
    const db = await projected.given(codeIssued(1, { name: 'promo', quota: Quota(700) }));
    expect(await redemptionById(db, id(1))).toEqual({
      id: 1,
      created_by: root,
      code_hash: 'hash of code 1',
      secret: 'code 1',
      name: 'promo',
      status: 'unused',
      quota: 700,
      created_at: seconds(at()),
      redeemed_at: null,
      redeemed_by: null,
      deleted_at: null,
      position: 0,
    });
  });

  test('follows its events, within a batch and after it', async () => {
    const edited = { type: 'RedemptionCodeEdited', name: 'other', quota: Quota(9), by: root } as const;
    const db = await projected.given(codeIssued(1), ofCode(1, edited), ofCode(1, disabled));
    expect(await redemptionById(db, id(1))).toMatchObject({ name: 'other', quota: 9, status: 'disabled', position: 2 });
    await projected.given(ofCode(1, { type: 'RedemptionCodeEnabled', by: root }), when(at(60), redeemed(1, alice, 9)));
    expect(await redemptionById(db, id(1))).toMatchObject({
      status: 'used',
      redeemed_at: seconds(at(60)),
      redeemed_by: alice,
    });
  });

  test('is added to the wallet of its redeemer', async () => {
    const db = await projected.given(registered(alice, 'alice'), codeIssued(1), redeemed(1, alice, 500));
    expect(await userById(db, alice)).toMatchObject({ quota: 500, used_quota: 0, request_count: 0, position: 0 });
  });

  test('that is deleted is no longer listed, and still found by its hash', async () => {
    const db = await projected.given(codeIssued(1), ofCode(1, deleted));
    expect(await redemptionById(db, id(1))).toBeUndefined();
    expect(await redemptionIdByHash(db, 'hash of code 1')).toBe(1);
    expect(await redemptionIdByHash(db, 'hash of another')).toBeNull();
  });
});

describe('a list of redemption codes', () => {
  const found = async (filter: RedemptionFilter, page = 1, size = 10) => {
    const { items, count } = await redemptionPage(projected.db, { page, size }, filter);
    return [items.map((row) => row.id), await count()];
  };

  test('is newest first, by pages', async () => {
    await projected.given(...[1, 2, 3].map((number) => codeIssued(number)), ofCode(2, deleted));
    expect(await found({})).toEqual([[3, 1], 2]);
    expect(await found({}, 2, 1)).toEqual([[1], 2]);
  });

  test('is searched by the beginning of names, by id, and by status', async () => {
    await projected.given(
      codeIssued(1, { name: '50%_off' }),
      codeIssued(2, { name: '50 is off' }),
      codeIssued(50, { name: 'promo' }),
      ofCode(2, disabled),
      redeemed(50, alice),
    );
    expect(await found({ keyword: '50' })).toEqual([[50, 2, 1], 3]);
    expect(await found({ keyword: '50%' })).toEqual([[1], 1]);
    expect(await found({ keyword: '50%', wildcards: true })).toEqual([[2, 1], 2]);
    expect(await found({ keyword: '%off', wildcards: true })).toEqual([[2, 1], 2]);
    expect(await found({ keyword: 'off' })).toEqual([[], 0]);
    expect(await found({ keyword: 'promo', status: 'unused' })).toEqual([[], 0]);
    expect(await found({ status: 'used' })).toEqual([[50], 1]);
    await expect(found({ keyword: '%a%b%c%d%e%', wildcards: true })).rejects.toThrow(refusal('invalid-field'));
  });
});
