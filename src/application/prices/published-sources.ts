import { checkText } from '../../domain/kernel/bounds.js';
import { decimalOf, decimalText } from '../../domain/kernel/decimal.js';
import { Failure, invalidField } from '../../domain/kernel/failure.js';
import { maxSourceName, type PriceSourceSetting, readPriceSources } from '../../domain/options/price-source-option.js';
import type { NodeDirectory } from '../memory/directory.js';
import type { Outbound } from '../ports/outbound-ports.js';
import type { Clock } from '../ports/storage-ports.js';
import { type PriceReading, PriceReadings, type SourceState } from './price-readings.js';
import { unzippedText } from './price-source-fetch.js';

/* The sources of prices that there are: those of the option, and the file that was given last. */

/** Stands for the file that somebody gives. */
const fileSource = 'file';

export interface PriceSourceView extends PriceSourceSetting {
  /** It is the file that was given last. */
  readonly isFile: boolean;
  readonly state: SourceState;
}

export interface FileOrder {
  /** base64 of gzip. */
  readonly gzip: string;
  readonly bareNames: boolean;
  /** What its prices are multiplied by. */
  readonly margin: number;
}

interface SourcePorts {
  readonly outbound: Outbound;
  readonly clock: Clock;
  readonly directory: Pick<NodeDirectory, 'settings'>;
}

const fileSetting = (bareNames: boolean, margin: string): PriceSourceSetting => ({
  ...{ name: fileSource, url: '', form: null, bareNames, daily: false, apply: 'never', bound: '1.5' },
  margin: { usual: margin, vendors: new Map(), families: new Map(), groups: new Map() },
});

export class PublishedSources {
  private readonly readings: PriceReadings;
  private readonly directory: SourcePorts['directory'];
  private parsed: { readonly text: string; readonly sources: readonly PriceSourceSetting[] } | null = null;
  private file: PriceSourceSetting | null = null;

  constructor({ outbound, clock, directory }: SourcePorts) {
    this.readings = new PriceReadings(outbound, clock);
    this.directory = directory;
  }

  configured(): readonly PriceSourceSetting[] {
    const text = this.directory.settings().text('PriceSources');
    if (this.parsed?.text !== text) this.parsed = { text, sources: readPriceSources(text) };
    return this.parsed.sources;
  }

  all(): readonly PriceSourceView[] {
    const sources = [...this.configured(), ...(this.file === null ? [] : [this.file])];
    this.readings.retain(new Set(sources.map(({ name }) => name)));
    return sources.map((source) => ({
      ...source,
      isFile: source === this.file,
      state: this.readings.of(source.name),
    }));
  }

  /** Throws `invalid-field` for what no source is called, `price-source-unknown`. */
  named(name: string, field = 'source'): PriceSourceView {
    checkText(field, name, { max: maxSourceName });
    const found = this.all().find((source) => source.name === name);
    if (found === undefined) throw new Failure('price-source-unknown');
    return found;
  }

  /** Throws `price-source-failed`, `price-list-unreadable`; the source's state shows it afterwards too. */
  fetch(source: PriceSourceSetting): Promise<PriceReading> {
    if (source.url === '') throw new Failure('price-source-unknown');
    return this.readings.fetch(source);
  }

  /** One that this node has not read yet is read now: another node may have done so. */
  async readingOf(source: PriceSourceView): Promise<PriceReading> {
    return source.state.reading ?? this.fetch(source);
  }

  /** Throws `price-list-unreadable`. */
  async readFile({ gzip, bareNames, margin }: FileOrder): Promise<PriceSourceView> {
    if (!(margin >= 0.1 && margin <= 10)) throw invalidField('margin', 'a number from 0.1 to 10');
    if (this.configured().some(({ name }) => name === fileSource))
      throw invalidField('PriceSources', `no source named "${fileSource}": this name is reserved for uploaded files`);
    const source = fileSetting(bareNames, decimalText(decimalOf(margin)));
    await this.readings.read(source, () => unzippedText(gzip));
    this.file = source;
    return this.named(fileSource);
  }

  triedAt(name: string): SourceState['triedAt'] {
    return this.readings.of(name).triedAt;
  }
}
