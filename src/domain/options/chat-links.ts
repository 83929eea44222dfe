import { checkText, type TextBound } from '../kernel/bounds.js';
import { Failure, invalidField } from '../kernel/failure.js';

/* The option Chats: chat front ends that are opened with an API key of whoever opens them. */

export interface ChatLink {
  /** In the option's list, from 0: what stands in the address of the page. */
  readonly place: number;
  readonly name: string;
  /** `{address}` and `{key}` stand for the gateway's address and for a key. */
  readonly url: string;
}

const maxLinks = 50;
const nameText: TextBound = { max: 100 };
const urlText: TextBound = { max: 2048 };
const allowed = `a JSON array of at most ${maxLinks} objects of one name and one address each`;

/** What runs in a page, or shows what is not of the network, is no front end. Apps have schemes of their own. */
const notOpened: ReadonlySet<string> = new Set([
  'about:',
  'blob:',
  'data:',
  'file:',
  'filesystem:',
  'javascript:',
  'vbscript:',
  'view-source:',
]);

/** As a browser reads it, which passes over spaces and line breaks within. */
function schemeOf(url: string): string | null {
  try {
    return new URL(url).protocol;
  } catch {
    return null;
  }
}

/** Throws `invalid-field`. */
function checkLink({ place, name, url }: ChatLink): void {
  const field = `Chats[${place}]`;
  checkText(field, name, nameText);
  if (name.trim() === '') throw invalidField(field, 'a name that is not blank');
  checkText(field, url, urlText);
  const scheme = schemeOf(url);
  if (scheme === null || notOpened.has(scheme) || !/^[a-z][a-z\d+.-]*:\/\//i.test(url))
    throw invalidField(field, 'an address such as https://… or app://…');
}

/** null: not of the shape there is. */
function linkAt(entry: unknown, place: number): ChatLink | null {
  if (typeof entry !== 'object' || entry === null) return null;
  const [member, ...others] = Object.entries(entry);
  if (member === undefined || others.length > 0) return null;
  const [name, url] = member;
  return typeof url === 'string' ? { place, name, url } : null;
}

/** Throws `invalid-field`, naming the link that is wrong. */
export function checkChatLinks(list: unknown): void {
  if (!Array.isArray(list) || list.length > maxLinks) throw invalidField('Chats', allowed);
  list.forEach((entry: unknown, place) => {
    const link = linkAt(entry, place);
    if (link === null) throw invalidField(`Chats[${place}]`, allowed);
    checkLink(link);
  });
}

/** The links of a stored value. Those that would be refused today are left out, and the others keep their places. */
export function readChatLinks(json: string): ChatLink[] {
  const list = JSON.parse(json) as unknown;
  if (!Array.isArray(list)) return [];
  return list.slice(0, maxLinks).flatMap((entry: unknown, place) => {
    const link = linkAt(entry, place);
    if (link === null) return [];
    try {
      checkLink(link);
      return [link];
    } catch (error) {
      if (error instanceof Failure) return [];
      throw error;
    }
  });
}
