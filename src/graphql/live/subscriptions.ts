import { type ExecutionArgs, type FormattedExecutionResult, GraphQLError, getOperationAST } from 'graphql';
import { type Context, makeServer, type SubscribePayload } from 'graphql-ws';
import type { UpgradeRouter } from '../../http/upgrade-router.js';
import { graphqlSchema } from '../schema.js';
import { admit } from '../server/admission.js';
import { contextFor, type GraphqlCaller, type GraphqlOptions, sessionCredentialsIn } from '../server/context.js';
import { type Documents, InvalidDocument, openDocuments, withCode } from '../server/documents.js';
import { answerFor, RequestRefused } from '../server/errors.js';
import { graphqlPath } from '../server/routes.js';
import { payerOf, payFor } from '../server/work.js';
import { type LiveConnection, type LiveConnections, liveConnections } from './live-connections.js';
import type { SubscriptionContext } from './subscription-data.js';
import { type TaskWatch, watchTasks } from './task-watch.js';
import { type WalletWatch, watchWallets } from './wallet-watch.js';
import { type SocketExtra, serveWebSocket } from './websocket.js';

/* GraphQL over WebSocket: subscriptions only. Who connects is known before anything else is answered. */

/** Subscriptions one connection may hold; a page of the console has a handful. */
const maxPerConnection = 20;
/** Over all connections of a user: what happens is worked out and sent once for each of them. */
const maxPerUser = 40;

interface Connected extends SocketExtra {
  connection?: LiveConnection;
  caller?: GraphqlCaller;
  userId?: number;
}

type Connection = Context<Record<string, unknown>, Connected>;

interface Serving {
  readonly options: GraphqlOptions;
  readonly documents: Documents;
  readonly wallets: WalletWatch;
  readonly tasks: TaskWatch;
  /** By user id. */
  readonly connected: Map<number, Set<Connection>>;
}

/**
 * Attach before the server listens. `recheckMs`: how often connections whose session may have ended are looked at; a
 * user who is disabled, deleted or given another role is cut off at once. Resolves when all is closed.
 */
export function attachSubscriptions(
  upgrades: UpgradeRouter,
  options: GraphqlOptions,
  { recheckMs = 15_000 }: { readonly recheckMs?: number } = {},
): () => Promise<void> {
  const { application, log } = options;
  const connections = liveConnections(application, recheckMs, log);
  const wallets = watchWallets(application.tail);
  const tasks = watchTasks(application);
  const detach = serveWebSocket(upgrades, {
    path: graphqlPath,
    isWelcome: (request) => !options.origins.isForeign(request),
    addressOf: options.addressOf,
    protocol: subscriptionProtocol(
      { options, documents: openDocuments(graphqlSchema()), wallets, tasks, connected: new Map() },
      connections,
    ),
    log,
  });
  return async () => {
    connections.stop();
    await detach();
    wallets.stop();
    tasks.stop();
  };
}

function subscriptionProtocol(serving: Serving, connections: LiveConnections) {
  const { options, connected } = serving;
  const { log } = options;
  return makeServer<Record<string, unknown>, Connected>({
    async onConnect(context) {
      const { extra, connectionParams } = context;
      const { socket, request } = extra;
      const connection: LiveConnection = {
        credentials: sessionCredentialsIn(connectionParams?.authorization, request.headers.cookie),
        isOpen: () => socket.readyState === socket.OPEN,
        close: (code, reason) => socket.close(code, reason),
      };
      const caller = await connections.open(connection);
      if (caller === null) return false;
      extra.connection = connection;
      extra.caller = caller;
      const user = await caller.identified();
      if (user === null) return false;
      extra.userId = user.id;
      connected.set(user.id, (connected.get(user.id) ?? new Set()).add(context));
      return true;
    },
    async onSubscribe(connection, _id, payload) {
      try {
        return await executable(connection, payload, serving);
      } catch (error) {
        if (error instanceof InvalidDocument) return error.complaints;
        if (error instanceof GraphQLError) return [error];
        throw error;
      }
    },
    onNext: (_connection, _id, _payload, _args, { errors, ...result }): FormattedExecutionResult => ({
      ...result,
      ...(errors === undefined ? {} : { errors: errors.map((error) => answerFor(error, log)) }),
    }),
    onError: (_connection, _id, _payload, errors) => errors.map((error) => answerFor(error, log)),
    onClose(context) {
      const { connection, userId } = context.extra;
      if (connection !== undefined) connections.closed(connection);
      if (userId === undefined) return;
      const others = connected.get(userId);
      others?.delete(context);
      if (others?.size === 0) connected.delete(userId);
    },
  });
}

/** What to execute. Throws GraphQLError or InvalidDocument. */
async function executable(
  { extra: { caller, request, userId }, subscriptions }: Connection,
  { query, operationName, variables }: SubscribePayload,
  { options, documents, wallets, tasks, connected }: Serving,
): Promise<ExecutionArgs> {
  if (caller === undefined || userId === undefined)
    throw new Error('a subscription came before its connection was acknowledged');
  if (Object.keys(subscriptions).length > maxPerConnection)
    throw new RequestRefused('too-many-subscriptions', { allowed: maxPerConnection });
  const ofUser = [...(connected.get(userId) ?? [])].map((connection) => Object.keys(connection.subscriptions).length);
  if (ofUser.reduce((sum, count) => sum + count, 0) > maxPerUser)
    throw new RequestRefused('too-many-subscriptions', { allowed: maxPerUser });
  const address = options.addressOf(request);
  const payer = await payerOf(caller, address);
  const document = documents.read(query, (cost) => payFor(options.work, payer, cost));
  const operation = getOperationAST(document, operationName);
  if (!operation) throw withCode(new GraphQLError('Unknown operation'), 'OPERATION_RESOLUTION_FAILURE');
  if (operation.operation !== 'subscription') throw new RequestRefused('only-subscriptions-here');
  await admit({ document, operation, variables: variables ?? {}, caller, address }, options);
  const contextValue: SubscriptionContext = { ...contextFor(options, caller, address, null), wallets, tasks };
  return { schema: graphqlSchema(), document, operationName, variableValues: variables, contextValue };
}
