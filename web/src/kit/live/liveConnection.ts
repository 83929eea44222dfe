import { type Client, createClient } from 'graphql-ws/client';
import { createContext, useContext, useEffect, useRef, useSyncExternalStore } from 'react';

/*
 * The one WebSocket all subscriptions of a tab share: opened with the first of them, closed after the last, and opened
 * again for as long as it takes when the network or the server goes away.
 */

export interface LiveStatus {
  /** idle: nobody subscribes. lost: was open, is being opened again. */
  readonly state: 'idle' | 'connecting' | 'open' | 'lost';
  /** How often it came back. What arrived meanwhile was not delivered: whoever keeps state looks again. */
  readonly regained: number;
}

export interface LiveConnection {
  readonly client: Client;
  status(): LiveStatus;
  subscribe(listener: () => void): () => void;
}

const minWaitMs = 500;
const maxWaitMs = 20_000;
const pingEveryMs = 10_000;
/** A peer that has not answered a ping by then is gone, whatever the network says. */
const pongWithinMs = 5_000;
/** The server no longer knows who is asking; coming back would not help. */
const unauthorized = 4401;
const normal = 1000;

/** ms before the attempt counted from 0: doubling, with a spread so that a restarted server does not meet everybody at once. */
export const waitBefore = (attempt: number): number =>
  Math.min(maxWaitMs, minWaitMs * 2 ** attempt) * (0.5 + Math.random() / 2);

/** Waits, but not once the browser says that the network is back. */
const backoff = (attempt: number): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      window.removeEventListener('online', done);
      resolve();
    };
    const timer = setTimeout(done, waitBefore(attempt));
    window.addEventListener('online', done);
  });

export function openLiveConnection(url: string, onSessionLost: () => void): LiveConnection {
  const listeners = new Set<() => void>();
  let current: LiveStatus = { state: 'idle', regained: 0 };
  const become = (state: LiveStatus['state'], regained = current.regained): void => {
    if (state === current.state && regained === current.regained) return;
    current = { state, regained };
    for (const listener of listeners) listener();
  };

  let pongTimer: ReturnType<typeof setTimeout> | undefined;
  const client = createClient({
    url,
    lazy: true,
    // Long enough to walk from one live page to the next on the same connection.
    lazyCloseTimeout: 3_000,
    keepAlive: pingEveryMs,
    retryAttempts: Number.POSITIVE_INFINITY,
    shouldRetry: () => true,
    retryWait: backoff,
    on: {
      connecting: () => become(current.state === 'lost' ? 'lost' : 'connecting'),
      connected: () => become('open', current.state === 'lost' ? current.regained + 1 : current.regained),
      ping: (received) => {
        if (!received) pongTimer = setTimeout(() => client.terminate(), pongWithinMs);
      },
      pong: () => clearTimeout(pongTimer),
      closed: (event) => {
        clearTimeout(pongTimer);
        const { code, wasClean } = event as CloseEvent;
        if (code === unauthorized) onSessionLost();
        become(code === normal && wasClean ? 'idle' : 'lost');
      },
    },
  });

  return {
    client,
    status: () => current,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

export const LiveConnectionContext = createContext<LiveConnection | null>(null);

function useLiveConnection(): LiveConnection {
  const connection = useContext(LiveConnectionContext);
  if (connection === null) throw new Error('there is no live connection around this component');
  return connection;
}

export function useLiveStatus(): LiveStatus {
  const connection = useLiveConnection();
  return useSyncExternalStore(connection.subscribe, connection.status);
}

/** Runs after the connection was lost and is back: the place to fetch what no subscription delivered meanwhile. */
export function useRegained(lookAgain: () => void): void {
  const { regained } = useLiveStatus();
  const seen = useRef(regained);
  const latest = useRef(lookAgain);
  latest.current = lookAgain;
  useEffect(() => {
    if (seen.current === regained) return;
    seen.current = regained;
    latest.current();
  }, [regained]);
}
