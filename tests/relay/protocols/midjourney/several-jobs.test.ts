import { expect, test } from 'vitest';
import { severalJobs } from '../../../../src/relay/protocols/midjourney/several-jobs.js';

test.each([
  'a {red, green} bird',
  'a {red, {green}} bird',
  'a {{red}, green} bird',
  'a {red, {green} bird',
  'a bird --repeat 4',
  'a bird --repeat 4, x',
  'a bird --r 1234567890',
  'a bird --bs 4. Now',
  'a bird --repeat 1 --r 2',
  'a bird --repeat',
])('a prompt that makes several jobs of one submission is refused: %s', (prompt) =>
  expect(severalJobs({ prompt })?.param).toBe('prompt'),
);

test.each([
  'a bird, in a tree',
  'a {red} bird, green',
  'a {red, green bird',
  String.raw`a \{red, green\} bird`,
  String.raw`a {red\, green} bird`,
  'a bird --repeat 1',
  'a bird --r 1 --raw --bs 1',
])('a prompt that makes one job is taken: %s', (prompt) => expect(severalJobs({ prompt })).toBeNull());
