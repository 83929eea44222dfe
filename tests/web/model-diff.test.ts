import { describe, expect, test } from 'vitest';
import { modelDiff, takenOver } from '../../web/src/channels/modelDiff.js';

describe('what an upstream has beside what a channel lists', () => {
  test('is new, gone or the same', () => {
    expect(modelDiff(['a', 'old'], ['new', 'a'], '')).toEqual({ added: ['new'], gone: ['old'], kept: ['a'] });
  });

  test('is the same by the name it is asked for, and that name is nothing new', () => {
    const mapping = '{"gpt-4o":"east","east":"east-2","lost":"nowhere"}';
    expect(modelDiff(['gpt-4o', 'lost'], ['east-2', 'east'], mapping)).toEqual({
      added: ['east'],
      gone: ['lost'],
      kept: ['gpt-4o'],
    });
  });

  test.each(['{', 'null', '[1]', '{"a":1}', '{"a":"b","b":"a"}'])('bears a mapping such as %s', (mapping) => {
    expect(modelDiff(['a', 'b'], ['a', 'b'], mapping)).toEqual({ added: [], gone: [], kept: ['a', 'b'] });
  });
});

describe('what is taken over', () => {
  const diff = modelDiff(['a', 'old', 'older'], ['new', 'newer', 'a'], '');

  test('is what was ticked, and nothing else', () => {
    expect(takenOver(['a', 'old', 'older'], diff, new Set(['new', 'old']))).toEqual(['a', 'older', 'new']);
    expect(takenOver(['a', 'old', 'older'], diff, new Set())).toEqual(['a', 'old', 'older']);
  });
});
