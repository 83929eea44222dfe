/* A file that the server makes. It is fetched, not linked to: what is refused, or breaks off, is said where it was asked for. */

type Fetched =
  | { readonly ok: true; readonly name: string; readonly content: Blob }
  /** `code`: what the server refused it with; null: its answer is none of ours. */
  | { readonly ok: false; readonly status: number; readonly code: string | null };

const nameIn = (disposition: string | null): string | undefined => /filename="([^"]+)"/.exec(disposition ?? '')?.[1];
const typeOf = ({ headers }: Response): string => (headers.get('content-type') ?? '').split(';', 1)[0] ?? '';

/** What each kind of file is sent as. */
const typesByEnding: Readonly<Record<string, string>> = { csv: 'text/csv', ndjson: 'application/x-ndjson' };

/** `file`: as the server calls it, CSV where its name has no ending. Throws TypeError where the server is not reached, or the file breaks off. */
export async function fetchExport(
  file: string,
  query: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<Fetched> {
  const whole = file.includes('.') ? file : `${file}.csv`;
  const answer = await fetch(`/export/${whole}?${new URLSearchParams(query)}`, { signal });
  if (answer.ok && typeOf(answer) === typesByEnding[whole.replace(/^.*\./, '')]) {
    const name = nameIn(answer.headers.get('content-disposition')) ?? whole;
    return { ok: true, name, content: await answer.blob() };
  }
  const said = typeOf(answer) === 'text/plain' ? (await answer.text()).trim() : null;
  return { ok: false, status: answer.status, code: said };
}
