/*
 * The charge of a call out of its receipt alone, as docs/audit.md says it. It shares no code with what made the charge, and
 * knows nothing but the JSON of the receipt.
 */

/** `digits / 10^scale`. */
interface Exact {
  readonly digits: bigint;
  readonly scale: number;
}

function exact(text: string): Exact {
  const [mantissa = '', exponent = '0'] = text.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  const scale = fraction.length - Number(exponent);
  const digits = BigInt(whole + fraction);
  return scale < 0 ? { digits: digits * 10n ** BigInt(-scale), scale: 0 } : { digits, scale };
}

const product = (...texts: readonly string[]): Exact =>
  texts.map(exact).reduce((a, b) => ({ digits: a.digits * b.digits, scale: a.scale + b.scale }));

function sum(amounts: readonly Exact[]): Exact {
  const scale = Math.max(0, ...amounts.map((amount) => amount.scale));
  const digits = amounts.reduce((total, one) => total + one.digits * 10n ** BigInt(scale - one.scale), 0n);
  return { digits, scale };
}

/** Halves away from zero; nothing here is negative. */
const rounded = ({ digits, scale }: Exact): bigint =>
  (digits * 2n + 10n ** BigInt(scale)) / (2n * 10n ** BigInt(scale));

/** No call costs more, whatever its price says. */
const most = 1_000_000_000_000;

const inputs = [
  ...['input', 'cachedInput', 'cacheWrite', 'cacheWriteHour', 'imageInput', 'audioInput'],
  ...['videoInput', 'cachedAudioInput'],
];
const outputs = ['output', 'reasoning', 'imageOutput', 'audioOutput', 'videoOutput'];

type Texts = Readonly<Record<string, string>>;

interface ReadPrice {
  readonly per: 'token' | 'call';
  readonly group: string;
  readonly service?: { readonly factor: string };
  readonly pieces?: { readonly dollars: Texts; readonly quotaPerUnit: string };
  readonly model: string;
  readonly ratios: Texts;
  readonly tiers?: readonly { readonly over: number; readonly ratios: Texts }[];
  readonly price: string;
  readonly quotaPerUnit: string;
}

interface ReadReceipt {
  readonly usage: { readonly counts: Readonly<Record<string, number>> } | null;
  readonly price: ReadPrice;
}

const ratioIn = (ratios: Texts, name: string): string =>
  ratios[name] ?? (outputs.includes(name) ? (ratios.output ?? '1') : (ratios.input ?? '1'));

function pieces(count: number, name: string, { pieces, group, service }: ReadPrice): Exact {
  const dollars = pieces?.dollars[name] ?? (name.startsWith('video:') ? pieces?.dollars.video : undefined);
  if (pieces === undefined || dollars === undefined) return exact('0');
  const factor = name.startsWith('calls:') ? '1' : (service?.factor ?? '1');
  return product(String(count), dollars, pieces.quotaPerUnit, group, factor);
}

/** Of a receipt as JSON: what the call cost. */
export const recomputedCharge = (json: string): number => Math.min(most, chargeIn(JSON.parse(json) as ReadReceipt));

function chargeIn({ usage, price }: ReadReceipt): number {
  const used = Object.entries(usage?.counts ?? {}).filter(([, count]) => count > 0);
  const isToken = (name: string): boolean => inputs.includes(name) || outputs.includes(name);
  const factor = price.service?.factor ?? '1';
  const others = used.filter(([name]) => !isToken(name)).map(([name, count]) => pieces(count, name, price));
  if (price.per === 'call')
    return usage === null
      ? 0
      : Number(rounded(sum([product(price.price, price.quotaPerUnit, price.group, factor), ...others])));
  if (used.length === 0) return 0;
  const length = used.reduce((total, [name, count]) => total + (inputs.includes(name) ? count : 0), 0);
  const ratios = price.tiers?.findLast(({ over }) => length > over)?.ratios ?? price.ratios;
  const tokens = used
    .filter(([name]) => isToken(name))
    .map(([name, count]) => product(String(count), ratioIn(ratios, name), price.model, price.group, factor));
  const total = sum([...tokens, ...others]);
  const plainInput = product(ratioIn(price.ratios, 'input'), price.model, price.group, factor);
  const isFree = total.digits === 0n && plainInput.digits === 0n;
  return isFree ? 0 : Math.max(1, Number(rounded(total)));
}
