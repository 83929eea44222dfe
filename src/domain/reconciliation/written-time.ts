const iso = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?))?\s*(Z|UTC|[+-]\d\d(?::?\d\d)?)?$/i;
const american = /^(\d{1,2})\/(\d{1,2})\/(\d{4})$/;

const daysOfMonth = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Others would be read as days of the month after it. */
function isDay(day: string): boolean {
  const [year = 0, month = 0, date = 0] = day.split('-').map(Number);
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  return date >= 1 && date <= (month === 2 && isLeap ? 29 : (daysOfMonth[month - 1] ?? 0));
}

/** `+00` and `+0000` as `+00:00`. */
const zoneOf = (zone: string): string => {
  if (/^(?:|Z|UTC)$/i.test(zone)) return 'Z';
  const digits = zone.slice(1).replace(':', '').padEnd(4, '0');
  return `${zone[0]}${digits.slice(0, 2)}:${digits.slice(2)}`;
};

/**
 * Milliseconds since 1970 of a time as exports write it: unix seconds or milliseconds, a date (its beginning, UTC; of
 * 11/29/2026 the month is first), or a date and time, UTC where it names no zone. null: it is none.
 */
export function timeWritten(text: string): number | null {
  if (/^\d{9,10}$/.test(text)) return Number(text) * 1000;
  if (/^\d{12,13}$/.test(text)) return Number(text);
  const [, month = '', day = '', year] = american.exec(text) ?? [];
  const written = year === undefined ? text : `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
  const [, date, time = '00:00', zone = ''] = iso.exec(written) ?? [];
  if (date === undefined || !isDay(date)) return null;
  const at = Date.parse(`${date}T${time.replace(/(\.\d{3})\d+$/, '$1')}${zoneOf(zone)}`);
  return Number.isNaN(at) ? null : at;
}
