import { ArrayMaxSize } from 'class-validator';
import { Arg, Args, ArgsType, Authorized, Ctx, Field, Float, ID, Mutation, ObjectType, Resolver } from 'type-graphql';
import type { UserView } from '../../application/ports/storage-ports.js';
import type { Position } from '../../domain/events/events.js';
import { ChannelId } from '../../domain/kernel/ids.js';
import type { ChannelRow } from '../../projections/models/channels.js';
import { type GraphqlContext, Viewer } from '../server/context.js';
import { maxPageSize } from '../server/page.js';
import { ChannelObject } from './channel.js';
import { ChannelPatchInput, NewChannelInput, newChannelOf, patchOf } from './channel-input.js';

@ArgsType()
class ChannelIdsArgs {
  @Field(() => [ID], { description: `At most ${maxPageSize}.` })
  @ArrayMaxSize(maxPageSize)
  readonly ids!: string[];
}

@ArgsType()
class EditChannelsArgs extends ChannelIdsArgs {
  @Field(() => ChannelPatchInput)
  readonly patch!: ChannelPatchInput;
}

@ObjectType({ description: 'How one small request to a channel went.' })
class ChannelTest {
  @Field(() => Boolean)
  readonly ok!: boolean;

  @Field(() => String, { description: 'Why not; empty when it went well.' })
  readonly message!: string;

  @Field(() => Float)
  readonly seconds!: number;

  @Field(() => ChannelObject)
  readonly channel!: ChannelRow;
}

/** An order over many channels, or one that waits for an upstream. */
const heavy = 200;

@Resolver()
export class ChannelCommandResolver {
  @Authorized('admin')
  @Mutation(() => [ChannelObject], { complexity: heavy })
  async addChannels(
    @Ctx() context: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('input', () => NewChannelInput) input: NewChannelInput,
  ): Promise<readonly ChannelRow[]> {
    const { ids, position } = await context.application.channels.add(viewer, newChannelOf(input));
    return written(context, viewer, ids, position);
  }

  @Authorized('admin')
  @Mutation(() => ChannelObject)
  async editChannel(
    @Ctx() context: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('id', () => ID) rawId: string,
    @Arg('patch', () => ChannelPatchInput) patch: ChannelPatchInput,
  ): Promise<ChannelRow> {
    const id = ChannelId(rawId);
    await context.application.visible(await context.application.channels.edit(viewer, id, patchOf(patch)));
    return context.application.queries.channel(viewer, id);
  }

  @Authorized('admin')
  @Mutation(() => [ChannelObject], { complexity: heavy })
  async editChannels(
    @Ctx() context: GraphqlContext,
    @Viewer() viewer: UserView,
    @Args(() => EditChannelsArgs) { ids: rawIds, patch }: EditChannelsArgs,
  ): Promise<readonly ChannelRow[]> {
    const ids = rawIds.map(ChannelId);
    return written(context, viewer, ids, await context.application.channels.editMany(viewer, ids, patchOf(patch)));
  }

  @Authorized('admin')
  @Mutation(() => ChannelObject)
  async setChannelEnabled(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('id', () => ID) rawId: string,
    @Arg('enabled', () => Boolean) enabled: boolean,
  ): Promise<ChannelRow> {
    const id = ChannelId(rawId);
    await application.visible(await application.channels.setEnabled(viewer, id, enabled));
    return application.queries.channel(viewer, id);
  }

  @Authorized('admin')
  @Mutation(() => [ID], {
    complexity: heavy,
    description: 'Answers with the ids of what is gone, there or not before.',
  })
  async deleteChannels(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Args(() => ChannelIdsArgs) { ids: rawIds }: ChannelIdsArgs,
  ): Promise<readonly ChannelId[]> {
    const ids = rawIds.map(ChannelId);
    await application.visible(await application.channels.remove(viewer, ids));
    return ids;
  }

  @Authorized('admin')
  @Mutation(() => [ID], { complexity: heavy, description: 'Every channel that is switched off, by hand or not.' })
  async deleteDisabledChannels(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
  ): Promise<readonly ChannelId[]> {
    const { ids, position } = await application.channels.removeDisabled(viewer);
    await application.visible(position);
    return ids;
  }

  @Authorized('admin')
  @Mutation(() => [ChannelObject], { complexity: heavy, description: 'Edits every channel of a tag.' })
  async editTag(
    @Ctx() context: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('tag', () => String) tag: string,
    @Arg('patch', () => ChannelPatchInput) patch: ChannelPatchInput,
  ): Promise<readonly ChannelRow[]> {
    const ids = context.application.channels.tagged(tag);
    return written(context, viewer, ids, await context.application.channels.editMany(viewer, ids, patchOf(patch)));
  }

  @Authorized('admin')
  @Mutation(() => [ChannelObject], { complexity: heavy, description: 'Switches every channel of a tag.' })
  async setTagEnabled(
    @Ctx() context: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('tag', () => String) tag: string,
    @Arg('enabled', () => Boolean) enabled: boolean,
  ): Promise<readonly ChannelRow[]> {
    const ids = context.application.channels.tagged(tag);
    return written(context, viewer, ids, await context.application.channels.setTagEnabled(viewer, tag, enabled));
  }

  @Authorized('admin')
  @Mutation(() => ChannelTest, { complexity: heavy, description: 'Sends one small request, charging nobody.' })
  async testChannel(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('id', () => ID) rawId: string,
    @Arg('model', () => String, { defaultValue: '', description: 'Empty: its test model, else its first.' })
    model: string,
  ): Promise<ChannelTest> {
    const id = ChannelId(rawId);
    const { ok, message, seconds, position } = await application.channels.test(viewer, id, model);
    await application.visible(position);
    return { ok, message, seconds, channel: await application.queries.channel(viewer, id) };
  }
}

/** The channels after a change, in the order given; whoever has been removed meanwhile is not among them. */
async function written(
  { application }: GraphqlContext,
  viewer: UserView,
  ids: readonly ChannelId[],
  position: Position,
): Promise<readonly ChannelRow[]> {
  await application.visible(position);
  return application.queries.channelsById(viewer, ids);
}
