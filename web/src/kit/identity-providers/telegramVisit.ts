/*
 * Telegram's widget leads the browser to an address of ours, signed. Anybody could send one of theirs here, and who
 * follows it would be signed in as them, or bind their account; so the page knows again what this tab has begun.
 */

const key = 'telegram-visit';

interface TelegramVisit {
  readonly mark: string;
  readonly bind: boolean;
}

const newMark = (): string =>
  [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');

/** Where the widget leads, from this tab only, once. */
export function beginTelegramVisit(bind: boolean): string {
  const visit: TelegramVisit = { mark: newMark(), bind };
  sessionStorage.setItem(key, JSON.stringify(visit));
  return `${window.location.origin}/oauth/telegram?visit=${visit.mark}`;
}

/** null: this tab has begun nothing of the kind. */
export function endTelegramVisit(mark: string | null): Pick<TelegramVisit, 'bind'> | null {
  const stored = sessionStorage.getItem(key);
  sessionStorage.removeItem(key);
  const visit = stored === null ? null : (JSON.parse(stored) as TelegramVisit);
  return visit !== null && visit.mark === mark ? visit : null;
}
