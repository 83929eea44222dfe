import { Max, Min } from 'class-validator';
import { ArgsType, Field, Int } from 'type-graphql';
import type { PageRequest } from '../../projections/engine/page.js';

/** No list answers with more elements than this at once. */
export const maxPageSize = 100;

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
