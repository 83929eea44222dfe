/** Prices change at midnight in UTC: `2027-01-01`. `seconds`: since 1970. */
export const dayOf = (seconds: number): string => new Date(seconds * 1000).toISOString().slice(0, 10);
