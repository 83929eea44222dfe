import { Arg, Authorized, Ctx, Field, ID, InputType, Int, Mutation, ObjectType, Resolver } from 'type-graphql';
import type { UpstreamDraft } from '../../application/channels/upstream-models.js';
import type { UserView } from '../../application/ports/storage-ports.js';
import type { UpstreamModel } from '../../application/ports/upstream-ports.js';
import type { Mode } from '../../domain/channel/provider.js';
import { ChannelId } from '../../domain/kernel/ids.js';
import { type GraphqlContext, Viewer } from '../server/context.js';
import { ModeEnum } from './channel-type.js';

@InputType({
  description: 'Where an upstream is, as a form has it that is not saved. What is left out is as the channel has it.',
})
class UpstreamDraftInput implements UpstreamDraft {
  @Field(() => Int, { nullable: true, description: 'Number of the channel type; without a channel it is needed.' })
  readonly type?: number;

  @Field(() => String, { nullable: true, description: "Empty: the provider's own." })
  readonly baseUrl?: string;

  @Field(() => String, { nullable: true })
  readonly other?: string;

  @Field(() => String, { nullable: true })
  readonly organization?: string | null;

  @Field(() => String, {
    nullable: true,
    description:
      'Of several lines the first is asked with. Empty: the stored one, if it is sent where it goes already.',
  })
  readonly key?: string;

  @Field(() => String, { nullable: true, description: 'May hold a user name and password; empty: none.' })
  readonly proxy?: string;
}

@ObjectType('UpstreamModel', { description: 'A model, as the list of an upstream has it.' })
class UpstreamModelObject implements UpstreamModel {
  @Field(() => String)
  readonly name!: string;

  @Field(() => [ModeEnum], {
    nullable: true,
    description: 'What it can be asked to do here. Empty: nothing. Null: the list does not say.',
  })
  readonly modes!: readonly Mode[] | null;
}

/** Spelled out, as all that comes in is. Where null cannot mean "none" it is as good as missing. */
const draftOf = (input: UpstreamDraftInput): UpstreamDraft => ({
  type: input.type ?? undefined,
  baseUrl: input.baseUrl ?? undefined,
  other: input.other ?? undefined,
  organization: input.organization,
  key: input.key ?? undefined,
  proxy: input.proxy ?? undefined,
});

/** An order that waits for an upstream. */
const heavy = 200;

@Resolver()
export class UpstreamModelsResolver {
  @Authorized('admin')
  @Mutation(() => [UpstreamModelObject], {
    complexity: heavy,
    description:
      'Asks an upstream which models it has, and changes nothing: as a channel has it, as it is being edited, or, without an `id`, as it is to become. A stored key is sent where it goes already and nowhere else.',
  })
  fetchUpstreamModels(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('id', () => ID, { nullable: true }) id?: string | null,
    @Arg('draft', () => UpstreamDraftInput, { nullable: true }) draft?: UpstreamDraftInput | null,
  ): Promise<readonly UpstreamModelObject[]> {
    const channel = id == null ? null : ChannelId(id);
    return application.channels.upstreamModels(viewer, channel, draft == null ? null : draftOf(draft));
  }
}
