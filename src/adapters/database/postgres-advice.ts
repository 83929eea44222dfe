import pg from 'pg';
import { Failure } from '../../domain/kernel/failure.js';

/* Why a Postgres cannot be used, and what to do about it, in one sentence each. */

const startIt = 'Start Postgres there, correct DATABASE_URL, or unset it to use the embedded Postgres.';
const ownIt =
  'Make the role of DATABASE_URL the owner of the database: ALTER DATABASE … OWNER TO …; ' +
  'where it cannot be, GRANT CREATE ON DATABASE … and GRANT CREATE ON SCHEMA public to it.';

/** By SQLSTATE. */
const adviceByState: Readonly<Record<string, string>> = {
  '08P01': 'Where DATABASE_URL names a pooler such as PgBouncer, look into its log and its list of databases.',
  '28000': 'Correct the user name or the password in DATABASE_URL, or let it in by pg_hba.conf.',
  '28P01': 'Correct the user name or the password in DATABASE_URL.',
  '25006': 'Name the primary in DATABASE_URL, and leave default_transaction_read_only off for this role and database.',
  '3D000': 'Create the database, or correct its name in DATABASE_URL.',
  '3F000': 'Set the search_path of the role to a schema that exists, such as public.',
  '42501': ownIt,
  '53100': 'Make room on the disk of Postgres.',
  '53300': 'Raise max_connections of Postgres, or stop other clients.',
  '57P03': 'Postgres is starting or stopping; try again in a moment.',
};

/** By the code of Node, where no word of Postgres has come. */
const adviceByCode: Readonly<Record<string, string>> = {
  ENOENT: 'Correct the path of the file in DATABASE_URL (sslrootcert, sslcert, sslkey).',
  EACCES: 'Let the gateway read the file that DATABASE_URL names (sslrootcert, sslcert, sslkey).',
  ENOTFOUND: 'Correct the host name in DATABASE_URL.',
  EAI_AGAIN: 'Correct the host name in DATABASE_URL, or mend the name server.',
  ERR_TLS_CERT_ALTNAME_INVALID: 'Name the host in DATABASE_URL as its certificate does.',
  CERT_HAS_EXPIRED: 'Renew the certificate of Postgres.',
};

const untrusted = /^(SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_[A-Z_]+)$/;
const trustIt =
  'The certificate of Postgres is not trusted: name the file of its authority in DATABASE_URL ' +
  '(?sslmode=verify-full&sslrootcert=/path/ca.pem), or in NODE_EXTRA_CA_CERTS.';

/** What is said in several states, or without any. */
const adviceByWords: readonly (readonly [RegExp, string])[] = [
  [/does not support SSL/, 'Switch TLS on at Postgres (ssl = on), or remove sslmode from DATABASE_URL.'],
  [/no encryption|SSL off/, 'Postgres wants TLS: add ?sslmode=verify-full to DATABASE_URL.'],
  [/too many connections for role/, 'Raise the limit of the role: ALTER ROLE … CONNECTION LIMIT 60.'],
  [/too many connections for database/, 'Raise the limit of the database: ALTER DATABASE … CONNECTION LIMIT 60.'],
  [/not permitted to log in/, 'Let the role log in: ALTER ROLE … LOGIN.'],
  [
    /permission denied for database|CONNECT privilege/,
    'Let the role in: GRANT CONNECT, CREATE ON DATABASE … TO …; or make it the owner.',
  ],
  [/password must be a string|no password/i, 'Put the password into DATABASE_URL.'],
];

function adviceOn(error: unknown, code: string, message: string): string {
  const byWords = adviceByWords.find(([words]) => words.test(message))?.[1];
  if (byWords !== undefined) return byWords;
  if (untrusted.test(code)) return trustIt;
  if (error instanceof pg.DatabaseError) return adviceByState[code] ?? 'Look into the log of Postgres.';
  return adviceByCode[code] ?? startIt;
}

/** Failure `store-unavailable`; `where`: what of the connection may be shown. A Failure stays what it is. */
export function unusable(where: string, error: unknown): Failure {
  if (error instanceof Failure) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const cause = error instanceof Error ? error.message : String(error);
  return new Failure('store-unavailable', {
    reason: `Postgres at ${where} cannot be used (${cause || code}). ${adviceOn(error, code, cause)}`,
  });
}

/** The same for what a start met on its way, where it is the word of Postgres; anything else stays what it is. */
export const adviceAtStart = (where: string, error: unknown): unknown =>
  error instanceof pg.DatabaseError ? unusable(where, error) : error;
