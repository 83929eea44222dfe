import { NotConvertible } from '../contracts/protocol.js';

/*
 * A model's name as part of an address. Callers choose names, within what channels list, and must not choose with them
 * where a request goes: the channel's key goes with it.
 */

const unusable = (): NotConvertible =>
  new NotConvertible('caller', 'the model name cannot be part of an address: . and .. are no names, nor is nothing');

/** One segment of a path, colons and all encoded. Throws NotConvertible. */
export function wholeSegment(name: string): string {
  // Dots alone would step up even when they are encoded.
  if (/^\.{0,2}$/.test(name)) throw unusable();
  try {
    return encodeURIComponent(name);
  } catch {
    // Half a character: no address can hold it.
    throw unusable();
  }
}

/** The same, but for two characters that are usual in names and mean nothing in a path. Throws NotConvertible. */
export const pathSegment = (name: string): string => wholeSegment(name).replaceAll('%40', '@').replaceAll('%3A', ':');

/** As many segments as the name has: names such as vendor/model keep their slashes. Throws NotConvertible. */
export const pathSegments = (name: string): string => name.split('/').map(pathSegment).join('/');

/**
 * An address whose base ends with the version that the path below it begins with: `…/v1` and `/v1/models`. Operators copy
 * bases so, for clients want them so, and a version is in no address twice.
 */
export function undoubled(base: string, url: string): string {
  if (!/\/v\d[a-z\d]*$/.test(base) || !url.startsWith(`${base}/`)) return url;
  const below = url.slice(base.length);
  const [, path = ''] = /^[^:/?#]*:\/\/[^/?#]*(\/.*)$/.exec(base) ?? [];
  for (let at = 0; at >= 0; at = path.indexOf('/', at + 1)) {
    const shared = path.slice(at);
    if (shared !== '' && below.startsWith(`${shared}/`)) return base + below.slice(shared.length);
  }
  return url;
}

const placeholder = '{model}';

/** A base URL with the model's name in its path or its query, wherever the operator wants it. Throws NotConvertible. */
export function withModel(base: string, model: string): string {
  if (!base.includes(placeholder)) return base;
  const [origin = placeholder] = /^[^:/?#]*:[/\\]*[^/\\?#]*/.exec(base) ?? [];
  if (origin.includes(placeholder))
    throw new NotConvertible(
      'channel',
      `${placeholder} may stand in the path or the query of a base URL, not in its host`,
    );
  const [path = '', ...query] = base.slice(origin.length).split('?');
  const inPath = path.includes(placeholder) ? path.replaceAll(placeholder, () => pathSegments(model)) : path;
  const inQuery = query.map((part) => `?${part.replaceAll(placeholder, () => pathSegment(model))}`).join('');
  return origin + inPath + inQuery;
}
