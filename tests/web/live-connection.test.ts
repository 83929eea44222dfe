import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ApolloClient, gql, InMemoryCache } from '@apollo/client';
import { GraphQLInt, GraphQLNonNull, GraphQLObjectType, GraphQLSchema } from 'graphql';
import { useServer } from 'graphql-ws/use/ws';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { type LiveConnection, openLiveConnection } from '../../web/src/kit/live/liveConnection.js';
import { subscriptionLink } from '../../web/src/subscriptionLink.js';

/* Against a real server that goes away and comes back. */

/** Numbers from `after` + 1 on; `upTo` and no further, then it stays open. */
const schema = (upTo: () => number) =>
  new GraphQLSchema({
    query: new GraphQLObjectType({ name: 'Query', fields: { none: { type: GraphQLInt } } }),
    subscription: new GraphQLObjectType({
      name: 'Subscription',
      fields: {
        counter: {
          type: new GraphQLNonNull(GraphQLInt),
          args: { after: { type: new GraphQLNonNull(GraphQLInt) } },
          resolve: (value: number) => value,
          async *subscribe(_root, { after }: { after: number }) {
            for (let value = after + 1; value <= upTo(); value++) yield value;
            await new Promise(() => undefined);
          },
        },
      },
    }),
  });

const counter = gql`
  subscription Counter($after: Int!) {
    counter(after: $after)
  }
`;

let http: Server;
let sockets: WebSocketServer;
let upTo: number;
let closeWith: number | null;
let onSessionLost: ReturnType<typeof vi.fn<() => void>>;
let live: LiveConnection;
let received: number[];
let failures: unknown[];

beforeEach(async () => {
  // Node has neither; the browser's socket speaks like this one.
  vi.stubGlobal('WebSocket', WebSocket);
  vi.stubGlobal('window', new EventTarget());
  [upTo, closeWith, received, failures] = [3, null, [], []];
  http = createServer();
  sockets = new WebSocketServer({ server: http });
  useServer({ schema: schema(() => upTo) }, sockets);
  sockets.on('connection', (socket) => {
    if (closeWith !== null) socket.close(closeWith, 'told to');
  });
  await new Promise<void>((listening) => http.listen(0, '127.0.0.1', listening));
  onSessionLost = vi.fn<() => void>();
  live = openLiveConnection(`ws://127.0.0.1:${(http.address() as AddressInfo).port}`, onSessionLost);
});

afterEach(async () => {
  await live.client.dispose();
  for (const socket of sockets.clients) socket.terminate();
  sockets.close();
  await new Promise((closed) => http.close(closed));
  vi.unstubAllGlobals();
});

/** Follows the counter, going on after the last number each time. */
function follow() {
  const client = new ApolloClient({
    link: subscriptionLink(live.client),
    cache: new InMemoryCache(),
    devtools: { enabled: false },
  });
  return client
    .subscribe<{ counter: number }>({
      query: counter,
      variables: { after: 0 },
      context: { resumeWith: () => ({ after: received.at(-1) ?? 0 }) },
    })
    .subscribe({
      next: ({ data, error }) => {
        if (data) received.push(data.counter);
        if (error) failures.push(error);
      },
    });
}

const breakConnections = (): void => {
  for (const socket of sockets.clients) socket.terminate();
};

describe('a subscription in the browser', () => {
  test('resumes after its last delivery when the connection returns: no gap, nothing twice', async () => {
    const subscription = follow();
    await vi.waitFor(() => expect(received).toEqual([1, 2, 3]), 10_000);
    upTo = 5;
    breakConnections();
    await vi.waitFor(() => expect(received).toEqual([1, 2, 3, 4, 5]), 10_000);
    expect(live.status()).toEqual({ state: 'open', regained: 1 });
    expect(failures).toEqual([]);
    subscription.unsubscribe();
  });

  test('is resumed also after a server error that its client treats as final', async () => {
    closeWith = 4500;
    const subscription = follow();
    await vi.waitFor(() => expect(live.status().state).toBe('lost'), 10_000);
    closeWith = null;
    await vi.waitFor(() => expect(received).toEqual([1, 2, 3]), 10_000);
    subscription.unsubscribe();
  });

  test('ends when the server no longer accepts the session', async () => {
    closeWith = 4401;
    const subscription = follow();
    await vi.waitFor(() => expect(onSessionLost).toHaveBeenCalledOnce(), 10_000);
    await vi.waitFor(() => expect(failures).toHaveLength(1), 10_000);
    subscription.unsubscribe();
  });
});

describe('the state of the connection', () => {
  test('is idle before the first subscription, and notifies watchers of changes', async () => {
    const seen: string[] = [];
    live.subscribe(() => seen.push(live.status().state));
    expect(live.status()).toEqual({ state: 'idle', regained: 0 });
    const subscription = follow();
    await vi.waitFor(() => expect(live.status().state).toBe('open'), 10_000);
    breakConnections();
    await vi.waitFor(() => expect(live.status()).toEqual({ state: 'open', regained: 1 }), 10_000);
    expect(seen).toEqual(['connecting', 'open', 'lost', 'open']);
    subscription.unsubscribe();
  });
});
