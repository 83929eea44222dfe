/* Decimal texts, exactly: what is typed as a price must not change by being shown as a ratio. */

interface Decimal {
  readonly digits: bigint;
  readonly scale: number;
}

const pattern = /^(\d{1,20})?(?:\.(\d{0,20}))?(?:[eE]([+-]?\d{1,2}))?$/;

/** null: it is no number from 0. */
function decimal(text: string): Decimal | null {
  const [, whole = '', fraction = '', exponent = '0'] = pattern.exec(text.trim()) ?? [];
  if (whole === '' && fraction === '') return null;
  const digits = BigInt(`${whole}${fraction}`);
  const scale = fraction.length - Number(exponent);
  return scale >= 0 ? { digits, scale } : { digits: digits * 10n ** BigInt(-scale), scale: 0 };
}

function textOf({ digits, scale }: Decimal): string {
  const text = digits.toString().padStart(scale + 1, '0');
  const fraction = text.slice(text.length - scale).replace(/0+$/, '');
  const whole = text.slice(0, text.length - scale);
  return scale === 0 || fraction === '' ? whole : `${whole}.${fraction}`;
}

/** null: one of them is no number. */
export function product(one: string, other: string): string | null {
  const [a, b] = [decimal(one), decimal(other)];
  return a === null || b === null ? null : textOf({ digits: a.digits * b.digits, scale: a.scale + b.scale });
}

const places = 12;

/** null: one of them is no number, or twelve places do not say it exactly. */
export function exactQuotient(one: string, other: string): string | null {
  const [a, b] = [decimal(one), decimal(other)];
  if (a === null || b === null || b.digits === 0n) return null;
  const over = a.digits * 10n ** BigInt(b.scale + places);
  const under = b.digits * 10n ** BigInt(a.scale);
  return over % under === 0n ? textOf({ digits: over / under, scale: places }) : null;
}
