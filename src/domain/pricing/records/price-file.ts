import { boundedJson, bytesIn, checkText } from '../../kernel/bounds.js';
import { Failure, invalidField } from '../../kernel/failure.js';
import { maxModelNameBytes } from '../../kernel/names.js';
import { billedName } from '../price-tables.js';
import type { PricePeriods } from './model-price.js';
import { readPricePeriods } from './read-model-price.js';

/* Prices as a file that one gateway writes and another reads, in the form of the records themselves. */

const format = 'tallygate-prices';
const version = 1;

/** Of a file, so that it fits into a request whatever must be escaped in it. */
export const maxPriceFileBytes = 640 * 1024;
export const maxFilePrices = 5_000;
/** Faults that are reported of one file. */
const maxFaults = 100;
const shownField = 200;

interface FilePrice {
  readonly model: string;
  readonly periods: PricePeriods;
}

/** What is wrong in a file. */
export interface PriceFileFault {
  /** Which of the prices, from 1; 0: the file as such. */
  readonly row: number;
  /** Path to what is wrong. */
  readonly field: string;
  /** In words. */
  readonly allowed: string;
}

/** One model on each line, so that files can be compared. Throws `invalid-field` for more than one file holds. */
export function priceFileOf(prices: readonly FilePrice[]): string {
  if (prices.length > maxFilePrices) throw invalidField('models', `at most ${maxFilePrices} models`);
  const lines = prices.map((price) => `    ${JSON.stringify(price)}`).join(',\n');
  const head = `{\n  "format": ${JSON.stringify(format)},\n  "version": ${version},\n  "prices": [`;
  const text = `${head}${lines === '' ? '' : `\n${lines}\n  `}]\n}\n`;
  if (bytesIn(text) > maxPriceFileBytes)
    throw invalidField('models', `models that fit into ${maxPriceFileBytes} bytes`);
  return text;
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const faultOf = (row: number, field: string, allowed: string): PriceFileFault => ({
  row,
  field: field.slice(0, shownField),
  allowed,
});

function readPrice(entry: unknown, index: number): FilePrice {
  const field = `prices[${index}]`;
  if (!isRecord(entry)) throw invalidField(field, 'an object with model and periods');
  const { model, periods, ...rest } = entry;
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined) throw invalidField(`${field}.${unknown}`, 'one of model, periods');
  if (typeof model !== 'string' || model.trim() === '' || bytesIn(model) > maxModelNameBytes)
    throw invalidField(`${field}.model`, `the name of a model, at most ${maxModelNameBytes} bytes`);
  checkText(`${field}.model`, model, { max: maxModelNameBytes });
  if (billedName(model) !== model)
    throw invalidField(`${field}.model`, `${billedName(model)}: all models of its kind have one price`);
  return { model, periods: readPricePeriods(`${field}.periods`, periods) };
}

interface ReadPriceFile {
  /** Empty where anything is wrong. */
  readonly prices: readonly FilePrice[];
  readonly faults: readonly PriceFileFault[];
}

const refused = (field: string, allowed: string): ReadPriceFile => ({
  prices: [],
  faults: [faultOf(0, field, allowed)],
});

/** All that a file says, or all that is wrong with it. Throws `invalid-field` for what is no JSON, or too long. */
export function readPriceFile(text: string): ReadPriceFile {
  if (bytesIn(text) > maxPriceFileBytes) throw invalidField('file', `at most ${maxPriceFileBytes} bytes`);
  const file = boundedJson(text);
  if (!isRecord(file)) throw invalidField('file', 'a JSON object, as the export writes it');
  if (file.format !== format) return refused('format', `"${format}"`);
  if (file.version !== version) return refused('version', String(version));
  const { prices: entries } = file;
  if (!Array.isArray(entries) || entries.length === 0 || entries.length > maxFilePrices)
    return refused('prices', `a list of 1 to ${maxFilePrices} models`);
  const prices: FilePrice[] = [];
  const faults: PriceFileFault[] = [];
  const known = new Set<string>();
  for (const [index, entry] of entries.entries()) {
    if (faults.length >= maxFaults) break;
    try {
      const price = readPrice(entry, index);
      if (known.has(price.model)) throw invalidField(`prices[${index}].model`, 'each model once');
      known.add(price.model);
      prices.push(price);
    } catch (error) {
      if (!(error instanceof Failure) || error.code !== 'invalid-field') throw error;
      faults.push(faultOf(index + 1, String(error.details.field), String(error.details.allowed)));
    }
  }
  return faults.length > 0 ? { prices: [], faults } : { prices, faults };
}
