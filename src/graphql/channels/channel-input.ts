import { Field, InputType, Int } from 'type-graphql';
import type { ChannelPatch } from '../../application/channels/edit-channels.js';
import type { ChannelSettings } from '../../domain/channel/channel-settings.js';
import { SafeIntScalar } from '../server/scalars.js';

/* What an administrator says about a channel. Key and proxy go to the vault and are never read back. */

@InputType()
export class NewChannelInput implements ChannelSettings {
  @Field(() => String)
  readonly name!: string;

  @Field(() => Int, { description: 'Number of the channel type.' })
  readonly type!: number;

  @Field(() => String, { description: 'One channel is added per line, all else equal.' })
  readonly key!: string;

  @Field(() => [String])
  readonly models!: string[];

  @Field(() => [String], { defaultValue: ['default'] })
  readonly groups!: string[];

  @Field(() => String, { defaultValue: '', description: "Empty: the provider's own." })
  readonly baseUrl!: string;

  @Field(() => SafeIntScalar, { defaultValue: 0 })
  readonly priority!: number;

  @Field(() => SafeIntScalar, { defaultValue: 0 })
  readonly weight!: number;

  @Field(() => String, { nullable: true, defaultValue: null })
  readonly tag!: string | null;

  @Field(() => String, { nullable: true, defaultValue: null, description: 'JSON: requested name → upstream name.' })
  readonly modelMapping!: string | null;

  @Field(() => String, { defaultValue: '', description: 'JSON: upstream status → answered status.' })
  readonly statusCodeMapping!: string;

  @Field(() => String, { nullable: true, defaultValue: null, description: 'JSON: members put into every request.' })
  readonly paramOverride!: string | null;

  @Field(() => String, {
    nullable: true,
    defaultValue: null,
    description: 'JSON: further settings, without the proxy.',
  })
  readonly setting!: string | null;

  @Field(() => String, { defaultValue: '', description: 'Address of a proxy; may hold a user name and password.' })
  readonly proxy!: string;

  @Field(() => String, { defaultValue: '' })
  readonly other!: string;

  @Field(() => String, { nullable: true, defaultValue: null })
  readonly organization!: string | null;

  @Field(() => String, { nullable: true, defaultValue: null })
  readonly testModel!: string | null;

  @Field(() => Boolean, { defaultValue: true })
  readonly autoBan!: boolean;

  @Field(() => SafeIntScalar, { defaultValue: 0 })
  readonly maxInputTokens!: number;

  @Field(() => Boolean, { defaultValue: true })
  readonly enabled!: boolean;
}

@InputType({ description: 'What is missing stays as it is; null empties what can be empty.' })
export class ChannelPatchInput implements Partial<ChannelSettings> {
  @Field(() => String, { nullable: true })
  readonly name?: string;

  @Field(() => Int, { nullable: true })
  readonly type?: number;

  @Field(() => String, { nullable: true, description: 'The new upstream key, whole.' })
  readonly key?: string;

  @Field(() => [String], { nullable: true })
  readonly models?: string[];

  @Field(() => [String], { nullable: true })
  readonly groups?: string[];

  @Field(() => String, { nullable: true })
  readonly baseUrl?: string;

  @Field(() => SafeIntScalar, { nullable: true })
  readonly priority?: number;

  @Field(() => SafeIntScalar, { nullable: true })
  readonly weight?: number;

  @Field(() => String, { nullable: true })
  readonly tag?: string | null;

  @Field(() => String, { nullable: true })
  readonly modelMapping?: string | null;

  @Field(() => String, { nullable: true })
  readonly statusCodeMapping?: string;

  @Field(() => String, { nullable: true })
  readonly paramOverride?: string | null;

  @Field(() => String, { nullable: true })
  readonly setting?: string | null;

  @Field(() => String, { nullable: true, description: 'Empty or null: none.' })
  readonly proxy?: string | null;

  @Field(() => String, { nullable: true })
  readonly other?: string;

  @Field(() => String, { nullable: true })
  readonly organization?: string | null;

  @Field(() => String, { nullable: true })
  readonly testModel?: string | null;

  @Field(() => Boolean, { nullable: true })
  readonly autoBan?: boolean;

  @Field(() => SafeIntScalar, { nullable: true })
  readonly maxInputTokens?: number;

  @Field(() => Boolean, { nullable: true })
  readonly enabled?: boolean;
}

/** Spelled out: what the input grows next must not slip into an event unseen. */
export const newChannelOf = (input: NewChannelInput) => ({
  settings: {
    name: input.name,
    type: input.type,
    baseUrl: input.baseUrl,
    models: input.models,
    groups: input.groups,
    priority: input.priority,
    weight: input.weight,
    tag: input.tag,
    modelMapping: input.modelMapping,
    statusCodeMapping: input.statusCodeMapping,
    paramOverride: input.paramOverride,
    setting: input.setting,
    other: input.other,
    organization: input.organization,
    testModel: input.testModel,
    autoBan: input.autoBan,
    maxInputTokens: input.maxInputTokens,
  } satisfies ChannelSettings,
  key: input.key,
  proxy: input.proxy,
  enabled: input.enabled,
});

/** Where null can mean "none" it does; elsewhere it is as good as missing. */
export const patchOf = (input: ChannelPatchInput): ChannelPatch => ({
  settings: {
    name: input.name ?? undefined,
    type: input.type ?? undefined,
    baseUrl: input.baseUrl ?? undefined,
    models: input.models ?? undefined,
    groups: input.groups ?? undefined,
    priority: input.priority ?? undefined,
    weight: input.weight ?? undefined,
    tag: input.tag,
    modelMapping: input.modelMapping,
    statusCodeMapping: input.statusCodeMapping ?? undefined,
    paramOverride: input.paramOverride,
    setting: input.setting,
    other: input.other ?? undefined,
    organization: input.organization,
    testModel: input.testModel,
    autoBan: input.autoBan ?? undefined,
    maxInputTokens: input.maxInputTokens ?? undefined,
  },
  key: input.key ?? undefined,
  proxy: input.proxy === null ? '' : input.proxy,
  enabled: input.enabled ?? undefined,
});
