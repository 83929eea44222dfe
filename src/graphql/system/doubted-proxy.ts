import { Authorized, Ctx, Field, ObjectType, Query, Resolver } from 'type-graphql';
import type { DoubtedProxy } from '../../application/doubted-proxies.js';
import type { UserView } from '../../application/ports/storage-ports.js';
import { Instant, unixSeconds } from '../../domain/kernel/instant.js';
import { type GraphqlContext, Viewer } from '../server/context.js';
import { enumeration } from '../server/enumeration.js';
import { TimestampScalar } from '../server/scalars.js';

const DoubtEnum = enumeration<DoubtedProxy['doubt']>(
  'ProxyDoubt',
  'What shows that a proxy passes on its client’s header.',
  {
    NO_HEADER: 'no-header',
    NO_ADDRESS: 'no-address',
  },
);

@ObjectType('DoubtedProxy', {
  description: 'An address in TRUSTED_PROXIES that does not write X-Forwarded-For: its clients pass as any address.',
})
class DoubtedProxyObject implements Omit<DoubtedProxy, 'seenAt'> {
  @Field(() => String, { description: 'Its address.' })
  readonly proxy!: string;

  @Field(() => DoubtEnum)
  readonly doubt!: DoubtedProxy['doubt'];

  @Field(() => TimestampScalar, { description: 'When it was last seen to do so, to the minute.' })
  readonly seenAt!: number;
}

@Resolver()
export class DoubtedProxyResolver {
  @Authorized('root')
  @Query(() => [DoubtedProxyObject], { description: 'Of the last day, as this node has seen them.' })
  doubtedProxies(@Ctx() { application }: GraphqlContext, @Viewer() viewer: UserView): DoubtedProxyObject[] {
    return application
      .doubtedProxies(viewer)
      .map(({ seenAt, ...doubted }) => ({ ...doubted, seenAt: unixSeconds(Instant(seenAt)) }));
  }
}
