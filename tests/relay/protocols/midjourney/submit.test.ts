import { describe, expect, test } from 'vitest';
import { submitToProxy } from '../../../../src/relay/protocols/midjourney/submit.js';
import { submittedBody, withoutMode } from '../../../../src/relay/protocols/midjourney/submit-request.js';
import { callerOf, plainChannel, providerOfType, usualOptions } from '../../providers/golden.js';

const off = {
  ...{ notifies: false, takesAccountFilter: false, clearsModes: false, forwardsPictures: true, checksParent: true },
};
const callback = 'https://site.example/mj/notify/1/secret';
const sent = (body: Record<string, unknown>, options: Partial<typeof off> = {}, hook: string | null = callback) =>
  submittedBody(body as never, { midjourney: { ...off, ...options }, callback: hook });

describe('a submission as it goes upstream', () => {
  test('has neither hook nor accounts where the options do not allow them', () =>
    expect(sent({ model: 'mj_imagine', prompt: 'a', accountFilter: {}, notifyHook: 'https://a.example' })).toEqual({
      prompt: 'a',
    }));

  test('has the hook of its caller, or that of the gateway, where the option allows it', () => {
    expect(sent({ prompt: 'a' }, { notifies: true })).toEqual({ prompt: 'a', notifyHook: callback });
    const own = { prompt: 'a', notifyHook: 'https://a.example' };
    expect(sent(own, { notifies: true })).toEqual(own);
    expect(sent({ prompt: 'a' }, { notifies: true }, null)).toEqual({ prompt: 'a' });
  });

  test('has its account filter where the option allows it', () => {
    const body = { prompt: 'a', accountFilter: { modes: ['FAST'] } };
    expect(sent(body, { takesAccountFilter: true })).toEqual(body);
  });

  test.each([
    ['a cat --fast', 'a cat'],
    ['--relax a cat --TURBO --ar 1:1', 'a cat --ar 1:1'],
    ['a cat --fast --fast', 'a cat'],
    ['a cat —fast', 'a cat'],
    ['a cat –relax –-turbo -—FAST —— fast', 'a cat —— fast'],
    ['a cat ——fast -fast', 'a cat -fast'],
    ['a --fastest cat--fast', 'a --fastest cat--fast'],
    ['a cat', 'a cat'],
  ])('of the prompt "%s" has the words "%s" where modes are cleared', (prompt, cleared) => {
    expect(sent({ prompt }, { clearsModes: true })).toEqual({ prompt: cleared });
    expect(sent({ prompt })).toEqual({ prompt });
  });

  test('has no speed before its path where modes are cleared, and has it otherwise', () => {
    const urlWhere = (clearsModes: boolean) =>
      submitToProxy({ hasModes: true }).request({
        ...{ provider: providerOfType(5), channel: { ...plainChannel, baseUrl: 'https://mj.example' } },
        ...{ model: 'mj_imagine', options: { ...usualOptions, midjourney: { ...off, clearsModes } } },
        caller: { ...callerOf('task', { prompt: 'a' }), below: '/mj-turbo/mj/submit/imagine' },
      }).url;
    expect(urlWhere(true)).toBe('https://mj.example/mj/submit/imagine');
    expect(urlWhere(false)).toBe('https://mj.example/mj-turbo/mj/submit/imagine');
  });

  test.each([
    ['/mj-fast/mj/submit/imagine', '/mj/submit/imagine'],
    ['/mj/submit/imagine', '/mj/submit/imagine'],
    ['/mj-turbo/mj/insight-face/swap', '/mj/insight-face/swap'],
  ])('to %s has the path %s without its speed', (path, plain) => expect(withoutMode(path)).toBe(plain));
});

describe('the answer of a proxy that takes a submission', () => {
  const statusAfter = (code: number, action: string, properties = {}) => {
    const answer = submitToProxy({ hasModes: true }).answer({
      ...{ provider: providerOfType(5), channel: plainChannel, status: 200, headers: {} },
      caller: { ...callerOf('task', { prompt: 'a' }), task: { action, parent: null } },
      body: Buffer.from(JSON.stringify({ code, description: '', result: '17', properties })),
      info: { callId: 'r', model: 'mj_imagine', createdAt: 0 },
    });
    return answer.ok ? answer.generated.task?.status : null;
  };

  test.each([
    ['submitted', 1, 'IMAGINE', {}],
    ['queued', 22, 'IMAGINE', {}],
    ['submitted', 22, 'INPAINT', {}],
    ['submitted', 21, 'IMAGINE', {}],
    ['in-progress', 21, 'IMAGINE', { status: 'IN_PROGRESS' }],
    ['submitted', 21, 'IMAGINE', { status: 'SUCCESS' }],
  ])('stores the status %s for code %i of %s with %j', (status, code, action, properties) =>
    expect(statusAfter(code, action, properties)).toBe(status),
  );
});
