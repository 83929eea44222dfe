/* Functions and lists of parameters that are longer than they should be. Nothing is added here. */

export const longFunctions: readonly string[] = [
  'adapters/sign-in/sessions.ts postgresSessions',
  'adapters/sign-in/tickets.ts postgresTickets',
  'adapters/vault/personal-data.ts postgresPersonalData',
  'graphql/live/live-connections.ts liveConnections',
  'identity-providers/oidc.ts oidc',
  'payments/stripe.ts stripe',
  'projections/models/ledger/ledger-facts.ts take',
  'rest-compat/channel-bulk.ts channelBulkEndpoints',
  'rest-compat/channel.ts channelEndpoints',
  'rest-compat/log.ts logEndpoints',
  'rest-compat/oauth.ts oauthEndpoints',
  'rest-compat/registration.ts registrationEndpoints',
  'rest-compat/token.ts tokenEndpoints',
  'rest-compat/user-admin.ts userAdminEndpoints',
  'rest-compat/user.ts userEndpoints',
];

export const longParameterLists: readonly string[] = [
  'adapters/event-log/encoded-event.ts EncodedEvent.constructor',
  'graphql/live/subscriptions.ts onNext',
  'graphql/server/texts.ts [Kind.STRING]',
  'projections/models/usage-stats/usage-stats.ts add',
  'rest-compat/wire/endpoints.ts guarded',
];
