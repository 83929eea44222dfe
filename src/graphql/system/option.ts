import { ArrayMaxSize } from 'class-validator';
import {
  Arg,
  Args,
  ArgsType,
  Authorized,
  Ctx,
  Field,
  InputType,
  Int,
  Mutation,
  ObjectType,
  Query,
  Resolver,
} from 'type-graphql';
import type { OptionView } from '../../application/options/option-commands.js';
import type { UserView } from '../../application/ports/storage-ports.js';
import { beginning, latestOf, Position } from '../../domain/events/events.js';
import { Failure, invalidField } from '../../domain/kernel/failure.js';
import {
  type Fixed,
  fixedBecause,
  hasEffect,
  isSecretOption,
  type OptionDefinition,
  optionDefinition,
  prerequisiteOf,
} from '../../domain/options/option-table.js';
import { maxOptionLength } from '../../domain/options/option-values.js';
import { type GraphqlContext, Viewer } from '../server/context.js';
import { enumeration } from '../server/enumeration.js';
import { maxPageSize } from '../server/page.js';
import { DecimalScalar, SafeIntScalar } from '../server/scalars.js';

const KindEnum = enumeration<OptionDefinition['kind']>('OptionKind', 'What an option may hold, as text.', {
  BOOLEAN: 'boolean',
  TEXT: 'text',
  SECRET: 'secret',
  INTEGER: 'integer',
  NUMBER: 'number',
  CHOICE: 'choice',
  RATIOS: 'ratios',
  COUNTS: 'counts',
  TEXTS: 'texts',
  JSON_OBJECT: 'json-object',
  JSON_ARRAY: 'json-array',
});

const FixedEnum = enumeration<Fixed>('OptionFixed', 'Why an option cannot be another than it is.', {
  ANSWERS_UNSEEN: 'answers-unseen',
  PROMPTS_REFUSED: 'prompts-refused',
  COUNTED_AT_ONCE: 'counted-at-once',
  NEVER_QUEUED: 'never-queued',
});

const boundText = (key: string, bound: 'minimum' | 'maximum'): string | null => {
  const definition = optionDefinition(key);
  return definition !== null && 'minimum' in definition ? String(definition[bound]) : null;
};

@ObjectType({ description: 'A value the operator configures the gateway with.' })
class Option implements OptionView {
  @Field(() => String)
  readonly key!: string;

  @Field(() => String, { nullable: true, description: 'null: a secret. It can be replaced, never read.' })
  readonly value!: string | null;

  @Field(() => Boolean, { description: 'It holds something; of a secret, all that is told.' })
  readonly isSet!: boolean;

  @Field(() => String, { description: 'What it holds as long as nobody changes it.' })
  readonly initial!: string;

  @Field(() => SafeIntScalar, {
    description: 'Of its last change: give it with a change of yours as `seenAt`. -1: nobody has changed it yet.',
  })
  readonly position!: Position;

  @Field(() => Boolean, { description: 'Whether this version asks for it; others are kept for clients that set them.' })
  hasEffect(): boolean {
    return hasEffect(this.key);
  }

  @Field(() => FixedEnum, {
    nullable: true,
    description: 'Why it cannot be changed: what it is about does not exist here, or is always done. null: it can.',
  })
  fixed(): Fixed | null {
    return fixedBecause(this.key);
  }

  @Field(() => KindEnum, { nullable: true, description: 'null: nobody here knows it; it may hold any short text.' })
  kind(): OptionDefinition['kind'] | null {
    return optionDefinition(this.key)?.kind ?? (isSecretOption(this.key) ? 'secret' : null);
  }

  @Field(() => DecimalScalar, { nullable: true, description: 'The least; null: it holds no number.' })
  minimum(): string | null {
    return boundText(this.key, 'minimum');
  }

  @Field(() => DecimalScalar, { nullable: true, description: 'The most; null: it holds no number.' })
  maximum(): string | null {
    return boundText(this.key, 'maximum');
  }

  @Field(() => Int, { description: 'Bytes it may hold at most.' })
  longest(): number {
    return maxOptionLength(this.key);
  }

  @Field(() => Boolean, { description: 'A text that may hold several lines.' })
  lines(): boolean {
    const definition = optionDefinition(this.key);
    return definition?.kind === 'text' && definition.lines === true;
  }

  @Field(() => [String], { description: 'Of which it holds one; none: it is no choice.' })
  choices(): readonly string[] {
    const definition = optionDefinition(this.key);
    return definition?.kind === 'choice' ? definition.choices : [];
  }

  @Field(() => String, {
    nullable: true,
    description: 'The option that must hold something before this is switched on.',
  })
  needs(): string | null {
    return prerequisiteOf(this.key);
  }
}

@InputType()
class OptionInput {
  @Field(() => String)
  readonly key!: string;

  @Field(() => String)
  readonly value!: string;

  @Field(() => SafeIntScalar, {
    nullable: true,
    description:
      'The `position` of the option as it was seen: the change is refused with `option-changed` when somebody else has ' +
      'changed it since. null: whatever it holds now.',
  })
  readonly seenAt?: number | null;
}

@ArgsType()
class ChangeOptionsArgs {
  @Field(() => [OptionInput], { description: `At most ${maxPageSize}.` })
  @ArrayMaxSize(maxPageSize)
  readonly changes!: OptionInput[];
}

interface Refused {
  readonly key: string;
  readonly code: string;
  readonly field: string | null;
  readonly allowed: string | null;
  readonly needed: string | null;
  readonly now: OptionView | null;
}

@ObjectType({ description: 'An option that keeps its value, and why.' })
class RefusedOption implements Refused {
  @Field(() => String)
  readonly key!: string;

  @Field(() => String, { description: 'The failure code.' })
  readonly code!: string;

  @Field(() => String, { nullable: true, description: 'What is wrong: the option, or the member of it.' })
  readonly field!: string | null;

  @Field(() => String, { nullable: true, description: 'What would be allowed.' })
  readonly allowed!: string | null;

  @Field(() => String, { nullable: true, description: 'The option that must hold something first.' })
  readonly needed!: string | null;

  @Field(() => Option, {
    nullable: true,
    description: 'Where somebody else has changed it meanwhile: what is there now.',
  })
  readonly now!: OptionView | null;
}

@ObjectType()
class ChangedOptions {
  @Field(() => [Option])
  readonly changed!: readonly OptionView[];

  @Field(() => [RefusedOption])
  readonly refused!: readonly Refused[];
}

@ObjectType('OidcEndpoints', { description: 'What a provider of OpenID Connect says of itself.' })
class OidcEndpointsObject {
  @Field(() => String)
  readonly authorizationEndpoint!: string;

  @Field(() => String)
  readonly tokenEndpoint!: string;

  @Field(() => String, { description: 'Empty: it has none.' })
  readonly userInfoEndpoint!: string;
}

/** What is refused is called by its name, as far as that can be one. */
const maxKeyLength = 100;

const detail = ({ details }: Failure, name: string): string | null => {
  const value = details[name];
  return value === undefined ? null : String(value);
};

const seenIn = (seenAt: number | null | undefined): Position | null => {
  if (seenAt === null || seenAt === undefined) return null;
  if (seenAt < Number(beginning)) throw invalidField('seenAt', 'the position of an option');
  return Position(seenAt);
};

@Resolver()
export class OptionResolver {
  @Authorized('root-reading')
  @Query(() => [Option], { description: 'Every option and its effective value, sorted by key.' })
  options(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('secrets', () => Boolean, { defaultValue: false, description: 'Those without a value to read as well.' })
    secrets: boolean,
  ): readonly OptionView[] {
    return application.options.views(viewer).filter(({ key }) => secrets || !isSecretOption(key));
  }

  @Authorized('root')
  @Mutation(() => Option)
  async changeOption(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('key', () => String) key: string,
    @Arg('value', () => String) value: string,
  ): Promise<OptionView> {
    await application.visible(await application.options.change(viewer, key, value));
    return application.options.view(viewer, key);
  }

  @Authorized('root')
  @Mutation(() => ChangedOptions, {
    description: 'In the order given; one that is refused does not hold up the others.',
  })
  async changeOptions(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Args(() => ChangeOptionsArgs) { changes }: ChangeOptionsArgs,
  ): Promise<ChangedOptions> {
    const keys: string[] = [];
    const refused: Omit<Refused, 'now'>[] = [];
    let newest: Position = beginning;
    for (const { key, value, seenAt } of changes) {
      try {
        const position = await application.options.change(viewer, key, value, seenIn(seenAt));
        if (position > newest) newest = position;
        keys.push(key);
      } catch (error) {
        if (!(error instanceof Failure) || error.kind === 'unavailable') throw error;
        const { position } = error.details;
        // What is there now is shown with the refusal.
        if (typeof position === 'number') newest = latestOf([newest, Position(position)]);
        refused.push({
          key: key.slice(0, maxKeyLength),
          code: error.code,
          field: detail(error, 'field')?.slice(0, maxKeyLength) ?? null,
          allowed: detail(error, 'allowed'),
          needed: detail(error, 'needed'),
        });
      }
    }
    await application.visible(newest);
    const now = (key: string): OptionView => application.options.view(viewer, key);
    return {
      changed: [...new Set(keys)].map(now),
      refused: refused.map((option) => ({ ...option, now: option.code === 'option-changed' ? now(option.key) : null })),
    };
  }

  @Authorized('root')
  @Mutation(() => Option, { description: 'Model ratios back to the built-in ones.' })
  async resetModelRatios(@Ctx() { application }: GraphqlContext, @Viewer() viewer: UserView): Promise<OptionView> {
    await application.visible(await application.options.reset(viewer, 'ModelRatio'));
    return application.options.view(viewer, 'ModelRatio');
  }

  @Authorized('root')
  @Mutation(() => OidcEndpointsObject, {
    description: 'Asks a provider of OpenID Connect for its addresses. Nothing is changed.',
  })
  fetchOidcEndpoints(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('wellKnown', () => String, { description: 'Of its discovery document; begins with http:// or https://.' })
    wellKnown: string,
  ): Promise<OidcEndpointsObject> {
    return application.options.oidcEndpoints(viewer, wellKnown);
  }
}
