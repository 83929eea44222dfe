import { InMemoryCache } from '@apollo/client';
import { usageLogPages } from './usageLogPages.js';

/** Objects are kept once, by type and id, so that a mutation's answer updates every place that shows them. */
export const consoleCache = (): InMemoryCache =>
  new InMemoryCache({
    possibleTypes: {
      LogDetail: [
        'AdjustmentDetail',
        'ApiKeyRevokedDetail',
        'ChannelTestDetail',
        'GrantDetail',
        'RedemptionDetail',
        'ReleaseDetail',
        'TaskRefundDetail',
        'CorrectionDetail',
        'TopUpDetail',
        'TopUpReturnDetail',
      ],
      Price: ['CallPrice', 'TokenPrice'],
    },
    typePolicies: {
      Query: {
        fields: {
          usageLog: usageLogPages,
          channel: {
            read: (known, { args, toReference }) => known ?? toReference({ __typename: 'Channel', id: args?.id }),
          },
          apiKey: {
            read: (known, { args, toReference }) => known ?? toReference({ __typename: 'ApiKey', id: args?.id }),
          },
          task: { read: (known, { args, toReference }) => known ?? toReference({ __typename: 'Task', id: args?.id }) },
          user: { read: (known, { args, toReference }) => known ?? toReference({ __typename: 'User', id: args?.id }) },
        },
      },
      Status: { keyFields: [] },
      Security: { keyFields: [] },
      Traffic: { keyFields: [] },
      TrafficFigures: { merge: true },
      Balance: { keyFields: ['userId'] },
      // A list asks for less of a line than who opens it; what is known of its parts stays known.
      UsageLogLine: { fields: { detail: { merge: true }, price: { merge: true } } },
      ChannelTag: { keyFields: ['tag'] },
      ChannelType: { keyFields: ['type'] },
      Option: { keyFields: ['key'] },
      UsableGroup: { keyFields: ['name'] },
    },
  });
