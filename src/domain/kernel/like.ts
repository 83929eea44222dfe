/**
 * Whether the text is as the pattern says, `%` standing for anything and `_` for any one character, as in a database.
 * Only the last `%` is ever taken back, so the work is at most one times the other, whatever the pattern.
 */
export function isLike(text: string, pattern: string): boolean {
  const [said, asked] = [[...text], [...pattern]];
  let at = 0;
  let wanted = 0;
  let anything = -1;
  let from = 0;
  while (at < said.length) {
    if (asked[wanted] === '%') {
      anything = wanted++;
      from = at;
    } else if (wanted < asked.length && (asked[wanted] === '_' || asked[wanted] === said[at])) {
      wanted++;
      at++;
    } else if (anything >= 0) {
      wanted = anything + 1;
      at = ++from;
    } else return false;
  }
  return asked.slice(wanted).every((left) => left === '%');
}
