import { createHash } from 'node:crypto';
import { Failure } from '../../domain/kernel/failure.js';
import type { Instant } from '../../domain/kernel/instant.js';
import type { PriceSourceSetting } from '../../domain/options/price-source-option.js';
import type { PublishedPrices } from '../../domain/pricing/sources/published-price.js';
import { readPublishedPrices } from '../../domain/pricing/sources/read-published-prices.js';
import type { Outbound } from '../ports/outbound-ports.js';
import type { Clock } from '../ports/storage-ports.js';
import { fetchPriceList, inSlices } from './price-source-fetch.js';

/* What the sources of prices said when they were read last: in memory of this node, and read anew after a restart. */

export interface PriceReading {
  /** Of the text: the same text has the same one on every node. */
  readonly id: string;
  readonly at: Instant;
  readonly prices: PublishedPrices;
}

export interface SourceState {
  readonly isReading: boolean;
  /** When it was last tried; null: not since this node started. */
  readonly triedAt: Instant | null;
  /** null: it was read, or never tried. */
  readonly failure: Failure | null;
  /** The last that succeeded, whatever happened since. */
  readonly reading: PriceReading | null;
}

const untried: SourceState = { isReading: false, triedAt: null, failure: null, reading: null };

const idOf = (text: string): string => createHash('sha256').update(text).digest('base64url').slice(0, 22);

const dayOf = (at: Instant): string => new Date(at).toISOString().slice(0, 10);

export class PriceReadings {
  private readonly states = new Map<string, SourceState>();
  private readonly running = new Map<string, Promise<PriceReading>>();

  constructor(
    private readonly outbound: Outbound,
    private readonly clock: Clock,
  ) {}

  of(name: string): SourceState {
    return this.states.get(name) ?? untried;
  }

  /** Of sources that are no more nothing is kept. */
  retain(names: ReadonlySet<string>): void {
    for (const name of this.states.keys()) if (!names.has(name)) this.states.delete(name);
  }

  /** Whoever asks while it is being read gets the same. Throws what reading throws, and keeps it. */
  fetch(source: PriceSourceSetting): Promise<PriceReading> {
    const { name, url } = source;
    const begun = this.running.get(name);
    if (begun !== undefined) return begun;
    const reading = this.read(source, () => fetchPriceList(this.outbound, url)).finally(() => {
      this.running.delete(name);
    });
    this.running.set(name, reading);
    return reading;
  }

  /** Throws what `text` throws, and `price-list-unreadable`. */
  async read(source: PriceSourceSetting, text: () => Promise<string>): Promise<PriceReading> {
    const { name } = source;
    const before = this.of(name);
    const triedAt = this.clock.now();
    this.states.set(name, { ...before, isReading: true });
    try {
      const reading = await this.readNow(source, text);
      this.states.set(name, { isReading: false, triedAt, failure: null, reading });
      return reading;
    } catch (error) {
      const failure = error instanceof Failure ? error : new Failure('price-source-failed', { reason: 'it failed' });
      this.states.set(name, { ...before, isReading: false, triedAt, failure });
      throw error;
    }
  }

  private async readNow({ form, bareNames }: PriceSourceSetting, text: () => Promise<string>): Promise<PriceReading> {
    const content = await text();
    const at = this.clock.now();
    const prices = await inSlices(readPublishedPrices(content, { today: dayOf(at), bareNames }, form));
    return { id: idOf(content), at, prices };
  }
}
