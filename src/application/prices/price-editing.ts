import type { Usage } from '../../domain/call/usage.js';
import { beginning, type Position } from '../../domain/events/events.js';
import { checkText } from '../../domain/kernel/bounds.js';
import { invalidField } from '../../domain/kernel/failure.js';
import { maxModelNameBytes } from '../../domain/kernel/names.js';
import { type ExampleBill, exampleBill } from '../../domain/pricing/example-bill.js';
import { billedName } from '../../domain/pricing/price-tables.js';
import type { PricePeriods } from '../../domain/pricing/records/model-price.js';
import { editedPeriods, type NotEdited, type PriceEdit } from '../../domain/pricing/records/price-edits.js';
import { type PriceFileFault, priceFileOf, readPriceFile } from '../../domain/pricing/records/price-file.js';
import { readPricePeriods } from '../../domain/pricing/records/read-model-price.js';
import { type RecordDifference, recordDifferences } from '../../domain/pricing/records/record-differences.js';
import { tabledPrice } from '../../domain/pricing/records/tabled-price.js';
import type { Actor } from '../../domain/user/user.js';
import { authorise } from '../authorise.js';
import type { NodeDirectory } from '../memory/directory.js';
import type { Clock } from '../ports/storage-ports.js';
import { pricedModels } from './price-table.js';

/* What an operator asks before prices are changed: nothing here stores anything. */

interface PriceEditingPorts {
  readonly directory: NodeDirectory;
  readonly clock: Clock;
}

/** What is stated of a model, as the editor begins. */
export interface StatedPrice {
  readonly model: string;
  /** Give it with a change of yours. */
  readonly seenAt: Position;
  /** The record; null: there is none. */
  readonly recorded: PricePeriods | null;
  /** The record, else what options and built-in prices say, as a record would; null: there is no price. */
  readonly periods: PricePeriods | null;
  /** By the built-in table; null: that has none. */
  readonly builtIn: PricePeriods | null;
}

/** A change that is proposed. */
export interface PriceProposal {
  readonly model: string;
  readonly seenAt: Position;
  /** As it would be; null: no record. */
  readonly periods: PricePeriods | null;
  /** From what is in force now to what would be. */
  readonly differences: readonly RecordDifference[];
  /** Why it stays as it is; null: it does not. */
  readonly notEdited: NotEdited | null;
}

export type PriceEditOrder = Exclude<PriceEdit, { kind: 'copy' }> | { readonly kind: 'copy'; readonly from: string };

interface ExampleRequest {
  readonly model: string;
  /** JSON of the record, not checked yet. */
  readonly periods: unknown;
  /** Which of the periods. */
  readonly period: number;
  readonly usage: Usage;
  readonly group: string;
  readonly serviceTier: string | null;
}

/** Models of one bulk edit. */
export const maxEdited = 1_000;

function checkModel(field: string, model: string): void {
  checkText(field, model, { max: maxModelNameBytes });
  if (model.trim() === '' || Buffer.byteLength(model) > maxModelNameBytes)
    throw invalidField(field, `a name of 1 to ${maxModelNameBytes} bytes`);
}

const single = <Price>(price: Price | null): readonly Price[] | null => (price === null ? null : [price]);

/** What options and built-in prices say, where there is no record; null: nothing. */
const tabled = (directory: NodeDirectory, model: string): PricePeriods | null =>
  single(tabledPrice(directory.settings().prices, model));

function statedPriceOf(directory: NodeDirectory, model: string): StatedPrice {
  const changed = directory.changedPrices().get(model);
  const recorded = changed?.periods ?? null;
  return {
    model,
    seenAt: changed?.position ?? beginning,
    recorded,
    periods: recorded ?? tabled(directory, model),
    builtIn: single(tabledPrice(directory.builtInPrices(), model)),
  };
}

/** `after`: null: the record is taken out, so that options and built-in prices hold. */
export function proposalOf(directory: NodeDirectory, model: string, after: PricePeriods | null): PriceProposal {
  const { seenAt, periods } = statedPriceOf(directory, model);
  const effective = after ?? tabled(directory, model);
  return { model, seenAt, periods: after, differences: recordDifferences(periods, effective), notEdited: null };
}

export function priceEditingQueries({ directory, clock }: PriceEditingPorts) {
  const editOf = (order: PriceEditOrder): PriceEdit => {
    if (order.kind !== 'copy') return order;
    const { periods } = statedPriceOf(directory, order.from);
    if (periods === null) throw invalidField('edit.from', 'a model that has a price');
    return { kind: 'copy', periods };
  };

  return {
    modelPrice(viewer: Actor, model: string): StatedPrice {
      authorise(viewer, 'root-reading');
      checkModel('model', model);
      return statedPriceOf(directory, model);
    },

    /** Throws `invalid-field` with the path of what is wrong in the record. */
    exampleBill(viewer: Actor, { periods, period, ...call }: ExampleRequest): ExampleBill {
      authorise(viewer, 'root-reading');
      checkModel('model', call.model);
      const records = readPricePeriods('periods', periods);
      const record = records[period];
      if (record === undefined) throw invalidField('period', `an index of periods: 0 to ${records.length - 1}`);
      return exampleBill(directory.settings().prices, record, call);
    },

    /** What the edit would make of these models. Throws `invalid-field`. */
    priceEdit(viewer: Actor, models: readonly string[], order: PriceEditOrder): readonly PriceProposal[] {
      authorise(viewer, 'root-reading');
      const names = [...new Set(models)];
      if (names.length === 0 || names.length > maxEdited) throw invalidField('models', `1 to ${maxEdited} models`);
      const edit = editOf(order);
      const now = clock.now();
      return names.map((model, index) => {
        checkModel(`models[${index}]`, model);
        const { periods } = statedPriceOf(directory, model);
        const result = editedPeriods(periods, edit, now);
        if (typeof result === 'string')
          return { ...proposalOf(directory, model, periods), differences: [], notEdited: result };
        // What no record may hold is refused before it is proposed.
        if (result.periods !== null) readPricePeriods(model, result.periods);
        return proposalOf(directory, model, result.periods);
      });
    },

    /** `models`: null: all that have a price. Throws `invalid-field` for more than a file holds. */
    exportPrices(viewer: Actor, models: readonly string[] | null): string {
      authorise(viewer, 'root-reading');
      models?.forEach((model, index) => {
        checkModel(`models[${index}]`, model);
      });
      const names = [...new Set((models ?? pricedModels(directory)).map(billedName))].sort();
      return priceFileOf(
        names.flatMap((model) => {
          const { periods } = statedPriceOf(directory, model);
          return periods === null ? [] : [{ model, periods }];
        }),
      );
    },

    /** What a file would change, models that it leaves as they are left out; or all that is wrong with it. */
    readPriceFile(
      viewer: Actor,
      text: string,
    ): {
      readonly proposals: readonly PriceProposal[];
      readonly unchanged: number;
      readonly faults: readonly PriceFileFault[];
    } {
      authorise(viewer, 'root-reading');
      const { prices, faults } = readPriceFile(text);
      const all = prices.map(({ model, periods }) => proposalOf(directory, model, periods));
      const proposals = all.filter(({ differences }) => differences.length > 0);
      return { proposals, unchanged: all.length - proposals.length, faults };
    },
  };
}
