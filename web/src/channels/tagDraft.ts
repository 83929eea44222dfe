import type { ChannelPatchInput, ListedChannelFragment } from '../generated/channels/channels.js';
import { isJsonObject, isPriority, isWeight } from './channelDraft.js';

/* What is changed for all channels of a tag. Empty and untouched stay as they are, channel by channel. */

export interface TagDraft {
  readonly tag: string;
  readonly models: readonly string[];
  readonly groups: readonly string[];
  readonly modelMapping: string;
  readonly priority: string;
  readonly weight: string;
}

/** Models and groups begin with what all channels of the tag have between them. */
export const tagDraftOf = (tag: string, channels: readonly ListedChannelFragment[]): TagDraft => ({
  tag,
  models: [...new Set(channels.flatMap(({ models }) => models))],
  groups: [...new Set(channels.flatMap(({ groups }) => groups))],
  modelMapping: '',
  priority: '',
  weight: '',
});

export type TagProblem = 'jsonInvalid' | 'priorityInvalid' | 'weightInvalid' | 'modelsMissing' | 'groupsMissing';
type TagProblems = Partial<Record<keyof TagDraft, TagProblem>>;

export function tagProblemsOf({ models, groups, modelMapping, priority, weight }: TagDraft): TagProblems {
  return {
    ...(models.length === 0 ? { models: 'modelsMissing' as const } : {}),
    ...(groups.length === 0 ? { groups: 'groupsMissing' as const } : {}),
    ...(isJsonObject(modelMapping) ? {} : { modelMapping: 'jsonInvalid' as const }),
    ...(priority === '' || isPriority(priority) ? {} : { priority: 'priorityInvalid' as const }),
    ...(weight === '' || isWeight(weight) ? {} : { weight: 'weightInvalid' as const }),
  };
}

const differ = (some: readonly string[], others: readonly string[]): boolean => some.join('\n') !== others.join('\n');

/** Empty: there is nothing to change. */
export function tagChanges(before: TagDraft, draft: TagDraft): ChannelPatchInput {
  const patch: ChannelPatchInput = {};
  const tag = draft.tag.trim();
  if (tag !== before.tag) patch.tag = tag === '' ? null : tag;
  if (differ(draft.models, before.models)) patch.models = [...draft.models];
  if (differ(draft.groups, before.groups)) patch.groups = [...draft.groups];
  if (draft.modelMapping.trim() !== '') patch.modelMapping = draft.modelMapping.trim();
  if (draft.priority.trim() !== '') patch.priority = Number(draft.priority);
  if (draft.weight.trim() !== '') patch.weight = Number(draft.weight);
  return patch;
}
