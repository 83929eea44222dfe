import { expect, test } from 'vitest';
import { untilVisible } from '../../src/application/until-visible.js';
import { Position } from '../../src/domain/events/events.js';

const position = Position(7);

test('a program on a busy machine waits until the read models hold what was written, and says when they do not', async () => {
  const answers = [false, false, true];
  await untilVisible({ visible: async () => answers.shift() ?? false }, position);
  expect(answers).toEqual([]);
  await expect(untilVisible({ visible: async () => false }, position, 0)).rejects.toMatchObject({
    code: 'store-unavailable',
    details: { reason: 'The read models do not follow the log.' },
  });
});

test('a program that waits for read models leaves its process to others, also when they answer at once', async () => {
  let hadItsTurn = false;
  setTimeout(() => {
    hadItsTurn = true;
  });
  await untilVisible({ visible: async () => hadItsTurn }, position);
  expect(hadItsTurn).toBe(true);
});
