// @vitest-environment jsdom
import { ApolloClient, ApolloLink, InMemoryCache, Observable } from '@apollo/client';
import { ApolloProvider } from '@apollo/client/react';
import { act } from 'react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { useHistory } from '../../web/src/kit/useHistory.js';
import { rendered } from './rendered.js';

/* What a page that shows the past says while the past is being rebuilt, and when it may be followed. */

let percent: number | null | Error;
beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const link = new ApolloLink(
  () =>
    new Observable((observer) => {
      if (percent instanceof Error) observer.error(percent);
      else {
        observer.next({ data: { rebuiltPercent: percent } });
        observer.complete();
      }
    }),
);

function Page() {
  const { warning, isWhole } = useHistory();
  return <p>{`${warning ?? 'nothing'}; ${isWhole ? 'followed' : 'not followed'}`}</p>;
}

const page = async (): Promise<HTMLElement> => {
  const client = new ApolloClient({ link, cache: new InMemoryCache() });
  const { place } = await rendered(
    <ApolloProvider client={client}>
      <Page />
    </ApolloProvider>,
  );
  await act(() => vi.advanceTimersByTimeAsync(100));
  return place;
};

const untilLookedAgain = () => act(() => vi.advanceTimersByTimeAsync(20_000));

test('a complete log is followed, without a notice', async () => {
  percent = null;
  expect((await page()).textContent).toBe('nothing; followed');
});

test('a log that is being rebuilt is not followed until it is complete', async () => {
  percent = 43;
  const place = await page();
  expect(place.textContent).toMatch(/^The log and its statistics are being rebuilt: 43 %\..*; not followed$/);
  percent = 44;
  await untilLookedAgain();
  expect(place.textContent).toMatch(/: 44 %\..*; not followed$/);
  percent = null;
  await untilLookedAgain();
  expect(place.textContent).toBe('nothing; followed');
});

test('a log whose state cannot be queried is followed, without a notice', async () => {
  percent = new Error('lost');
  expect((await page()).textContent).toBe('nothing; followed');
});
