import { ApolloClient, ApolloLink, HttpLink } from '@apollo/client';
import { SetContextLink } from '@apollo/client/link/context';
import { ErrorLink } from '@apollo/client/link/error';
import { getMainDefinition } from '@apollo/client/utilities';
import { consoleCache } from './consoleCache.js';
import { type LiveConnection, openLiveConnection } from './kit/live/liveConnection.js';
import { toaster } from './kit/Toasts.js';
import { errorText, isSessionLost } from './kit/words/errors.js';
import { currentLanguage } from './kit/words/i18n.js';
import { subscriptionLink } from './subscriptionLink.js';

declare module '@apollo/client' {
  interface DefaultContext {
    /**
     * Where an error of this operation is shown. `toast` is what mutations do by themselves; `inline`, the rule for
     * queries and subscriptions, leaves it to the component that asked.
     */
    errors?: 'toast' | 'inline';
  }
}

const graphqlPath = '/graphql';

interface ConsoleClient {
  readonly client: ApolloClient;
  readonly live: LiveConnection;
}

/** `onSessionLost`: the server no longer knows who is asking; called at most once for a page that is being left. */
export function openConsoleClient({ onSessionLost }: { readonly onSessionLost: () => void }): ConsoleClient {
  const address = new URL(graphqlPath, window.location.href);
  address.protocol = address.protocol.replace('http', 'ws');
  const live = openLiveConnection(address.href, onSessionLost);

  const report = new ErrorLink(({ error, operation }) => {
    if (isSessionLost(error)) return onSessionLost();
    const { operation: kind } = operationOf(operation);
    const shownAs = operation.getContext().errors ?? (kind === 'mutation' ? 'toast' : 'inline');
    if (shownAs === 'toast') toaster.failure(errorText(error));
  });
  const http = new HttpLink({
    uri: graphqlPath,
    credentials: 'same-origin',
    headers: { 'x-tallygate-client': 'console' },
  });
  // Mails are in the language that is shown here, whatever the browser prefers.
  const inLanguage = new SetContextLink(({ headers }) => ({
    headers: { ...headers, 'accept-language': currentLanguage() },
  }));
  const transport = ApolloLink.split(
    (operation) => operationOf(operation).operation === 'subscription',
    subscriptionLink(live.client),
    inLanguage.concat(http),
  );
  const client = new ApolloClient({ link: ApolloLink.from([report, transport]), cache: consoleCache() });
  return { client, live };
}

function operationOf({ query }: ApolloLink.Operation) {
  const definition = getMainDefinition(query);
  if (definition.kind !== 'OperationDefinition') throw new Error('a document without an operation was sent');
  return definition;
}
