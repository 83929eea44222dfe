/* Prices as they are read: US dollars of what one costs in quota, which is the server's figure. */

/** Kinds of tokens that have a price, input first: as the server names them. */
export const tokenQuantities = [
  'input',
  'cachedInput',
  'cacheWrite',
  'cacheWriteHour',
  'imageInput',
  'audioInput',
  'cachedAudioInput',
  'videoInput',
  'output',
  'reasoning',
  'imageOutput',
  'audioOutput',
  'videoOutput',
] as const;

/** Six decimals are finer than any price list; what is less than the last of them is still not nothing. */
function dollars(quota: number, quotaPerUnit: string): string {
  const exact = quota / Number(quotaPerUnit);
  const rounded = Number(exact.toFixed(6));
  return rounded === 0 && exact > 0 ? '<$0.000001' : `$${rounded}`;
}

/** As people read it: a price in USD makes ratios of twelve places. */
export const shortRatio = (ratio: string): string => String(Number(Number(ratio).toPrecision(6)));

/** For one. `unitPrice`: quota. */
export const dollarsFor = (unitPrice: string, quotaPerUnit: string): string => dollars(Number(unitPrice), quotaPerUnit);

export const dollarsPerMillion = (unitPrice: string, quotaPerUnit: string): string =>
  dollars(Number(unitPrice) * 1_000_000, quotaPerUnit);

export const dollarsPerThousand = (unitPrice: string, quotaPerUnit: string): string =>
  dollars(Number(unitPrice) * 1_000, quotaPerUnit);
