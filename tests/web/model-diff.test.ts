import { describe, expect, test } from 'vitest';
import { modelDiff, takenOver } from '../../web/src/channels/modelDiff.js';

describe('the differences between an upstream’s models and a channel’s list', () => {
  test('are new, removed or unchanged', () => {
    expect(modelDiff(['a', 'old'], ['new', 'a'], '')).toEqual({ added: ['new'], gone: ['old'], kept: ['a'] });
  });

  test('treat a mapped model as unchanged by its requested name', () => {
    const mapping = '{"gpt-4o":"east","east":"east-2","lost":"nowhere"}';
    expect(modelDiff(['gpt-4o', 'lost'], ['east-2', 'east'], mapping)).toEqual({
      added: ['east'],
      gone: ['lost'],
      kept: ['gpt-4o'],
    });
  });

  test.each(['{', 'null', '[1]', '{"a":1}', '{"a":"b","b":"a"}'])('respect a mapping such as %s', (mapping) => {
    expect(modelDiff(['a', 'b'], ['a', 'b'], mapping)).toEqual({ added: [], gone: [], kept: ['a', 'b'] });
  });
});

describe('the applied differences', () => {
  const diff = modelDiff(['a', 'old', 'older'], ['new', 'newer', 'a'], '');

  test('are the selected ones, and no others', () => {
    expect(takenOver(['a', 'old', 'older'], diff, new Set(['new', 'old']))).toEqual(['a', 'older', 'new']);
    expect(takenOver(['a', 'old', 'older'], diff, new Set())).toEqual(['a', 'old', 'older']);
  });
});
