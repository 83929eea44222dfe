import { useCallback } from 'react';
import { useLocation, useNavigate, useSearchParams } from 'react-router-dom';

const parameter = 'open';

interface OpenItem {
  /** What the drawer shows: an id, or a word such as `new`; null: it is closed. */
  readonly open: string | null;
  /** Address of this page with the drawer open on something. All else of the address stays. */
  readonly openLink: (item: string) => string;
  readonly show: (item: string) => void;
  /** In place of what is open: back leads to before that. */
  readonly replace: (item: string) => void;
  readonly close: () => void;
}

function withItem(search: string, item: string | null): string {
  const params = new URLSearchParams(search);
  if (item === null) params.delete(parameter);
  else params.set(parameter, item);
  const text = params.toString();
  return text === '' ? '' : `?${text}`;
}

const ofKind = (kind: string): string => `${kind}-`;

/** Of another page, with its drawer open on something. */
export const addressOf = (page: string, item: string): string => `${page}${withItem('', item)}`;

/** What the address opens of a kind of its own, e.g. the test of a row rather than the row: `test-{id}`. */
export const itemOf = (kind: string, what: string): string => `${ofKind(kind)}${what}`;

/** What an open item of that kind names; null: nothing is open, or something else. */
export const namedBy = (kind: string, item: string | null): string | null =>
  item?.startsWith(ofKind(kind)) ? item.slice(ofKind(kind).length) : null;

/** The id of an open row; null: nothing is open, or something else. */
export const openedId = (item: string | null): string | null => (item !== null && /^\d+$/.test(item) ? item : null);

/** The open drawer of a page, kept in the address as `?open=…`: back closes it, reload and a shared link reopen it. */
export function useOpenItem(): OpenItem {
  const [search] = useSearchParams();
  const { pathname } = useLocation();
  const navigate = useNavigate();
  const text = search.toString();
  const openLink = useCallback((item: string) => `${pathname}${withItem(text, item)}`, [pathname, text]);
  const show = useCallback((item: string) => void navigate({ search: withItem(text, item) }), [navigate, text]);
  const replace = useCallback(
    (item: string) => void navigate({ search: withItem(text, item) }, { replace: true }),
    [navigate, text],
  );
  const close = useCallback(() => void navigate({ search: withItem(text, null) }, { replace: true }), [navigate, text]);
  return { open: search.get(parameter), openLink, show, replace, close };
}
