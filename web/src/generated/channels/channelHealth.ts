/* Generated from channels/channelHealth.graphql by npm run codegen. */
/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';
/** What happened to a channel. */
export type ChannelChangeKind =
  | 'ADDED'
  | 'DISABLED'
  | 'EDITED'
  | 'ENABLED'
  | 'REMOVED'
  | 'TESTED';

/** Whether a channel serves calls. */
export type ChannelStatus =
  | 'AUTO_DISABLED'
  | 'DISABLED'
  | 'ENABLED';

export type ChannelHealthStateFragment = { id: string, name: string, status: ChannelStatus, statusReason: string, statusTime: number | null, responseTimeMs: number, testedAt: number | null };

export type ChannelHealthSubscriptionVariables = Exact<{ [key: string]: never; }>;


export type ChannelHealthSubscription = { channelHealth: { kind: ChannelChangeKind, at: number, channelId: string, automatic: boolean | null, ok: boolean | null, reason: string | null, responseTimeMs: number | null, channel: { id: string, name: string, status: ChannelStatus, statusReason: string, statusTime: number | null, responseTimeMs: number, testedAt: number | null } | null } };

export const ChannelHealthStateFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"ChannelHealthState"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Channel"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"statusReason"}},{"kind":"Field","name":{"kind":"Name","value":"statusTime"}},{"kind":"Field","name":{"kind":"Name","value":"responseTimeMs"}},{"kind":"Field","name":{"kind":"Name","value":"testedAt"}}]}}]} as unknown as DocumentNode<ChannelHealthStateFragment, unknown>;
export const ChannelHealthDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"subscription","name":{"kind":"Name","value":"ChannelHealth"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"channelHealth"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"kind"}},{"kind":"Field","name":{"kind":"Name","value":"at"}},{"kind":"Field","name":{"kind":"Name","value":"channelId"}},{"kind":"Field","name":{"kind":"Name","value":"automatic"}},{"kind":"Field","name":{"kind":"Name","value":"ok"}},{"kind":"Field","name":{"kind":"Name","value":"reason"}},{"kind":"Field","name":{"kind":"Name","value":"responseTimeMs"}},{"kind":"Field","name":{"kind":"Name","value":"channel"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"ChannelHealthState"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"ChannelHealthState"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Channel"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"statusReason"}},{"kind":"Field","name":{"kind":"Name","value":"statusTime"}},{"kind":"Field","name":{"kind":"Name","value":"responseTimeMs"}},{"kind":"Field","name":{"kind":"Name","value":"testedAt"}}]}}]} as unknown as DocumentNode<ChannelHealthSubscription, ChannelHealthSubscriptionVariables>;