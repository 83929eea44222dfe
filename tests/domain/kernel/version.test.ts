import { describe, expect, test } from 'vitest';
import { isNewer } from '../../../src/domain/kernel/version.js';

/** Each is newer than the one before it; the part of pre-releases is semver.org's own example. */
const inOrder = [
  '0.1.0-rc.1',
  '0.1.0',
  '0.2.0',
  '0.10.0',
  '1.0.0-alpha',
  '1.0.0-alpha.1',
  '1.0.0-alpha.beta',
  '1.0.0-beta',
  '1.0.0-beta.2',
  '1.0.0-beta.11',
  '1.0.0-rc.1',
  '1.0.0',
  '1.0.1',
  '1.2.0',
  '10.0.0',
  '90071992547409910.0.0',
  '90071992547409911.0.0',
];

describe('a version is compared with another', () => {
  test('by numbers first, with a release after its pre-releases', () => {
    for (const [index, version] of inOrder.entries())
      for (const [otherIndex, other] of inOrder.entries())
        expect([version, other, isNewer(version, other)]).toEqual([version, other, index > otherIndex]);
  });

  test.each([
    ['v1.2.3', '1.2.3', false],
    ['v1.2.4', '1.2.3', true],
    ['1.2.3+build.5', 'v1.2.3', false],
    ['1.2.3-RC.2', '1.2.3-RC.1', true],
  ])('as %s with %s: %s, with any text around the numbers', (text, than, newer) => {
    expect(isNewer(text, than)).toBe(newer);
  });

  test.each([
    'latest',
    '',
    '1',
    '1.2',
    '1.2.3.4',
    '-1.2.3',
    '1.2.x',
    'release-1.2.3',
    '1.2.3-',
    '1.2.3 ',
    '1.2.3-a..b',
  ])('without a result for an invalid version: "%s"', (text) => {
    expect([isNewer(text, '1.2.3'), isNewer('1.2.3', text)]).toEqual([null, null]);
  });
});
