import { Max, Min } from 'class-validator';
import { ArgsType, Field, Int, ObjectType } from 'type-graphql';
import type { PageRequest } from '../../projections/engine/page.js';
import { SafeIntScalar } from './scalars.js';

/** No list answers with more elements than this at once. */
export const maxPageSize = 100;

/** A page whose total is counted when it is asked for. */
@ObjectType()
export abstract class CountedPage {
  readonly count!: () => Promise<number>;

  @Field(() => SafeIntScalar)
  total(): Promise<number> {
    return this.count();
  }
}

@ArgsType()
export class PageArgs implements PageRequest {
  @Field(() => Int, { defaultValue: 1, description: 'Counted from 1.' })
  @Min(1)
  readonly page!: number;

  @Field(() => Int, { defaultValue: 10, description: '1 to 100.' })
  @Min(1)
  @Max(maxPageSize)
  readonly size!: number;
}
