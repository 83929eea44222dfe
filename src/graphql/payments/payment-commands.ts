import { Arg, Authorized, Ctx, Field, ID, Mutation, ObjectType, Resolver } from 'type-graphql';
import type { UserView } from '../../application/ports/storage-ports.js';
import type { Position } from '../../domain/events/events.js';
import { PaymentId } from '../../domain/kernel/ids.js';
import type { PaymentRow } from '../../projections/models/payments.js';
import { type GraphqlContext, Viewer } from '../server/context.js';
import { OrderKeyArg, orderKeyIn } from '../server/order-key.js';
import { StepUpArg, sessionProofOf } from '../server/proof.js';
import { SafeIntScalar } from '../server/scalars.js';
import { PaymentObject } from './payment.js';

/** Where the console shows what has come of an order. */
const returnPath = '/topup';

@ObjectType({ description: 'A field of a form.' })
class FormField {
  @Field(() => String)
  readonly name!: string;

  @Field(() => String)
  readonly value!: string;
}

@ObjectType({ description: 'Where the browser is to go to pay.' })
class Checkout {
  @Field(() => PaymentObject)
  readonly payment!: PaymentRow;

  @Field(() => String)
  readonly url!: string;

  @Field(() => [FormField], { description: 'Of the form that is posted there; none: the browser just goes there.' })
  readonly fields!: readonly FormField[];
}

@Resolver()
export class PaymentCommandResolver {
  @Authorized()
  @Mutation(() => Checkout, { description: 'Orders quota; the browser then goes to whoever takes the money.' })
  async beginTopUp(
    @Ctx() { application }: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('amount', () => SafeIntScalar, { description: 'Dollars, or quota where that is what is shown.' })
    amount: number,
    @Arg('method', () => String) method: string,
    @OrderKeyArg() key?: string | null,
  ): Promise<Checkout> {
    const order = { amount, method };
    const { id, begun, position } = await application.payments.begin(viewer, order, returnPath, orderKeyIn(key));
    await application.visible(position);
    const form = begun.kind === 'form' ? begun.fields : {};
    const fields = Object.entries(form).map(([name, value]) => ({ name, value }));
    return { payment: await application.queries.payment(viewer, id), url: begun.url, fields };
  }

  @Authorized()
  @Mutation(() => PaymentObject, {
    description: 'How an order of one’s own stands; its provider is asked now and then.',
  })
  async pollPayment(
    @Ctx() context: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('id', () => ID) rawId: string,
  ): Promise<PaymentRow> {
    const id = PaymentId(rawId);
    const { position } = await context.application.payments.poll(viewer, id);
    return written(context, viewer, id, position);
  }

  @Authorized('admin')
  @Mutation(() => PaymentObject, { description: 'Asks the provider of an order, and credits what it says was paid.' })
  async recheckPayment(
    @Ctx() context: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('id', () => ID) rawId: string,
  ): Promise<PaymentRow> {
    const id = PaymentId(rawId);
    return written(context, viewer, id, await context.application.payments.recheck(viewer, id));
  }

  @Authorized('admin')
  @Mutation(() => PaymentObject, {
    description: 'Credits an order whose money was seen elsewhere; says who did it, and why.',
  })
  async completePayment(
    @Ctx() context: GraphqlContext,
    @Viewer() viewer: UserView,
    @Arg('id', () => ID) rawId: string,
    @Arg('reason', () => String, { description: 'At most 500 characters.' }) reason: string,
    @StepUpArg() stepUp?: string | null,
  ): Promise<PaymentRow> {
    const id = PaymentId(rawId);
    const sessionProof = sessionProofOf(context, stepUp);
    return written(
      context,
      viewer,
      id,
      await context.application.payments.completeByHand(viewer, id, reason, sessionProof),
    );
  }
}

/** The order as it is now. */
async function written(
  { application }: GraphqlContext,
  viewer: UserView,
  id: PaymentId,
  position: Position | null,
): Promise<PaymentRow> {
  if (position !== null) await application.visible(position);
  return application.queries.payment(viewer, id);
}
