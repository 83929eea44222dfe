/* Decimal text multiplied without loss: what is shown of a charge must be what was charged. */

/** `units` ÷ 10^`scale`. */
export interface Exact {
  readonly units: bigint;
  readonly scale: number;
}

/** `text`: decimal, e.g. `-1.25`; the server sends no other form. Throws SyntaxError on anything else. */
export function exact(text: string): Exact {
  const [whole = '', decimals = ''] = text.split('.');
  return { units: BigInt(`${whole}${decimals}`), scale: decimals.length };
}

export const exactly = (whole: number): Exact => ({ units: BigInt(whole), scale: 0 });

export const times = (left: Exact, right: Exact): Exact => ({
  units: left.units * right.units,
  scale: left.scale + right.scale,
});

const scaledTo = ({ units, scale }: Exact, target: number): bigint => units * 10n ** BigInt(target - scale);

export function plus(left: Exact, right: Exact): Exact {
  const scale = Math.max(left.scale, right.scale);
  return { units: scaledTo(left, scale) + scaledTo(right, scale), scale };
}

/** To a whole number, half away from zero. Of amounts that are not negative. */
export function rounded({ units, scale }: Exact): number {
  const one = 10n ** BigInt(scale);
  return Number((2n * units + one) / (2n * one));
}

/** All digits, without zeros at the end. Of amounts that are not negative. */
export function exactText({ units, scale }: Exact): string {
  const digits = units.toString().padStart(scale + 1, '0');
  const whole = digits.slice(0, digits.length - scale);
  const decimals = digits.slice(digits.length - scale).replace(/0+$/, '');
  return decimals === '' ? whole : `${whole}.${decimals}`;
}
