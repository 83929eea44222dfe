import type { IncomingMessage, Server } from 'node:http';
import {
  type DocumentNode,
  type ExecutionArgs,
  type FormattedExecutionResult,
  GraphQLError,
  getOperationAST,
  parse,
  specifiedRules,
  validate,
} from 'graphql';
import { type Context, makeServer, type SubscribePayload } from 'graphql-ws';
import { admit, maxTokens } from './admission.js';
import { type Caller, contextFor, credentialsIn, type GraphqlOptions } from './context.js';
import { answerFor, RequestRefused } from './errors.js';
import { type LiveConnection, type LiveConnections, liveConnections } from './live-connections.js';
import { graphqlPath } from './routes.js';
import { graphqlSchema } from './schema.js';
import type { SubscriptionContext } from './subscription-data.js';
import { type WalletWatch, watchWallets } from './wallet-watch.js';
import { type SocketExtra, serveWebSocket } from './websocket.js';

/* GraphQL over WebSocket: subscriptions only. Who connects is known before anything else is answered. */

/** Subscriptions one connection may hold; a page of the console has a handful. */
const mostPerConnection = 50;
const maxErrors = 20;

interface Connected extends SocketExtra {
  connection?: LiveConnection;
  caller?: Caller;
}

type Connection = Context<Record<string, unknown>, Connected>;

/**
 * Attach before the server listens. `recheckMs`: how often connections whose session may have ended are looked at; a
 * user who is disabled, deleted or given another role is cut off at once. Resolves when all is closed.
 */
export function attachSubscriptions(
  server: Server,
  options: GraphqlOptions,
  { recheckMs = 15_000 }: { readonly recheckMs?: number } = {},
): () => Promise<void> {
  const { application, log } = options;
  const connections = liveConnections(application, recheckMs, log);
  const wallets = watchWallets(application.tail);
  const detach = serveWebSocket(server, {
    path: graphqlPath,
    isWelcome: (request) => isOwnPage(request, application.directory.settings().text('ServerAddress')),
    protocol: subscriptionProtocol(options, connections, wallets),
    log,
  });
  return async () => {
    connections.stop();
    await detach();
    wallets.stop();
  };
}

/** Browsers say whose page asks; programs say nothing, and bring no cookie by themselves. */
function isOwnPage({ headers: { origin, host } }: IncomingMessage, publicAddress: string): boolean {
  if (origin === undefined) return true;
  const asking = hostOf(origin);
  // Behind a proxy that renames the host, the operator's own word counts.
  return asking !== null && (asking === host || asking === hostOf(publicAddress));
}

const hostOf = (address: string): string | null => (URL.canParse(address) ? new URL(address).host : null);

function subscriptionProtocol(options: GraphqlOptions, connections: LiveConnections, wallets: WalletWatch) {
  const { log } = options;
  return makeServer<Record<string, unknown>, Connected>({
    async onConnect({ extra, connectionParams }) {
      const { socket, request } = extra;
      const connection: LiveConnection = {
        credentials: credentialsIn(connectionParams?.authorization, request.headers.cookie),
        isOpen: () => socket.readyState === socket.OPEN,
        close: (code, reason) => socket.close(code, reason),
      };
      const caller = await connections.open(connection);
      if (caller === null) return false;
      extra.connection = connection;
      extra.caller = caller;
      return true;
    },
    async onSubscribe(connection, _id, payload) {
      try {
        return await executable(connection, payload, options, wallets);
      } catch (error) {
        if (error instanceof GraphQLError) return [error];
        throw error;
      }
    },
    onNext: (_connection, _id, _payload, _args, { errors, ...result }): FormattedExecutionResult => ({
      ...result,
      ...(errors === undefined ? {} : { errors: errors.map((error) => answerFor(error, log)) }),
    }),
    onError: (_connection, _id, _payload, errors) => errors.map((error) => answerFor(error, log)),
    onClose({ extra }) {
      if (extra.connection !== undefined) connections.closed(extra.connection);
    },
  });
}

/** What to execute. Throws GraphQLError, or answers with several. */
async function executable(
  { extra: { caller }, subscriptions }: Connection,
  { query, operationName, variables }: SubscribePayload,
  options: GraphqlOptions,
  wallets: WalletWatch,
): Promise<ExecutionArgs | readonly GraphQLError[]> {
  if (caller === undefined) throw new Error('a subscription came before its connection was acknowledged');
  if (Object.keys(subscriptions).length > mostPerConnection)
    throw new RequestRefused('too-many-subscriptions', { allowed: mostPerConnection });
  const schema = graphqlSchema();
  const document = parsed(query);
  const wrong = validate(schema, document, specifiedRules, { maxErrors });
  if (wrong.length > 0) return wrong.map((error) => withCode(error, 'GRAPHQL_VALIDATION_FAILED'));
  const operation = getOperationAST(document, operationName);
  if (!operation) throw withCode(new GraphQLError('Unknown operation'), 'OPERATION_RESOLUTION_FAILURE');
  if (operation.operation !== 'subscription') throw new RequestRefused('only-subscriptions-here');
  await admit({ document, operation, variables: variables ?? {}, caller }, options);
  const contextValue: SubscriptionContext = { ...contextFor(options, caller, null), wallets };
  return { schema, document, operationName, variableValues: variables, contextValue };
}

function parsed(query: string): DocumentNode {
  try {
    return parse(query, { maxTokens });
  } catch (error) {
    if (error instanceof GraphQLError) throw withCode(error, 'GRAPHQL_PARSE_FAILED');
    throw error;
  }
}

const withCode = ({ message, nodes, source, positions }: GraphQLError, code: string): GraphQLError =>
  new GraphQLError(message, { nodes, source, positions, extensions: { code } });
