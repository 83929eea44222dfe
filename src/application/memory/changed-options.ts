import type { Position } from '../../domain/events/events.js';
import type { Instant } from '../../domain/kernel/instant.js';
import type { OptionEvent, OptionValue } from '../../domain/options/option.js';
import { fixedBecause } from '../../domain/options/option-table.js';
import type { PriceTables } from '../../domain/pricing/price-tables.js';
import type { AnnouncedPrices, DefaultPrices } from '../options/default-prices.js';
import { initialOptions } from '../options/initial-options.js';
import { type Settings, settingsFrom } from '../options/settings.js';

/* What operators have set, and the settings that follow from it: parsed once per change. */

/** What an option was changed to, and by the event at which position. */
export interface ChangedOption {
  readonly value: OptionValue;
  readonly position: Position;
}

/** Prices that are announced, with what operators have set. */
export interface ComingPrices {
  readonly from: Instant;
  readonly tables: PriceTables;
}

const noneAnnounced = (): null => null;

export class ChangedOptions {
  /** By key; what each option holds until it is changed. */
  initial: ReadonlyMap<string, string>;
  private readonly changed: Map<string, ChangedOption>;
  private parsed: Settings | null = null;
  private announced: () => AnnouncedPrices | null = noneAnnounced;
  /** undefined: not looked for since something changed. */
  private coming: ComingPrices | null | undefined;

  constructor(
    changed: ReadonlyMap<string, ChangedOption>,
    private prices: DefaultPrices,
  ) {
    this.changed = new Map(changed);
    this.initial = initialOptions(prices);
  }

  /** An event of an option that is known as of later changes nothing. */
  take({ key, value }: OptionEvent, position: Position): void {
    const known = this.changed.get(key);
    if (known !== undefined && known.position >= position) return;
    this.changed.set(key, { value, position });
    this.parsed = null;
    this.coming = undefined;
  }

  takeDefaultPrices(prices: DefaultPrices): void {
    this.prices = prices;
    this.initial = initialOptions(prices);
    this.parsed = null;
  }

  announcePrices(announced: () => AnnouncedPrices | null): void {
    this.announced = announced;
    this.coming = undefined;
  }

  comingPrices(): ComingPrices | null {
    if (this.coming !== undefined) return this.coming;
    const announced = this.announced();
    if (announced === null) this.coming = null;
    else {
      const { from, prices } = announced;
      const { prices: tables } = settingsFrom(this.changedTexts(), prices, initialOptions(prices));
      this.coming = { from, tables };
    }
    return this.coming;
  }

  /** Secrets included. */
  all(): ReadonlyMap<string, ChangedOption> {
    return this.changed;
  }

  settings(): Settings {
    this.parsed ??= settingsFrom(this.changedTexts(), this.prices, this.initial);
    return this.parsed;
  }

  /** Effective texts, defaults included, secrets left out. */
  texts(): ReadonlyMap<string, string> {
    return new Map([...this.initial, ...this.changedTexts()]);
  }

  /** Where a secret option's value lies in the vault; null: not set. */
  secret(key: string): OptionValue | null {
    const value = this.changed.get(key)?.value;
    return value !== undefined && 'secret' in value ? value : null;
  }

  private changedTexts(): Map<string, string> {
    const texts = new Map<string, string>();
    for (const [key, { value }] of this.changed)
      if ('text' in value && fixedBecause(key) === null) texts.set(key, value.text);
    return texts;
  }
}
