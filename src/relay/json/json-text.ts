/* Where the values of a JSON text stand. The text is JSON: the parser has said so. */

const quote = 0x22;
const backslash = 0x5c;
const openList = 0x5b;
const closeList = 0x5d;
const openObject = 0x7b;
const closeObject = 0x7d;
const comma = 0x2c;
const space = 0x20;

export function blanksEnd(text: string, from: number): number {
  let at = from;
  while (text.charCodeAt(at) <= space) at++;
  return at;
}

/** After the quote that ends the string whose first quote is at `from`. */
export function stringEnd(text: string, from: number): number {
  for (let at = from + 1; ; at++) {
    at = text.indexOf('"', at);
    if (at === -1) return text.length;
    let escapes = 0;
    while (text.charCodeAt(at - escapes - 1) === backslash) escapes++;
    if (escapes % 2 === 0) return at + 1;
  }
}

/** After the value that begins at `from`. */
export function valueEnd(text: string, from: number): number {
  let at = from;
  let open = 0;
  do {
    const code = text.charCodeAt(at);
    if (code === quote) at = stringEnd(text, at);
    else {
      if (code === openObject || code === openList) open++;
      else if (code === closeObject || code === closeList) open--;
      else if (open === 0) return literalEnd(text, at);
      at++;
    }
  } while (open > 0 && at < text.length);
  return at;
}

function literalEnd(text: string, from: number): number {
  let at = from;
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code <= space || code === comma || code === closeList || code === closeObject) break;
  }
  return at;
}
