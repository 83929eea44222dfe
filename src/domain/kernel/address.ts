/*
 * null: the text is no address. Not `URL.canParse`: once it runs compiled, Node 20 takes an address with a letter like `ü`
 * for none.
 */
export function urlIn(text: string, base?: URL): URL | null {
  try {
    return new URL(text, base);
  } catch {
    return null;
  }
}
