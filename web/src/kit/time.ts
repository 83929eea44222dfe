const two = (value: number): string => String(value).padStart(2, '0');

/** `YYYY-MM-DD HH:mm:ss` in the browser's time zone. `at`: Unix seconds. */
export function formatTime(at: number): string {
  const moment = new Date(at * 1000);
  const day = `${moment.getFullYear()}-${two(moment.getMonth() + 1)}-${two(moment.getDate())}`;
  return `${day} ${two(moment.getHours())}:${two(moment.getMinutes())}:${two(moment.getSeconds())}`;
}

/** `YYYY-MM-DD HH:mm` */
export const formatMinute = (at: number): string => formatTime(at).slice(0, 16);

/** `MM-DD` */
export const formatDay = (at: number): string => formatTime(at).slice(5, 10);

/** `MM-DD HH:mm` */
export const formatDayAndClock = (at: number): string => formatTime(at).slice(5, 16);

/** `HH:mm` */
export const formatClock = (at: number): string => formatTime(at).slice(11, 16);

/** `HH:mm:ss` */
export const formatExactClock = (at: number): string => formatTime(at).slice(11);

/** The browser's, by its name in the IANA database. */
export const ownTimeZone = (): string => new Intl.DateTimeFormat().resolvedOptions().timeZone;
