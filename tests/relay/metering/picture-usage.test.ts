import { describe, expect, test } from 'vitest';
import type { Usage } from '../../../src/domain/call/usage.js';
import { reservedUsage } from '../../../src/domain/call/usage-bound.js';
import { chargeOf, type Price, reservationOf } from '../../../src/domain/pricing/pricing.js';
import { leastPictureTokens } from '../../../src/relay/metering/picture-tokens.js';
import { pictureUsage } from '../../../src/relay/metering/picture-usage.js';
import { plainPrice } from '../../support/given/calls.js';

/* One or two pictures of 4160 tokens, of which no picture has less than 272. */

const bound = { input: 500, output: 9_120, images: 2 };
const price = { ...plainPrice, ratios: { imageInput: '2', imageOutput: '8' } } as Price;
const known = { bound, promptEstimate: 10, answers: 2, pictureTokens: 4_160, leastTokens: 272, price, left: false };

describe('usage of pictures', () => {
  test.each<[string, Usage | null, Partial<typeof known>, Usage, string]>([
    [
      'is as reported where the pictures can have it',
      { input: 9, imageOutput: 544, images: 2 },
      {},
      { input: 9, imageOutput: 544, images: 2 },
      'upstream',
    ],
    [
      'is counted here where fewer tokens are reported than any picture has',
      { input: 9, imageOutput: 543, images: 2 },
      {},
      { input: 9, imageOutput: 8_320, images: 2 },
      'disbelieved',
    ],
    [
      'is judged by the pictures that came',
      { input: 9, imageOutput: 272, images: 1 },
      {},
      { input: 9, imageOutput: 272, images: 1 },
      'upstream',
    ],
    [
      'is all that was ordered where its caller left before anything came',
      null,
      { left: true },
      { input: 10, imageOutput: 8_320, images: 2 },
      'estimated',
    ],
    [
      'is all that was ordered where its caller left after a partial picture',
      { imageOutput: 100 },
      { left: true },
      { input: 10, imageOutput: 8_320, images: 2 },
      'estimated',
    ],
    [
      'is the bound where more is reported, of pictures to go by as far as they are',
      { input: 2 ** 40, imageInput: 60, imageOutput: 2 ** 40, images: 2 },
      {},
      { input: 440, imageInput: 60, imageOutput: 9_120, images: 2 },
      'disbelieved',
    ],
    [
      'is no more input of pictures than the bound',
      { imageInput: 2 ** 40, imageOutput: 544, images: 2 },
      {},
      { imageInput: 500, imageOutput: 544, images: 2 },
      'disbelieved',
    ],
    [
      'has no tokens of a picture where none came, whatever is reported',
      { input: 9, imageOutput: 2 ** 40 },
      {},
      { input: 9 },
      'disbelieved',
    ],
  ])('%s', (_name, reported, rest, usage, usageSource) => {
    const used = pictureUsage(reported, { ...known, ...rest });
    expect(used).toEqual({ usage, usageSource });
    expect(chargeOf(used.usage, price)).toBeLessThanOrEqual(reservationOf(reservedUsage(bound), price));
  });

  test('is never less for a picture than its model lists, or than one in between where it lists none', () => {
    expect(['gpt-image-1', 'gemini-2.5-flash-image'].map(leastPictureTokens)).toEqual([272, 100]);
  });
});
