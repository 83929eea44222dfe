import { ApolloLink } from '@apollo/client';
import { print } from '@apollo/client/utilities';
import type { Client } from 'graphql-ws/client';
import { Observable, retry, throwError, timer } from 'rxjs';
import { waitBefore } from './kit/live/liveConnection.js';

declare module '@apollo/client' {
  interface DefaultContext {
    /**
     * Variables a subscription is asked with from now on, over its own ones: asked for at every new connection, so that
     * a feed goes on after the last thing it delivered: `() => ({ after: newest.current })`.
     */
    resumeWith?: () => Readonly<Record<string, unknown>>;
  }
}

const unauthorized = 4401;

/** The client gives up at close codes it takes for final; the server sends some of them when its database stumbles. */
const mayComeBack = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && 'reason' in error && error.code !== unauthorized;

/** Subscriptions over the WebSocket. Refusals arrive as a list of GraphQL errors. */
export const subscriptionLink = (client: Client): ApolloLink =>
  new ApolloLink((operation) => {
    const { query, variables, operationName } = operation;
    const resumeWith = operation.getContext().resumeWith as (() => Readonly<Record<string, unknown>>) | undefined;
    const payload = {
      query: print(query),
      operationName,
      // The client sends this very object again at every reconnection.
      get variables() {
        return { ...variables, ...resumeWith?.() };
      },
    };
    return new Observable<ApolloLink.Result>((observer) =>
      client.subscribe(payload, {
        next: (result) => observer.next(result as ApolloLink.Result),
        error: (error) => observer.error(Array.isArray(error) ? refusedWith(error) : error),
        complete: () => observer.complete(),
      }),
    ).pipe(
      retry({
        delay: (error: unknown, count) => (mayComeBack(error) ? timer(waitBefore(count)) : throwError(() => error)),
      }),
    );
  });

/** Apollo wants errors to be errors; the refusal's code goes along. */
function refusedWith(errors: readonly unknown[]): Error {
  const [first] = errors as readonly { readonly message?: string; readonly extensions?: object }[];
  return Object.assign(new Error(first?.message ?? ''), { extensions: first?.extensions });
}
