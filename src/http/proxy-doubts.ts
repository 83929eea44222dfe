import type { ProxyDoubt, ReportDoubt } from './client-address.js';

/* Which trusted proxies pass on what their clients wrote: reported once each, and kept for later queries. */

interface DoubtedProxy {
  /** Its address. */
  readonly proxy: string;
  readonly doubt: ProxyDoubt;
  /** When it was last seen to do so, to the minute; in ms since 1970. */
  readonly seenAt: number;
}

interface ProxyDoubts {
  readonly report: ReportDoubt;
  /** Of the last day: what has been mended is no longer seen. */
  recent(): readonly DoubtedProxy[];
}

const proxiesKept = 100;
const reportAgainMs = 60_000;
const keptMs = 24 * 60 * 60_000;

/** `onDoubt` is called once a minute for each proxy at most; `isFirst`: nobody has heard of it before. */
export function proxyDoubts(
  now: () => number,
  onDoubt: (doubted: DoubtedProxy, isFirst: boolean) => void,
): ProxyDoubts {
  const doubted = new Map<string, DoubtedProxy>();
  return {
    report(proxy, doubt) {
      const known = doubted.get(proxy);
      const seenAt = now();
      // One from the future, after the clock was set back, is reported again.
      const agoMs = seenAt - (known?.seenAt ?? Number.NEGATIVE_INFINITY);
      if (known === undefined ? doubted.size === proxiesKept : agoMs >= 0 && agoMs < reportAgainMs) return;
      const seen = { proxy, doubt, seenAt };
      doubted.set(proxy, seen);
      onDoubt(seen, known === undefined);
    },
    recent: () => [...doubted.values()].filter(({ seenAt }) => now() - seenAt < keptMs),
  };
}

const meaning: Readonly<Record<ProxyDoubt, string>> = {
  'no-header': 'sent a request without X-Forwarded-For, so it does not write that header',
  'no-address': 'sent an X-Forwarded-For that does not end with an address, so it passes on what its client wrote',
};

/** Says of each proxy once what is wrong with it. */
export const warnOfProxies =
  (warn: (facts: Pick<DoubtedProxy, 'proxy' | 'doubt'>, text: string) => void) =>
  ({ proxy, doubt }: DoubtedProxy, isFirst: boolean): void => {
    if (!isFirst) return;
    warn(
      { proxy, doubt },
      `${proxy} is in TRUSTED_PROXIES and ${meaning[doubt]}: a client that sends the header itself passes as any address. See "Behind a reverse proxy" in docs/operating.md; if it is no proxy, take it out of TRUSTED_PROXIES`,
    );
  };
