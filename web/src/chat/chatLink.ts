/* From an operator's link to the address that is opened: who uses it has put in what is theirs. */

interface Own {
  readonly address: string;
  /** '' where the link wants none. */
  readonly key: string;
}

export interface ChatTarget {
  /**
   * `frame`: within this page. `window`: a page that is not encrypted, which this one may not frame. `app`: a program
   * of the visitor's.
   */
  readonly opens: 'frame' | 'window' | 'app';
  readonly url: string;
}

export const wantsKey = (link: string): boolean => link.includes('{key}');

/**
 * null: no address comes of it. Which schemes there may be is checked where links are kept; here they only tell how a
 * link is opened.
 */
export function chatTarget(link: string, { address, key }: Own): ChatTarget | null {
  const filled = link
    .replaceAll('{address}', () => encodeURIComponent(address))
    .replaceAll('{key}', () => encodeURIComponent(key));
  try {
    const { href, protocol } = new URL(filled);
    if (protocol === 'https:') return { opens: 'frame', url: href };
    return { opens: protocol === 'http:' ? 'window' : 'app', url: href };
  } catch {
    return null;
  }
}
