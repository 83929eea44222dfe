/* What a `datetime-local` input holds, in the browser's time zone. Moments are Unix seconds. */

const two = (value: number): string => String(value).padStart(2, '0');

export function asLocalInput(at: number): string {
  const moment = new Date(at * 1000);
  const day = `${moment.getFullYear()}-${two(moment.getMonth() + 1)}-${two(moment.getDate())}`;
  return `${day}T${two(moment.getHours())}:${two(moment.getMinutes())}:${two(moment.getSeconds())}`;
}

/** null: the text is no moment, or there is none. */
export function fromLocalInput(text: string): number | null {
  const moment = new Date(text).getTime();
  return Number.isNaN(moment) ? null : Math.floor(moment / 1000);
}
