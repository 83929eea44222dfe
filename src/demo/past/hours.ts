import type { Instant } from '../../domain/kernel/instant.js';
import type { Habit, Rhythm } from '../cast.js';
import { around, drawn, type Random } from '../random.js';
import type { SeededKey, SeededPerson } from '../seed.js';

/* When the cast calls: by hour of the day and day of the week, in UTC, and a little more from week to week. */

export const hourMs = 3_600_000;
export const dayMs = 24 * hourMs;

/** A call that somebody is about to make. */
export interface Intent {
  /** Unix milliseconds. */
  readonly at: number;
  readonly person: SeededPerson;
  readonly key: SeededKey;
  readonly habit: Habit;
}

/** How far apart two hours of the day are; midnight lies between 23 and 0. */
const hoursApart = (a: number, b: number): number => Math.min(Math.abs(a - b), 24 - Math.abs(a - b));

/** A hill around an hour of the day; about 1 on average over the day. */
const hill = (hour: number, top: number, width: number): number =>
  (24 / (width * Math.sqrt(2 * Math.PI))) * Math.exp(-(hoursApart(hour, top) ** 2) / (2 * width ** 2));

/** How busy an hour is, compared with the average one of a working day. */
function busyness(rhythm: Rhythm, hour: number, isWeekend: boolean): number {
  switch (rhythm) {
    case 'office':
      return hill(hour, 13, 3.2) * (isWeekend ? 0.15 : 1);
    case 'evening':
      return hill(hour, 19, 3.5) * (isWeekend ? 1.4 : 1);
    case 'nightly':
      return hour === 2 ? 18 : hour === 3 ? 6 : 0;
    case 'steady':
      return (0.35 + 0.65 * hill(hour, 14, 5)) * (isWeekend ? 0.75 : 1);
  }
}

/** At the end there is half as much again as at the beginning. `passed`: how much of the past is over, 0 to 1. */
const growth = (passed: number): number => 0.8 + 0.4 * passed;

/** What happens in the hour that begins at `begin`, oldest first. */
export function intentsOf(begin: Instant, passed: number, people: readonly SeededPerson[], random: Random): Intent[] {
  const date = new Date(begin);
  const isWeekend = [0, 6].includes(date.getUTCDay());
  const intents: Intent[] = [];
  for (const person of people)
    for (const key of person.keys) {
      const { daily, rhythm, habits } = key.cast;
      const usual = (daily / 24) * busyness(rhythm, date.getUTCHours(), isWeekend) * growth(passed);
      const count = Math.floor(usual * (around(100, 0.25, random) / 100) + random());
      for (let call = 0; call < count; call++)
        intents.push({ at: begin + Math.floor(random() * hourMs), person, key, habit: drawn(habits, random) });
    }
  return intents.sort((a, b) => a.at - b.at);
}

/** As many in a minute at the end as there are when the demo goes on, and few at the beginning. */
const rushPerMinute = 60;
const minuteMs = 60_000;

/** What happens beside it in the last hour, so that it leads on to the traffic of the present. Oldest first. */
export function rushBefore(until: number, people: readonly SeededPerson[], random: Random): Intent[] {
  const callers = people.flatMap((person) => person.keys.map((key) => ({ person, key, share: key.cast.daily })));
  const intents: Intent[] = [];
  for (let minute = 0; minute < hourMs / minuteMs; minute++) {
    const begin = until - hourMs + minute * minuteMs;
    const count = Math.round((rushPerMinute * minuteMs * minute) / hourMs);
    for (let call = 0; call < count; call++) {
      const { person, key } = drawn(callers, random);
      intents.push({
        ...{ at: begin + Math.floor(random() * minuteMs), person, key },
        habit: drawn(key.cast.habits, random),
      });
    }
  }
  return intents.sort((a, b) => a.at - b.at);
}
