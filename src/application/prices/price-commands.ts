import { type Position, streams } from '../../domain/events/events.js';
import { checkText } from '../../domain/kernel/bounds.js';
import { invalidField } from '../../domain/kernel/failure.js';
import { maxModelNameBytes } from '../../domain/kernel/names.js';
import { optionDecider, type PriceChangeOrigin } from '../../domain/options/option.js';
import { billedName } from '../../domain/pricing/price-tables.js';
import { readPricePeriods } from '../../domain/pricing/records/read-model-price.js';
import type { Actor } from '../../domain/user/user.js';
import { authorise } from '../authorise.js';
import type { Handle } from '../handle.js';

/* Orders about records of the price table. */

interface PriceOrder {
  readonly model: string;
  /** JSON of the record (`PricePeriods`), not checked yet; null: the table says nothing of the model any more. */
  readonly periods: unknown;
  /** The position of the record's change that was seen, `beginning` for none; null: whatever it is now. */
  readonly seenAt: Position | null;
}

/** Models in one order. */
const maxOrders = 5_000;

function checkModels(orders: readonly PriceOrder[]): void {
  if (orders.length === 0 || orders.length > maxOrders)
    throw invalidField('changes', `a list of 1 to ${maxOrders} models`);
  const known = new Set<string>();
  orders.forEach(({ model }, index) => {
    const field = `changes[${index}].model`;
    checkText(field, model, { max: maxModelNameBytes });
    if (model === '' || Buffer.byteLength(model) > maxModelNameBytes)
      throw invalidField(field, `a name of 1 to ${maxModelNameBytes} bytes`);
    if (billedName(model) !== model)
      throw invalidField(field, `${billedName(model)}: all models of its kind have one price`);
    if (known.has(model)) throw invalidField(field, 'each model once');
    known.add(model);
  });
}

export const priceCommands = ({ handle }: { readonly handle: Handle }) => ({
  /**
   * All of them or none. Throws `invalid-field` with the path of what is wrong, `price-changed` with the model whose
   * record somebody else has changed since it was seen.
   */
  async changePrices(actor: Actor, orders: readonly PriceOrder[], origin: PriceChangeOrigin): Promise<Position> {
    authorise(actor, 'root');
    checkModels(orders);
    const changes = orders.map(({ model, periods, seenAt }, index) => ({
      model,
      periods: periods === null ? null : readPricePeriods(`changes[${index}].periods`, periods),
      seenAt,
    }));
    const { position } = await handle.by(actor)(optionDecider, streams.options, {
      type: 'ChangeModelPrices',
      changes,
      origin,
      by: actor.id,
    });
    return position;
  },
});
