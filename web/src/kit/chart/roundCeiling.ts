/** The next 1, 2 or 5 followed by zeros: where a scale ends. */
export function roundCeiling(value: number): number {
  if (value <= 0) return 0;
  const magnitude = 10 ** Math.floor(Math.log10(value));
  const factor = [1, 2, 5].find((one) => value <= one * magnitude) ?? 10;
  return factor * magnitude;
}
