import { describe, expect, test } from 'vitest';
import type { Usage } from '../../../src/domain/call/usage.js';
import { billingOf } from '../../../src/domain/pricing/billing.js';
import { chargeOf, type Price, reservationOf } from '../../../src/domain/pricing/pricing.js';

/* Figures that were charged, held and billed when these prices were sold: whatever the code becomes, they stay. */

const usages: Readonly<Record<string, Usage>> = {
  text: { input: 1_234, output: 567 },
  cached: { input: 34, cachedInput: 1_200, output: 567, reasoning: 321 },
  written: { input: 5, cacheWrite: 801, cacheWriteHour: 77, output: 9 },
  pictures: { input: 10, imageInput: 765, output: 3, imageOutput: 1_290 },
  sound: { input: 12, audioInput: 340, output: 20, audioOutput: 510 },
  heard: { input: 1_017, seconds: 61 },
  searched: { input: 8_000, output: 400, 'calls:web_search': 3, 'calls:google_search': 2 },
  drawn: { images: 4 },
  one: { output: 1 },
  nothing: {},
};

const prices: Readonly<Record<string, Price>> = {
  plain: { per: 'token', model: '1.25', ratios: { output: '4', cacheWrite: '1.25', cacheWriteHour: '2' }, group: '1' },
  small: { per: 'token', model: '0.075', ratios: { output: '1.3333333333333333', cachedInput: '0.1' }, group: '0.85' },
  sounding: {
    per: 'token',
    model: '1.25',
    ratios: {
      output: '4',
      cacheWrite: '1.25',
      cacheWriteHour: '2',
      cachedInput: '0.5',
      audioInput: '40',
      audioOutput: '80',
    },
    group: '0.5',
  },
  drawing: {
    per: 'token',
    model: '2.5',
    ratios: {
      output: '8',
      cacheWrite: '1.25',
      cacheWriteHour: '2',
      imageInput: '2',
      imageOutput: '8',
      reasoning: '10',
    },
    group: '1.1',
  },
  searching: {
    per: 'token',
    model: '0.625',
    ratios: { output: '8', cacheWrite: '1.25', cacheWriteHour: '2' },
    pieces: { dollars: { 'calls:web_search': '0.01', 'calls:google_search': '0.035' }, quotaPerUnit: '500000' },
    group: '1',
  },
  byCall: { per: 'call', price: '0.04', quotaPerUnit: '500000', group: '0.5' },
  byCallSearching: {
    per: 'call',
    price: '0.0000013',
    quotaPerUnit: '500000',
    pieces: { dollars: { 'calls:web_search': '0.01', images: '0.0000013' }, quotaPerUnit: '500000' },
    group: '1',
  },
  free: { per: 'token', model: '0', ratios: { output: '4' }, group: '1' },
};

/** Charge, hold and exact cost of each usage, in the order in which they stand above. */
const golden: Readonly<Record<keyof typeof prices, readonly (readonly [number, number, string])[]>> = {
  plain: [
    [4_378, 4_764, '4377.5'],
    [5_983, 6_369, '5982.5'],
    [1_495, 1_497, '1495.3125'],
    [7_434, 7_676, '7433.75'],
    [3_090, 3_200, '3090'],
    [1_271, 1_590, '1271.25'],
    [12_000, 14_500, '12000'],
    [1, 1, '0'],
    [5, 5, '5'],
    [0, 1, '0'],
  ],
  small: [
    [127, 127, '126.862499999999998795125'],
    [85, 155, '85.297499999999998113'],
    [57, 58, '57.056249999999999980875'],
    [159, 160, '159.311249999999997252375'],
    [67, 68, '67.48999999999999887375'],
    [65, 65, '64.83375'],
    [544, 544, '543.99999999999999915'],
    [1, 1, '0'],
    [1, 1, '0.084999999999999997875'],
    [0, 1, '0'],
  ],
  sounding: [
    [2_189, 2_382, '2188.75'],
    [2_616, 3_185, '2616.25'],
    [748, 749, '747.65625'],
    [3_717, 3_838, '3716.875'],
    [34_058, 34_060, '34057.5'],
    [636, 795, '635.625'],
    [6_000, 7_250, '6000'],
    [1, 1, '0'],
    [3, 3, '2.5'],
    [0, 1, '0'],
  ],
  drawing: [
    [15_868, 22_380, '15867.5'],
    [24_695, 31_207, '24695'],
    [3_389, 5_104, '3388.6875'],
    [32_681, 39_820, '32681'],
    [12_628, 16_511, '12628'],
    [2_797, 5_594, '2796.75'],
    [30_800, 55_000, '30800'],
    [1, 1, '0'],
    [22, 28, '22'],
    [0, 1, '0'],
  ],
  searching: [
    [3_606, 3_800, '3606.25'],
    [5_211, 5_405, '5211.25'],
    [770, 771, '770.15625'],
    [6_949, 7_071, '6949.375'],
    [2_870, 2_925, '2870'],
    [636, 795, '635.625'],
    [57_000, 58_250, '57000'],
    [1, 1, '0'],
    [5, 5, '5'],
    [0, 1, '0'],
  ],
  byCall: [
    [10_000, 10_000, '10000'],
    [10_000, 10_000, '10000'],
    [10_000, 10_000, '10000'],
    [10_000, 10_000, '10000'],
    [10_000, 10_000, '10000'],
    [10_000, 10_000, '10000'],
    [10_000, 10_000, '10000'],
    [10_000, 10_000, '10000'],
    [10_000, 10_000, '10000'],
    [10_000, 10_000, '10000'],
  ],
  byCallSearching: [
    [1, 1, '0.65'],
    [1, 1, '0.65'],
    [1, 1, '0.65'],
    [1, 1, '0.65'],
    [1, 1, '0.65'],
    [1, 1, '0.65'],
    [15_001, 15_001, '15000.65'],
    [3, 4, '3.25'],
    [1, 1, '0.65'],
    [1, 1, '0.65'],
  ],
  free: [
    [0, 0, '0'],
    [0, 0, '0'],
    [0, 0, '0'],
    [0, 0, '0'],
    [0, 0, '0'],
    [0, 0, '0'],
    [0, 0, '0'],
    [0, 0, '0'],
    [0, 0, '0'],
    [0, 0, '0'],
  ],
};

describe.each(Object.entries(prices))('the price %s', (name, price) => {
  test.each(Object.entries(usages).map(([kind, usage], index) => [kind, usage, golden[name]?.[index]] as const))(
    'charges, reserves and bills %s as before',
    (_kind, usage, expected) =>
      expect([chargeOf(usage, price), reservationOf(usage, price), billingOf(usage, price).exact]).toEqual(expected),
  );
});
