const daySeconds = 86_400;

/** Which calls are looked at: by when they were settled, in Unix seconds. */
export interface SettledPeriod {
  readonly from: number;
  readonly to: number;
}

/** The last days, up to this one's end. */
export function lastDays(days: number): SettledPeriod {
  const to = Math.ceil(Date.now() / 1000 / daySeconds) * daySeconds;
  return { from: to - days * daySeconds, to };
}
