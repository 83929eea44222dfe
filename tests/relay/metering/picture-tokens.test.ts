import { describe, expect, test } from 'vitest';
import { pictureTokensOf } from '../../../src/relay/metering/picture-tokens.js';

const tokensOf = (model: string, size: string, quality: string, names: readonly string[] = [model]) =>
  pictureTokensOf({ size, quality }, new Set(names));

describe('tokens of a picture that Gemini makes', () => {
  test.each([
    ['1024x1024', 1_290],
    ['auto', 1_290],
    ['1792x1024', 1_290],
    ['2048x2048', 1_680],
    ['4096x4096', 2_520],
  ])('at size %s are %i as far as can be known', (size, expected) => {
    expect(tokensOf('gemini-3-pro-image-preview', size, 'auto').expected).toBe(expected);
  });

  test('are reserved with what the model may think, however low the quality is that it never sees', () => {
    for (const quality of ['low', 'standard', 'auto', 'max'])
      expect(tokensOf('gemini-2.5-flash-image', '1024x1024', quality).max).toBeGreaterThanOrEqual(10_712);
  });

  test('are reserved for a name that is mapped to one of its models as well', () => {
    const names = ['painter', 'gemini-3-pro-image-preview'];
    expect(tokensOf('painter', '1024x1024', 'low', names).max).toBeGreaterThanOrEqual(10_712);
  });
});
