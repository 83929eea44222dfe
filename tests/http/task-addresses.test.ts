import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import {
  callbackPath,
  isCallback,
  picturePath,
  pictureTask,
  videoPath,
  videoTask,
} from '../../src/http/task-addresses.js';

const keyed = (key: string) => ({ hash: (text: string) => createHmac('sha256', key).update(text).digest('hex') });
const keys = keyed('one');
const nameOf = (path: string): string => path.split('/').at(-1) ?? '';

describe('the address of a picture', () => {
  test('leads to its task, and to no other', () => {
    const name = nameOf(picturePath(keys, 17));
    expect(name).toMatch(/^17\.[\w-]{22}$/);
    expect(pictureTask(keys, name)).toBe(17);
    const [, signature = ''] = name.split('.');
    for (const forged of [
      '17',
      '17.',
      `18.${signature}`,
      `017.${signature}`,
      `17.${signature}x`,
      `17.${'A'.repeat(22)}`,
      '',
    ])
      expect(pictureTask(keys, forged)).toBeNull();
  });

  test('is void under another master key', () =>
    expect(pictureTask(keyed('two'), nameOf(picturePath(keys, 17)))).toBeNull());

  test('is void where its signature is that of a callback', () => {
    const secret = nameOf(callbackPath(keys, '17'));
    expect(pictureTask(keys, `17.${secret}`)).toBeNull();
  });
});

describe('the address of a video', () => {
  test('leads to its task, and is not that of a picture', () => {
    const name = nameOf(videoPath(keys, 17));
    expect(videoTask(keys, name)).toBe(17);
    expect(videoTask(keys, name.replace('17.', '18.'))).toBeNull();
    expect(pictureTask(keys, name)).toBeNull();
    expect(videoTask(keys, nameOf(picturePath(keys, 17)))).toBeNull();
  });
});

describe('the address of a callback', () => {
  test('holds a secret of its call alone', () => {
    const secret = nameOf(callbackPath(keys, '20261128120000ABC'));
    expect(isCallback(keys, '20261128120000ABC', secret)).toBe(true);
    expect(isCallback(keys, '20261128120000ABD', secret)).toBe(false);
    expect(isCallback(keys, '20261128120000ABC', `${secret}x`)).toBe(false);
    expect(isCallback(keys, '20261128120000ABC', '')).toBe(false);
    expect(isCallback(keyed('two'), '20261128120000ABC', secret)).toBe(false);
  });
});
