import { Arg } from 'type-graphql';
import { checkIdempotencyKey } from '../../application/idempotency.js';

/** The argument by which a client names an order that moves money, so that its repeat changes nothing. */
export const OrderKeyArg = () =>
  Arg('idempotencyKey', () => String, {
    nullable: true,
    description:
      'Any text of the client, new for every order. An order whose outcome is unknown may be given again with it: it is carried out once.',
  });

/** Throws `invalid-field`. null: none was given. */
export const orderKeyIn = (key: string | null | undefined): string | null => checkIdempotencyKey('idempotencyKey', key);
