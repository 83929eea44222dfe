// @vitest-environment jsdom
import { act } from 'react';
import { beforeEach, describe, expect, test } from 'vitest';
import { changeLanguage } from '../../web/src/kit/words/i18n.js';
import { DoubtedProxiesNotice } from '../../web/src/shell/DoubtedProxies.js';
import { rendered } from './rendered.js';

const one = { __typename: 'DoubtedProxy', proxy: '10.0.0.1', doubt: 'NO_HEADER', seenAt: 1_795_000_000 } as const;
const other = { ...one, proxy: '10.0.0.2', doubt: 'NO_ADDRESS' } as const;

beforeEach(() => localStorage.clear());

describe('the notice about suspicious proxies', () => {
  test('is hidden without any', async () => {
    const { place } = await rendered(<DoubtedProxiesNotice doubted={[]} />);
    expect(place.textContent).toBe('');
  });

  test('describes each of them and the effect, in the reader’s language', async () => {
    const { place } = await rendered(<DoubtedProxiesNotice doubted={[one, other]} />);
    expect(place.querySelector('[role=alert]')).not.toBeNull();
    expect([...place.querySelectorAll('li')].map(({ textContent }) => textContent)).toEqual([
      expect.stringContaining('10.0.0.1 sent a request without X-Forwarded-For.'),
      expect.stringContaining('10.0.0.2 sent an X-Forwarded-For that does not end with an address.'),
    ]);
    expect(place.textContent).toContain('TRUSTED_PROXIES');
    await act(() => changeLanguage('zh'));
    expect(place.textContent).toContain('受信任的代理会转发客户端自行填写的标头');
    expect(place.textContent).toContain('10.0.0.1 发送了不带 X-Forwarded-For 的请求。');
  });

  test('stays hidden once dismissed, until another proxy is suspicious', async () => {
    const { place, click, again } = await rendered(<DoubtedProxiesNotice doubted={[one]} />);
    await click(place.querySelector('button'));
    expect(place.textContent).toBe('');
    await again(<DoubtedProxiesNotice doubted={[one, other]} />);
    expect(place.textContent).toContain('10.0.0.2');
  });
});
