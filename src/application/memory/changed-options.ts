import { beginning, latestOf, type Position } from '../../domain/events/events.js';
import { Instant } from '../../domain/kernel/instant.js';
import { isLegacyPriceMap, legacyView, viewsChangedBy } from '../../domain/options/legacy-prices.js';
import type { ModelPricesChanged, OptionChanged, OptionValue } from '../../domain/options/option.js';
import { fixedBecause } from '../../domain/options/option-table.js';
import { mapInForce } from '../../domain/options/pinned-entries.js';
import type { PriceTables } from '../../domain/pricing/price-tables.js';
import type { ModelPrice, PricePeriods } from '../../domain/pricing/records/model-price.js';
import { nextPeriodChange, recordsAt } from '../../domain/pricing/records/price-records.js';
import { initialOptions } from '../options/initial-options.js';
import { type Settings, settingsFrom } from '../options/settings.js';
import type { AnnouncedPrices, DefaultPrices } from '../prices/default-prices.js';

/* What operators have set, and the settings that follow from it: parsed once per change. */

/** What an option was changed to, and by the event at which position. */
export interface ChangedOption {
  readonly value: OptionValue;
  /** Of a map with built-in prices: names that do not follow these; left out: all. */
  readonly pinned?: readonly string[];
  readonly position: Position;
}

/** What a model's record was changed to, and by the event at which position. */
export interface ChangedPrice {
  /** null: it was taken out. */
  readonly periods: PricePeriods | null;
  readonly position: Position;
}

/** Prices that are announced, with what operators have set. */
export interface ComingPrices {
  readonly from: Instant;
  readonly tables: PriceTables;
}

interface AnnouncedTexts extends AnnouncedPrices {
  /** Of every option, until it is changed. */
  readonly initial: ReadonlyMap<string, string>;
}

const noneAnnounced = (): null => null;

/** Days on which prices change that are looked at. */
const maxComing = 8;

export class ChangedOptions {
  /** By key; what each option holds until it is changed. */
  initial: ReadonlyMap<string, string>;
  private readonly changed: Map<string, ChangedOption>;
  private readonly prices: Map<string, ChangedPrice>;
  /** By map of prices, the last change that records have made to what it shows. */
  private readonly shownAt = new Map<string, Position>();
  /** The newest of the records this began with: which maps it changed is not known. */
  private readonly pricedBefore: Position;
  private readonly mapsInForce = new WeakMap<ChangedOption, { readonly builtIn: string; readonly text: string }>();
  private parsed: Settings | null = null;
  /** Records that hold now; null: to be looked for. */
  private inForce: ReadonlyMap<string, ModelPrice> | null = null;
  /** Of a period; null: none begins or ends any more; undefined: to be looked for. */
  private nextChange: Instant | null | undefined;
  private announced: () => AnnouncedPrices | null = noneAnnounced;
  /** What it has answered, with the texts of that day; undefined: it has not been asked. */
  private announcedThen: AnnouncedTexts | null | undefined;
  private builtIn: PriceTables | null = null;
  /** null: to be worked out. */
  private coming: readonly ComingPrices[] | null = null;

  /** `at`: now. */
  constructor(
    changed: ReadonlyMap<string, ChangedOption>,
    prices: ReadonlyMap<string, ChangedPrice>,
    private defaults: DefaultPrices,
    private at: Instant,
  ) {
    this.changed = new Map(changed);
    this.prices = new Map(prices);
    this.pricedBefore = latestOf([...prices.values()].map(({ position }) => position));
    this.initial = initialOptions(defaults);
  }

  /** An event of an option that is known as of later changes nothing. */
  take({ key, value, pinned }: OptionChanged, position: Position): void {
    const known = this.changed.get(key);
    if (known !== undefined && known.position >= position) return;
    this.changed.set(key, { value, position, ...(pinned === undefined ? {} : { pinned }) });
    this.forget();
  }

  takePrices({ changes }: ModelPricesChanged, position: Position): void {
    for (const { model, periods } of changes) {
      const known = this.prices.get(model);
      if (known !== undefined && known.position >= position) continue;
      for (const key of viewsChangedBy(known?.periods ?? null, periods)) this.shownAt.set(key, position);
      this.prices.set(model, { periods, position });
    }
    this.forget();
  }

  takeDefaultPrices(prices: DefaultPrices): void {
    this.defaults = prices;
    this.initial = initialOptions(prices);
    this.builtIn = null;
    this.forget();
  }

  /** Records that begin or end by then do so. */
  advanceTo(now: Instant): void {
    if (this.nextChange === undefined) this.nextChange = nextPeriodChange(this.records(), this.at);
    this.at = now;
    if (this.nextChange !== null && this.nextChange <= now) this.forget();
  }

  announcePrices(announced: () => AnnouncedPrices | null): void {
    this.announced = announced;
    this.announcedThen = undefined;
    this.coming = null;
  }

  /** By ascending day; the nearest ones. */
  comingPrices(): readonly ComingPrices[] {
    this.coming ??= this.workedOutComing();
    return this.coming;
  }

  /** Secrets included. */
  all(): ReadonlyMap<string, ChangedOption> {
    return this.changed;
  }

  allPrices(): ReadonlyMap<string, ChangedPrice> {
    return this.prices;
  }

  /** What every model costs as long as no operator has said anything. */
  builtInPrices(): PriceTables {
    this.builtIn ??= settingsFrom(new Map(), this.defaults, this.initial).prices;
    return this.builtIn;
  }

  settings(): Settings {
    this.parsed ??= settingsFrom(this.changedTexts(this.initial), this.defaults, this.initial, {
      records: this.recordsInForce(),
      known: this.prices.keys(),
    });
    return this.parsed;
  }

  /** Effective texts, defaults included, secrets left out. */
  texts(): ReadonlyMap<string, string> {
    const texts = new Map([...this.initial, ...this.changedTexts(this.initial)]);
    for (const [key, text] of texts) texts.set(key, legacyView(key, text, this.recordsInForce()));
    return texts;
  }

  /** The effective text of an option that is no secret. */
  textOf(key: string): string {
    const changed = this.changed.get(key);
    const stored = changed === undefined ? null : this.textInForce(key, changed, this.initial);
    return legacyView(key, stored ?? this.initial.get(key) ?? '', this.recordsInForce());
  }

  /** The last change of what an option shows, or a later one; `beginning`: there was none. */
  positionOf(key: string): Position {
    const own = this.changed.get(key)?.position ?? beginning;
    const shown = isLegacyPriceMap(key) ? (this.shownAt.get(key) ?? this.pricedBefore) : beginning;
    return shown > own ? shown : own;
  }

  /** Where a secret option's value lies in the vault; null: not set. */
  secret(key: string): OptionValue | null {
    const value = this.changed.get(key)?.value;
    return value !== undefined && 'secret' in value ? value : null;
  }

  private forget(): void {
    this.parsed = null;
    this.inForce = null;
    this.nextChange = undefined;
    this.coming = null;
  }

  private *stated(): Iterable<readonly [string, PricePeriods]> {
    for (const [model, { periods }] of this.prices) if (periods !== null) yield [model, periods];
  }

  private records(): ReadonlyMap<string, PricePeriods> {
    return new Map(this.stated());
  }

  private recordsInForce(): ReadonlyMap<string, ModelPrice> {
    this.inForce ??= recordsAt(this.records(), this.at);
    return this.inForce;
  }

  private announcedTexts(): AnnouncedTexts | null {
    if (this.announcedThen === undefined) {
      const announced = this.announced();
      this.announcedThen = announced === null ? null : { ...announced, initial: initialOptions(announced.prices) };
    }
    return this.announcedThen;
  }

  private tablesWith({ prices, initial }: AnnouncedTexts): PriceTables {
    const stated = { records: this.recordsInForce(), known: this.prices.keys() };
    return settingsFrom(this.changedTexts(initial), prices, initial, stated).prices;
  }

  private workedOutComing(): readonly ComingPrices[] {
    const records = this.records();
    const announced = this.announcedTexts();
    const present = this.settings().prices;
    /** All but the records, which are what changes from one of the days to the next. */
    let tablesThen: PriceTables | null = null;
    const coming: ComingPrices[] = [];
    let after = this.at;
    while (coming.length < maxComing) {
      const next = [nextPeriodChange(records, after), announced?.from ?? null].filter(
        (day): day is Instant => day !== null && day > after,
      );
      if (next.length === 0) break;
      const from = Instant(Math.min(...next));
      if (announced !== null && announced.from <= from) tablesThen ??= this.tablesWith(announced);
      const tables = { ...(tablesThen ?? present), records: recordsAt(records, from) };
      coming.push({ from, tables });
      after = from;
    }
    return coming;
  }

  /** As they are beside these built-in texts. */
  private changedTexts(initial: ReadonlyMap<string, string>): Map<string, string> {
    const texts = new Map<string, string>();
    for (const [key, changed] of this.changed) {
      const text = this.textInForce(key, changed, initial);
      if (text !== null) texts.set(key, text);
    }
    return texts;
  }

  /** null: a secret, or an option that stays at what is built in. */
  private textInForce(key: string, changed: ChangedOption, initial: ReadonlyMap<string, string>): string | null {
    const { value, pinned } = changed;
    if (!('text' in value) || fixedBecause(key) !== null) return null;
    if (pinned === undefined) return value.text;
    const builtIn = initial.get(key) ?? '{}';
    const known = this.mapsInForce.get(changed);
    if (known?.builtIn === builtIn) return known.text;
    const text = mapInForce({ text: value.text, pinned }, builtIn);
    this.mapsInForce.set(changed, { builtIn, text });
    return text;
  }
}
