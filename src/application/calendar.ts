import { invalidField } from '../domain/kernel/failure.js';
import { Instant } from '../domain/kernel/instant.js';

/* Months and days as they are where somebody lives. */

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
const firstYear = 2020;
/** The longest name there is has 32 characters. */
const maxZoneLength = 64;

export class TimeZone {
  private lastMinute = Number.NaN;
  private lastOffset = 0;

  private constructor(
    readonly name: string,
    private readonly format: Intl.DateTimeFormat,
  ) {}

  /** By its name in the IANA database. Throws `invalid-field`. */
  static named(field: string, name: string): TimeZone {
    try {
      // Later releases of Node take an offset as well, such as +05:17, whose months begin within a quarter of an hour.
      if (name.length > maxZoneLength || /^[+-]/.test(name)) throw new RangeError();
      const format = new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName: 'longOffset' });
      return new TimeZone(format.resolvedOptions().timeZone, format);
    } catch {
      throw invalidField(field, 'the name of a time zone, such as UTC or Asia/Shanghai');
    }
  }

  /** `2026-03-01 13:05:00` */
  timeOf(at: number): string {
    return new Date(at + this.offsetAt(at)).toISOString().slice(0, 19).replace('T', ' ');
  }

  /** `2026-03-01` */
  dayOf(at: number): string {
    return this.timeOf(at).slice(0, 10);
  }

  /** When a day begins. `month` is counted from 0 and `day` from 1; beyond their last, both go on counting. */
  beginning(year: number, month: number, day = 1): Instant {
    const wall = Date.UTC(year, month, day);
    const [before, after] = [this.offsetAt(wall - dayMs), this.offsetAt(wall + dayMs)];
    const [early, late] = [wall - before, wall - after];
    // Where clocks change within these two days, what was in force at midnight is what leads back to itself.
    if (this.offsetAt(early) === before) return Instant(early);
    if (this.offsetAt(late) === after) return Instant(late);
    // They skip midnight: the day begins as they do.
    return Instant(early);
  }

  /** In milliseconds. Clocks change at full minutes, and whoever asks about a moment mostly asks about many around it. */
  private offsetAt(at: number): number {
    const minute = Math.floor(at / minuteMs);
    if (minute !== this.lastMinute) {
      this.lastOffset = this.formattedOffsetAt(at);
      this.lastMinute = minute;
    }
    return this.lastOffset;
  }

  /** As `GMT+05:30` says it. */
  private formattedOffsetAt(at: number): number {
    const parts = this.format.formatToParts(at);
    const text = parts.find(({ type }) => type === 'timeZoneName')?.value ?? '';
    const [, sign, hours, minutes] = /^GMT([+-])(\d\d):(\d\d)/.exec(text) ?? [];
    return (sign === '-' ? -1 : 1) * (Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * minuteMs;
  }
}

export interface Month {
  /** `2026-03` */
  readonly name: string;
  readonly zone: TimeZone;
  /** Its first instant, and the first one behind it. */
  readonly from: Instant;
  readonly to: Instant;
}

/** A month that has begun. Throws `invalid-field`. */
export function monthNamed(name: string, zoneName: string, now: Instant): Month {
  const zone = TimeZone.named('zone', zoneName);
  const refused = invalidField('month', `YYYY-MM, from ${firstYear}-01 to the current month`);
  const [, year, month] = /^(\d{4})-(0[1-9]|1[0-2])$/.exec(name) ?? [];
  if (year === undefined || month === undefined || Number(year) < firstYear) throw refused;
  const [y, m] = [Number(year), Number(month) - 1];
  const from = zone.beginning(y, m);
  if (from > now) throw refused;
  return { name, zone, from, to: zone.beginning(y, m + 1) };
}
