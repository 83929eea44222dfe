import { ArrayMaxSize } from 'class-validator';
import {
  Arg,
  Args,
  ArgsType,
  Authorized,
  Ctx,
  Field,
  ID,
  Int,
  Mutation,
  ObjectType,
  Query,
  Resolver,
} from 'type-graphql';
import type { UserView } from '../../application/ports/storage-ports.js';
import { type FileFault, maxFileBytes, maxFileChannels } from '../../domain/channel/channel-file.js';
import { ChannelId } from '../../domain/kernel/ids.js';
import { type GraphqlContext, Viewer } from '../server/context.js';

@ArgsType()
class ExportChannelsArgs {
  @Field(() => [ID], { nullable: true, description: `At most ${maxFileChannels}; left out: all there are.` })
  @ArrayMaxSize(maxFileChannels)
  readonly ids?: string[] | null;
}

@ObjectType('ChannelFileFault', { description: 'What is wrong in a file of channels.' })
class ChannelFileFault implements FileFault {
  @Field(() => Int, { description: 'Which of the channels, from 1.' })
  readonly row!: number;

  @Field(() => String)
  readonly field!: string;

  @Field(() => String, { description: 'What is allowed there, in words.' })
  readonly allowed!: string;
}

@ObjectType({ description: 'What came of a file of channels: all of them, or all that is wrong with it.' })
class ChannelsImported {
  @Field(() => [ID])
  readonly ids!: readonly ChannelId[];

  @Field(() => [ChannelFileFault])
  readonly faults!: readonly FileFault[];
}

/** An order over many channels. */
const heavy = 200;

@Resolver()
export class ChannelFileResolver {
  @Authorized('admin')
  @Query(() => String, { complexity: heavy, description: 'Channels as JSON, without keys and proxies.' })
  exportChannels(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Args(() => ExportChannelsArgs) { ids }: ExportChannelsArgs,
  ): string {
    return application.channels.exportChannels(viewer, ids?.map(ChannelId) ?? null);
  }

  @Authorized('admin')
  @Mutation(() => ChannelsImported, {
    complexity: heavy,
    description:
      'Adds the channels of a file, all or none. They are switched off, and cannot be switched on before they have a key.',
  })
  async importChannels(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('file', () => String, { description: `As exported; at most ${maxFileBytes} bytes.` }) file: string,
  ): Promise<ChannelsImported> {
    const { ids, faults, position } = await application.channels.importChannels(viewer, file);
    await application.visible(position);
    return { ids, faults };
  }
}
