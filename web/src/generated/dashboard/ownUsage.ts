/* Generated from dashboard/ownUsage.graphql by npm run codegen. */
/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';
/** What a line of the usage log is about. */
export type LogType =
  | 'CONSUME'
  | 'ERROR'
  | 'MANAGE'
  | 'RECHARGE'
  | 'SYSTEM';

/** What is missing does not filter. */
export type UsageLogFilterInput = {
  apiKeyId?: string | null | undefined;
  apiKeyName?: string | null | undefined;
  /** For administrators. */
  channelId?: string | null | undefined;
  /** Inclusive. */
  from?: number | null | undefined;
  group?: string | null | undefined;
  /** A name, or a pattern in which % stands for anything. */
  model?: string | null | undefined;
  requestId?: string | null | undefined;
  /** Inclusive. */
  to?: number | null | undefined;
  type?: LogType | null | undefined;
  /** As the user is called now; only with `everyone`. */
  username?: string | null | undefined;
};

export type LiveBalanceSubscriptionVariables = Exact<{ [key: string]: never; }>;


export type LiveBalanceSubscription = { balance: { userId: string, available: number, usedQuota: number, requestCount: number } };

export type OwnLineFragment = { id: string, createdAt: number, type: LogType, model: string, apiKeyName: string, promptTokens: number, completionTokens: number, quota: number, isStream: boolean, useTimeMs: number, firstTokenMs: number | null };

export type OwnRecentUsageQueryVariables = Exact<{
  filter: UsageLogFilterInput;
  after?: string | null | undefined;
}>;


export type OwnRecentUsageQuery = { usageLog: { edges: Array<{ node: { id: string, createdAt: number, type: LogType, model: string, apiKeyName: string, promptTokens: number, completionTokens: number, quota: number, isStream: boolean, useTimeMs: number, firstTokenMs: number | null } }>, pageInfo: { startCursor: string, endCursor: string | null, hasNextPage: boolean } } };

export type OwnUsageFeedSubscriptionVariables = Exact<{
  after: string;
}>;


export type OwnUsageFeedSubscription = { usageFeed: { id: string, createdAt: number, type: LogType, model: string, apiKeyName: string, promptTokens: number, completionTokens: number, quota: number, isStream: boolean, useTimeMs: number, firstTokenMs: number | null } };

export const OwnLineFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"OwnLine"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"UsageLogLine"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"type"}},{"kind":"Field","name":{"kind":"Name","value":"model"}},{"kind":"Field","name":{"kind":"Name","value":"apiKeyName"}},{"kind":"Field","name":{"kind":"Name","value":"promptTokens"}},{"kind":"Field","name":{"kind":"Name","value":"completionTokens"}},{"kind":"Field","name":{"kind":"Name","value":"quota"}},{"kind":"Field","name":{"kind":"Name","value":"isStream"}},{"kind":"Field","name":{"kind":"Name","value":"useTimeMs"}},{"kind":"Field","name":{"kind":"Name","value":"firstTokenMs"}}]}}]} as unknown as DocumentNode<OwnLineFragment, unknown>;
export const LiveBalanceDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"subscription","name":{"kind":"Name","value":"LiveBalance"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"balance"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"userId"}},{"kind":"Field","name":{"kind":"Name","value":"available"}},{"kind":"Field","name":{"kind":"Name","value":"usedQuota"}},{"kind":"Field","name":{"kind":"Name","value":"requestCount"}}]}}]}}]} as unknown as DocumentNode<LiveBalanceSubscription, LiveBalanceSubscriptionVariables>;
export const OwnRecentUsageDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"OwnRecentUsage"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"filter"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"UsageLogFilterInput"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"usageLog"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"IntValue","value":"100"}},{"kind":"Argument","name":{"kind":"Name","value":"filter"},"value":{"kind":"Variable","name":{"kind":"Name","value":"filter"}}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"edges"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"node"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"OwnLine"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"pageInfo"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"startCursor"}},{"kind":"Field","name":{"kind":"Name","value":"endCursor"}},{"kind":"Field","name":{"kind":"Name","value":"hasNextPage"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"OwnLine"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"UsageLogLine"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"type"}},{"kind":"Field","name":{"kind":"Name","value":"model"}},{"kind":"Field","name":{"kind":"Name","value":"apiKeyName"}},{"kind":"Field","name":{"kind":"Name","value":"promptTokens"}},{"kind":"Field","name":{"kind":"Name","value":"completionTokens"}},{"kind":"Field","name":{"kind":"Name","value":"quota"}},{"kind":"Field","name":{"kind":"Name","value":"isStream"}},{"kind":"Field","name":{"kind":"Name","value":"useTimeMs"}},{"kind":"Field","name":{"kind":"Name","value":"firstTokenMs"}}]}}]} as unknown as DocumentNode<OwnRecentUsageQuery, OwnRecentUsageQueryVariables>;
export const OwnUsageFeedDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"subscription","name":{"kind":"Name","value":"OwnUsageFeed"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"usageFeed"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"OwnLine"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"OwnLine"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"UsageLogLine"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"type"}},{"kind":"Field","name":{"kind":"Name","value":"model"}},{"kind":"Field","name":{"kind":"Name","value":"apiKeyName"}},{"kind":"Field","name":{"kind":"Name","value":"promptTokens"}},{"kind":"Field","name":{"kind":"Name","value":"completionTokens"}},{"kind":"Field","name":{"kind":"Name","value":"quota"}},{"kind":"Field","name":{"kind":"Name","value":"isStream"}},{"kind":"Field","name":{"kind":"Name","value":"useTimeMs"}},{"kind":"Field","name":{"kind":"Name","value":"firstTokenMs"}}]}}]} as unknown as DocumentNode<OwnUsageFeedSubscription, OwnUsageFeedSubscriptionVariables>;