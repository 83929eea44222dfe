/* The ways a text can lie in a dump: as it is, or as some layer between may have written it. */

/**
 * Base64 of a text that stands somewhere inside a longer one: three alignments, each without the characters that it
 * shares with its neighbours.
 */
const base64Of = (bytes: Buffer): string[] =>
  [0, 1, 2].map((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
    return encoded.slice(offset === 0 ? 0 : offset + 1, Math.floor(((offset + bytes.length) * 8) / 6));
  });

/** The text plain, escaped for JSON (once and twice), for URLs and forms, in hex and in base64 of both alphabets. */
export function spellingsOf(text: string): ReadonlySet<string> {
  const bytes = Buffer.from(text, 'utf8');
  const escaped = JSON.stringify(text).slice(1, -1);
  const base64 = base64Of(bytes);
  return new Set([
    text,
    escaped,
    JSON.stringify(escaped).slice(1, -1),
    encodeURIComponent(text),
    encodeURI(text),
    new URLSearchParams({ text }).toString().slice('text='.length),
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
    ...base64,
    ...base64.map((encoded) => encoded.replaceAll('+', '-').replaceAll('/', '_')),
  ]);
}

export interface Finding {
  readonly secret: string;
  readonly where: string;
  readonly spelling: string;
}

/** Where which text can be read, in whatever spelling. */
export function findAll(
  secrets: Readonly<Record<string, string>>,
  textsByPlace: Readonly<Record<string, readonly string[]>>,
): Finding[] {
  const dumps = Object.entries(textsByPlace).map(([where, texts]) => ({ where, dump: texts.join('\n') }));
  return Object.entries(secrets).flatMap(([secret, text]) =>
    dumps.flatMap(({ where, dump }) =>
      [...spellingsOf(text)]
        .filter((spelling) => dump.includes(spelling))
        .map((spelling) => ({ secret, where, spelling })),
    ),
  );
}
