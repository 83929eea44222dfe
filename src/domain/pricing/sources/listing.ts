import { bytesIn } from '../../kernel/bounds.js';
import { Failure } from '../../kernel/failure.js';
import { maxModelNameBytes } from '../../kernel/names.js';
import type { ModelPrice, PricePeriods } from '../records/model-price.js';
import { readPricePeriods } from '../records/read-model-price.js';
import { type Steps, unreadable } from './list-json.js';
import {
  type PublishedPrice,
  type PublishedPrices,
  type ReadingTerms,
  type SkippedModel,
  type SourceForm,
  UnusableEntry,
} from './published-price.js';

/* Gathers what the entries of a list say, one name after the other. */

/** Models of one list; the largest that is published has 5,000. */
const maxListedModels = 20_000;
const shownNameLength = 120;
/** Names of members that are reported of a model. */
const maxUnread = 8;

/** What an entry says of a model. */
export interface ListedPrice {
  readonly vendor: string | null;
  readonly periods: PricePeriods;
  readonly isFree?: boolean;
  readonly unread?: readonly string[];
}

/** One entry of a list. */
export interface Listed {
  readonly model: string;
  /** By the name that it is read under. What it throws as UnusableEntry leaves this model out. */
  read(model: string): ListedPrice;
  /** What follows of the same name is ignored, whatever comes of this one. */
  readonly isFirst?: boolean;
}

/** Free, where the name says so: OpenRouter's convention, which others follow. */
export const saysFree = (model: string): boolean => /(:|-)free$/.test(model);

export const freePeriods: PricePeriods = [{ tokens: { input: { usd: '0' }, output: { usd: '0' } } }];

const unseen = /[\p{C}\p{Zl}\p{Zp}]/u;

const isName = (model: string): boolean =>
  model !== '' &&
  model.trim() === model &&
  bytesIn(model) <= maxModelNameBytes &&
  !unseen.test(model) &&
  !Object.hasOwn(Object.prototype, model) &&
  model !== '__proto__';

const bare = (model: string): string => model.slice(model.lastIndexOf('/') + 1);

/** Throws UnusableEntry for what no record of the price table can hold, as an empty list or a day that does not exist. */
function checkPeriods(periods: PricePeriods): void {
  try {
    readPricePeriods('periods', periods);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    throw new UnusableEntry('shape-invalid', String(error.details.field));
  }
}

const samePrices = (one: readonly ModelPrice[], other: readonly ModelPrice[]): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

/** Cut where it is too long. */
const shown = (model: string): string =>
  model.length > shownNameLength ? `${model.slice(0, shownNameLength)}…` : model;

class Listing {
  readonly models = new Map<string, PublishedPrice>();
  readonly skipped = new Map<string, SkippedModel>();
  private readonly firsts = new Set<string>();

  read(model: string, listed: Listed): void {
    if (this.firsts.has(model) || this.skipped.get(model)?.reason === 'named-twice') return;
    if (listed.isFirst === true) this.firsts.add(model);
    try {
      if (!isName(model)) throw new UnusableEntry('name-invalid');
      this.take(model, listed.read(model));
    } catch (error) {
      if (!(error instanceof UnusableEntry)) throw error;
      if (error.reason === 'named-twice') this.models.delete(model);
      const { reason, member } = error;
      if (!this.models.has(model)) this.skipped.set(model, { model: shown(model), reason, member });
    }
  }

  private take(model: string, { vendor, periods, isFree = false, unread = [] }: ListedPrice): void {
    checkPeriods(periods);
    const known = this.models.get(model);
    if (known === undefined)
      this.models.set(model, { model, vendor, periods, isFree, unread: unread.slice(0, maxUnread) });
    else if (!samePrices(known.periods, periods)) throw new UnusableEntry('named-twice');
  }
}

const entriesPerStep = 100;

/** Throws `price-list-unreadable` for more entries than anybody has models. */
export function* gathered(
  form: SourceForm,
  entries: Iterable<Listed>,
  { bareNames }: ReadingTerms,
): Steps<PublishedPrices> {
  const listing = new Listing();
  let count = 0;
  for (const listed of entries) {
    if (++count > maxListedModels) throw unreadable(`it lists more than ${maxListedModels} models`);
    if (count % entriesPerStep === 0) yield;
    listing.read(bareNames ? bare(listed.model) : listed.model, listed);
  }
  const { models, skipped } = listing;
  return {
    form,
    models: [...models.values()].sort((one, other) => (one.model < other.model ? -1 : 1)),
    skipped: [...skipped].filter(([model]) => !models.has(model)).map(([, entry]) => entry),
  };
}
