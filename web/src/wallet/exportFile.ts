/* A month as a file. It is fetched, not linked to: what is refused, or breaks off, is said where it was asked for. */

export type ExportedFile = 'usage' | 'statement';

export interface MonthWanted {
  readonly month: string;
  readonly zone: string;
}

type Fetched =
  | { readonly ok: true; readonly name: string; readonly content: Blob }
  /** `code`: what the server refused it with; null: its answer is none of ours. */
  | { readonly ok: false; readonly status: number; readonly code: string | null };

const nameIn = (disposition: string | null): string | undefined => /filename="([^"]+)"/.exec(disposition ?? '')?.[1];
const typeOf = ({ headers }: Response): string => (headers.get('content-type') ?? '').split(';', 1)[0] ?? '';

/** Throws TypeError where the server is not reached, or the file breaks off. */
export async function fetchExport(
  file: ExportedFile,
  { month, zone }: MonthWanted,
  signal: AbortSignal,
): Promise<Fetched> {
  const answer = await fetch(`/export/${file}.csv?${new URLSearchParams({ month, zone })}`, { signal });
  if (answer.ok && typeOf(answer) === 'text/csv') {
    const name = nameIn(answer.headers.get('content-disposition')) ?? `${file}-${month}.csv`;
    return { ok: true, name, content: await answer.blob() };
  }
  const said = typeOf(answer) === 'text/plain' ? (await answer.text()).trim() : null;
  return { ok: false, status: answer.status, code: said };
}
