import { ArrayMaxSize } from 'class-validator';
import {
  Arg,
  Args,
  ArgsType,
  Authorized,
  Ctx,
  Field,
  InputType,
  Mutation,
  ObjectType,
  Query,
  Resolver,
} from 'type-graphql';
import type { UserView } from '../../application/ports.js';
import { beginning, type Position } from '../../domain/events.js';
import { Failure } from '../../domain/failure.js';
import { hasEffect } from '../../domain/option-table.js';
import { type GraphqlContext, Viewer } from '../server/context.js';
import { maxPageSize } from '../server/page.js';

interface OptionText {
  readonly key: string;
  readonly value: string | null;
}

@ObjectType({ description: 'A value the operator configures the gateway with.' })
class Option implements OptionText {
  @Field(() => String)
  readonly key!: string;

  @Field(() => Boolean, { description: 'Whether this version asks for it; others are kept for clients that set them.' })
  hasEffect(): boolean {
    return hasEffect(this.key);
  }

  @Field(() => String, { nullable: true, description: 'null: a secret. It can be replaced, never read.' })
  readonly value!: string | null;
}

@InputType()
class OptionInput {
  @Field(() => String)
  readonly key!: string;

  @Field(() => String)
  readonly value!: string;
}

@ArgsType()
class ChangeOptionsArgs {
  @Field(() => [OptionInput], { description: `At most ${maxPageSize}.` })
  @ArrayMaxSize(maxPageSize)
  readonly changes!: OptionInput[];
}

@ObjectType({ description: 'An option that keeps its value, and why.' })
class RefusedOption {
  @Field(() => String)
  readonly key!: string;

  @Field(() => String, { description: 'The failure code.' })
  readonly code!: string;

  @Field(() => String, { nullable: true, description: 'What would be allowed.' })
  readonly allowed!: string | null;
}

@ObjectType()
class ChangedOptions {
  @Field(() => [Option])
  readonly changed!: readonly OptionText[];

  @Field(() => [RefusedOption])
  readonly refused!: readonly RefusedOption[];
}

/** What is refused is called by its name, as far as that can be one. */
const longestKey = 100;

@Resolver()
export class OptionResolver {
  @Authorized('root')
  @Query(() => [Option], { description: 'Every option and its effective value, sorted by key; secrets are left out.' })
  options(@Ctx() { application }: GraphqlContext, @Viewer() viewer: UserView): readonly OptionText[] {
    return application.options.list(viewer);
  }

  @Authorized('root')
  @Mutation(() => Option)
  async changeOption(
    @Ctx() context: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('key', () => String) key: string,
    @Arg('value', () => String) value: string,
  ): Promise<OptionText> {
    const { application } = context;
    await application.visible(await application.options.change(viewer, key, value));
    return effective(context, viewer, key);
  }

  @Authorized('root')
  @Mutation(() => ChangedOptions, {
    description: 'In the order given; one that is refused does not hold up the others.',
  })
  async changeOptions(
    @Ctx() context: GraphqlContext,
    @Viewer() viewer: UserView,
    @Args(() => ChangeOptionsArgs) { changes }: ChangeOptionsArgs,
  ): Promise<ChangedOptions> {
    const { application } = context;
    const keys: string[] = [];
    const refused: RefusedOption[] = [];
    let newest: Position = beginning;
    for (const { key, value } of changes) {
      try {
        const position = await application.options.change(viewer, key, value);
        if (position > newest) newest = position;
        keys.push(key);
      } catch (error) {
        if (!(error instanceof Failure) || error.kind === 'unavailable') throw error;
        const { allowed } = error.details;
        refused.push({
          key: key.slice(0, longestKey),
          code: error.code,
          allowed: allowed === undefined ? null : String(allowed),
        });
      }
    }
    await application.visible(newest);
    return { changed: [...new Set(keys)].map((key) => effective(context, viewer, key)), refused };
  }

  @Authorized('root')
  @Mutation(() => Option, { description: 'Model ratios back to the built-in ones.' })
  async resetModelRatios(@Ctx() context: GraphqlContext, @Viewer() viewer: UserView): Promise<OptionText> {
    const { application } = context;
    await application.visible(await application.options.reset(viewer, 'ModelRatio'));
    return effective(context, viewer, 'ModelRatio');
  }
}

const effective = ({ application }: GraphqlContext, viewer: UserView, key: string): OptionText =>
  application.options.list(viewer).find((option) => option.key === key) ?? { key, value: null };
