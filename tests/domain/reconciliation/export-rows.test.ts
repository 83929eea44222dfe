import { describe, expect, test } from 'vitest';
import { decimal, decimalText } from '../../../src/domain/kernel/decimal.js';
import { type Amounts, comparedMeasures } from '../../../src/domain/reconciliation/amounts.js';
import { type ExportField, exportFormOf } from '../../../src/domain/reconciliation/export-form.js';
import { columnsIn, ExportRowReader, toldBy } from '../../../src/domain/reconciliation/export-rows.js';
import { modelKey } from '../../../src/domain/reconciliation/model-key.js';
import { timeWritten } from '../../../src/domain/reconciliation/written-time.js';
import { refusal } from '../../support/refusal.js';

type Cells = Readonly<Partial<Record<string, string>>>;

function read(
  provider: string,
  cells: Cells,
  { rate = null as string | null, map = [] as [string, ExportField][] } = {},
) {
  const form = exportFormOf(provider) ?? { columns: {} };
  const columns = columnsIn(Object.keys(cells), form, new Map(map));
  const isSingle = columns.has('request-id');
  const reader = new ExportRowReader({ columns, form, isSingle, rate: rate === null ? null : decimal(rate) });
  return {
    row: reader.read({ line: 7, cells: new Map(Object.entries(cells).map(([name, text = '']) => [name, text])) }),
    told: toldBy(columns, isSingle),
    reader,
  };
}

const inWords = (amounts: Amounts | undefined) =>
  Object.fromEntries(
    comparedMeasures.flatMap((measure) =>
      amounts === undefined || amounts[measure].digits === 0n ? [] : [[measure, decimalText(amounts[measure])]],
    ),
  );

const azure = {
  Date: '11/01/2026',
  MeterName: 'gpt 4o 1120 cached Inp glbl Tokens',
  Quantity: '1.5',
  UnitOfMeasure: '1K',
};
const costs = { start_time: '1793491200', end_time: '1793577600', line_item: 'gpt-4o-2024-08-06, input' };

describe('rows of usage exports', () => {
  test.each([
    {
      _name: "OpenAI's usage counts tokens of the cache among those of input",
      provider: 'openai',
      cells: {
        ...{ start_time: '1793491200', end_time: '1793577600', model: 'gpt-4o-2024-08-06', num_model_requests: '5' },
        ...{ input_tokens: '1000', input_cached_tokens: '800', output_tokens: '500' },
      },
      model: 'gpt-4o-2024-08-06',
      amounts: { calls: '5', prompt: '1000', cached: '800', output: '500' },
    },
    {
      _name: "OpenAI's costs name a model and what of it was used",
      provider: 'openai',
      cells: { ...costs, 'amount.value': '0.06', 'amount.currency': 'usd' },
      model: 'gpt-4o-2024-08-06',
      amounts: { cost: '0.06' },
    },
    {
      _name: "Anthropic's usage counts tokens of the cache beside those of input",
      provider: 'anthropic',
      cells: {
        ...{ usage_date_utc: '2026-11-01', model_version: 'claude-sonnet-4-20250514', usage_output_tokens: '40' },
        ...{ usage_input_tokens_no_cache: '100', usage_input_tokens_cache_read: '20' },
        ...{ usage_input_tokens_cache_write_5m: '3', usage_input_tokens_cache_write_1h: '4' },
      },
      model: 'claude-sonnet-4-20250514',
      amounts: { prompt: '127', cached: '20', output: '40' },
    },
    {
      _name: "Anthropic's costs are in cents",
      provider: 'anthropic',
      cells: { starting_at: '2026-11-01T00:00:00Z', ending_at: '2026-11-02T00:00:00Z', model: 'x', amount: '123.45' },
      model: 'x',
      amounts: { cost: '1.2345' },
    },
    {
      _name: "Google's rows are of a meter each, and name how much a dollar is",
      provider: 'google',
      cells: {
        ...{ usage_start_time: '2026-11-01 00:00:00 UTC', usage_end_time: '2026-11-01 01:00:00 UTC', cost: '9.2' },
        ...{ 'sku.description': 'Gemini 2.5 Flash GA Text Output - Predictions', 'usage.amount': '1200' },
        ...{ currency: 'EUR', currency_conversion_rate: '0.92' },
      },
      model: 'Gemini-2.5-Flash',
      amounts: { output: '1200', cost: '10' },
    },
    {
      _name: "Azure's quantities are in the unit of the meter, and columns in any case",
      provider: 'azure',
      cells: { ...azure, costInBillingCurrency: '0.7', billingCurrency: 'USD' },
      model: 'gpt-4o-1120',
      amounts: { prompt: '1500', cached: '1500', cost: '0.7' },
    },
    {
      _name: "OpenRouter's rows are calls",
      provider: 'openrouter',
      cells: {
        ...{
          generation_id: 'gen-1',
          created_at: '2026-11-01 00:00:01.123',
          cost_total: '0.00012',
          tokens_prompt: '10',
        },
        ...{ tokens_completion: '5', tokens_cached: '', model_permaslug: 'openai/gpt-4.1-2025-04-14' },
      },
      model: 'openai/gpt-4.1-2025-04-14',
      amounts: { calls: '1', prompt: '10', output: '5', cost: '0.00012' },
    },
  ])('$_name', ({ provider, cells, model, amounts }) => {
    const { row } = read(provider, cells);
    expect({ model: row?.model, amounts: inWords(row?.amounts) }).toEqual({ model, amounts });
  });

  test('a meter of something else is no row', () => {
    expect(read('azure', { ...azure, MeterName: 'Standard Disk Operations' }).row).toBeNull();
  });

  test('columns that were mapped by hand take the place of those of the layout', () => {
    const cells = { ...costs, spent: '0.5', 'amount.value': '7' };
    expect(inWords(read('openai', cells, { map: [['spent', 'dollars']] }).row?.amounts)).toEqual({ cost: '0.5' });
    expect(() => read('openai', cells, { map: [['gone', 'dollars']] })).toThrow(
      refusal('invalid-field', { field: 'map' }),
    );
  });

  test.each([
    { _name: 'no number', cells: { 'amount.value': '1,5' }, field: 'column amount.value' },
    { _name: 'a number beyond all bounds', cells: { 'amount.value': '1e13' }, field: 'column amount.value' },
    {
      _name: 'a currency whose worth nobody has said',
      cells: { 'amount.currency': 'cny' },
      field: 'column amount.currency',
    },
    { _name: 'no time', cells: { start_time: '2026-02-31' }, field: 'column start_time' },
    { _name: 'an end before its beginning', cells: { end_time: '1793491199' }, field: 'column end_time' },
    { _name: 'no model', cells: { line_item: '' }, field: 'column line_item' },
  ])('a row with $_name is refused by line and column', ({ cells, field }) => {
    const row = { ...costs, 'amount.value': '1', 'amount.currency': 'usd', ...cells };
    expect(() => read('openai', row)).toThrow(refusal('invalid-field', { field: `line 7, ${field}` }));
  });

  test('a currency is turned into dollars by the rate that was given', () => {
    const cells = { ...costs, 'amount.value': '7.1', 'amount.currency': 'cny' };
    expect(inWords(read('openai', cells, { rate: '7.1' }).row?.amounts)).toEqual({ cost: '1' });
  });
});

test.each([
  ['1793491200', '2026-11-01T00:00:00.000Z'],
  ['2026-11-01', '2026-11-01T00:00:00.000Z'],
  ['11/1/2026', '2026-11-01T00:00:00.000Z'],
  ['2026-11-01 00:00:01.5 UTC', '2026-11-01T00:00:01.500Z'],
  ['2026-11-01T08:00:00+08', '2026-11-01T00:00:00.000Z'],
  ['2026-11-31', null],
  ['13/01/2026', null],
  ['yesterday', null],
])('the time %s is read as %s', (text, time) => {
  const at = timeWritten(text);
  expect(at === null ? null : new Date(at).toISOString()).toBe(time);
});

test.each([
  ['openai/gpt-4o-2024-08-06', 'gpt-4o'],
  ['claude-sonnet-4-20250514', 'claude-sonnet-4'],
  ['Gemini 2.5 Flash', 'gemini-2.5-flash'],
  ['gpt-4o-mini', 'gpt-4o-mini'],
])('the model %s is compared as %s', (name, key) => {
  expect(modelKey(name)).toBe(key);
});
