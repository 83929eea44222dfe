import { urlIn } from './address.js';

/* What can be wrong with the text of DATABASE_URL, reported before anybody connects. */

const form = 'postgres://user:password@host:port/database';
const sslModes = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'];

const decodes = (text: string): boolean => {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
};

/** What is to be changed about the text, in words that go on after "DATABASE_URL:"; null: it can be read. */
export function databaseUrlProblem(text: string): string | null {
  if (!/^postgres(ql)?:\/\/\S+$/.test(text)) return `use ${form}`;
  if (text.includes('#')) return `write # as %23; use ${form}`;
  const authority = /^\w+:\/\/([^/?]*)/.exec(text)?.[1] ?? '';
  const host = authority.slice(authority.lastIndexOf('@') + 1);
  if (host.includes(',')) return 'name one host: a list of hosts is not supported';
  if (!decodes(text)) return 'write % in a user name or a password as %25';
  // The driver takes an empty host for the usual one, or for that of `?host=`.
  const url = urlIn(host === '' ? text.replace(authority, `${authority}localhost`) : text);
  if (url === null)
    return `use ${form} with a port from 1 to 65535; in user name and password write / as %2F, ? as %3F, @ as %40, : as %3A`;
  const sslMode = url.searchParams.get('sslmode');
  return sslMode === null || sslModes.includes(sslMode) ? null : `sslmode must be one of ${sslModes.join(', ')}`;
}
