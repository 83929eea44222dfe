/*
 * How the usage exports of providers are laid out: which column holds what. The five that are known here are as their
 * vendors document them, or as their files begin:
 *
 * OpenAI: platform.openai.com/docs/api-reference/usage (completions, costs), as JSON or as the CSV of the usage page.
 * Anthropic: docs.anthropic.com/en/api/usage-cost-api, and the CSV of the console's usage and cost pages.
 * Google: cloud.google.com/billing/docs/how-to/export-data-bigquery-tables, rows as CSV or JSON.
 * Azure: learn.microsoft.com/azure/cost-management-billing/automate/understand-usage-details-fields.
 * OpenRouter: openrouter.ai/docs (activity export by generation; /api/v1/activity by day).
 */

/** `dollars` and `cents` are of US dollars; `cost` is in `currency`, of which a dollar has `rate`. */
export const exportFields = [
  'time',
  'end',
  'model',
  'request-id',
  'calls',
  'prompt',
  'uncached',
  'cached',
  'cache-write',
  'output',
  'dollars',
  'cents',
  'cost',
  'currency',
  'rate',
  'meter',
  'quantity',
  'unit',
] as const;
export type ExportField = (typeof exportFields)[number];

export const isExportField = (name: string): name is ExportField => (exportFields as readonly string[]).includes(name);

/** What a meter counts: tokens of a kind, of a model. */
interface MeterOfTokens {
  readonly model: string;
  readonly kind: 'uncached' | 'cached' | 'output';
}

export interface ExportForm {
  /** Of each field the columns that may hold it: those of the first entry that the file has, whose counts add up. */
  readonly columns: Readonly<Partial<Record<ExportField, readonly (readonly string[])[]>>>;
  /** The name of the model within the text of its column. */
  readonly modelIn?: (text: string) => string;
}

const one = (...columns: string[]): readonly (readonly string[])[] => columns.map((column) => [column]);

export const exportForms = {
  openai: {
    columns: {
      time: one('start_time', 'start_time_iso'),
      end: one('end_time', 'end_time_iso'),
      model: one('model', 'line_item'),
      calls: one('num_model_requests'),
      prompt: one('input_tokens'),
      cached: one('input_cached_tokens'),
      output: one('output_tokens'),
      cost: one('amount.value', 'amount_value'),
      currency: one('amount.currency', 'amount_currency'),
    },
    modelIn: (text: string) => text.replace(/,.*$/s, ''),
  },
  anthropic: {
    columns: {
      time: one('usage_date_utc', 'starting_at'),
      end: one('ending_at'),
      model: one('model_version', 'model'),
      uncached: one('usage_input_tokens_no_cache', 'uncached_input_tokens'),
      cached: one('usage_input_tokens_cache_read', 'cache_read_input_tokens'),
      'cache-write': [
        ['usage_input_tokens_cache_write_5m', 'usage_input_tokens_cache_write_1h'],
        ['cache_creation.ephemeral_5m_input_tokens', 'cache_creation.ephemeral_1h_input_tokens'],
      ],
      output: one('usage_output_tokens', 'output_tokens'),
      dollars: one('cost_usd'),
      cents: one('amount'),
    },
  },
  google: {
    columns: {
      time: one('usage_start_time'),
      end: one('usage_end_time'),
      meter: one('sku.description', 'sku_description'),
      quantity: one('usage.amount', 'usage_amount'),
      cost: one('cost'),
      currency: one('currency'),
      rate: one('currency_conversion_rate'),
    },
  },
  azure: {
    columns: {
      time: one('Date', 'UsageDateTime'),
      meter: one('MeterName'),
      quantity: one('Quantity', 'UsageQuantity'),
      unit: one('UnitOfMeasure'),
      dollars: one('CostInUsd'),
      cost: one('CostInBillingCurrency', 'Cost', 'PreTaxCost'),
      currency: one('BillingCurrency', 'BillingCurrencyCode', 'Currency'),
    },
  },
  openrouter: {
    columns: {
      time: one('created_at', 'date'),
      model: one('model_permaslug', 'model'),
      'request-id': one('generation_id'),
      calls: one('requests'),
      prompt: one('tokens_prompt', 'prompt_tokens'),
      cached: one('tokens_cached'),
      output: one('tokens_completion', 'completion_tokens'),
      dollars: one('cost_total', 'usage'),
    },
  },
} as const satisfies Readonly<Record<string, ExportForm>>;

export const exportFormOf = (provider: string): ExportForm | null =>
  Object.hasOwn(exportForms, provider) ? exportForms[provider as keyof typeof exportForms] : null;

const isCached = /\bcach/i;
const isOutput = /\b(?:out|outpt?|opt|output)\b/i;
const isInput = /\b(?:inp?|inpt|input)\b/i;
/** Words of a meter that are not of its model. */
const noise =
  /\b(?:generate|content|in|inp|inpt|input|out|outp|outpt|opt|output|tokens?|count|text|images?|audio|video|cach\w*|glbl|gl|global|dzone|dz|data|zone|regnl|regional|1m|1k|ga|predictions?|thinking)\b/gi;

/** `gpt 4o 1120 cached Inp glbl Tokens` → cached input of gpt-4o-1120; null: it does not count tokens. */
export function meterOf(text: string): MeterOfTokens | null {
  const kind = isOutput.test(text) || /\boutp\b/i.test(text) ? 'output' : isInput.test(text) ? 'uncached' : null;
  if (kind === null) return null;
  const words = text
    .replace(noise, ' ')
    .split(/\s+/)
    .filter((word) => word !== '' && word !== '-');
  return { model: words.join('-'), kind: kind === 'uncached' && isCached.test(text) ? 'cached' : kind };
}
