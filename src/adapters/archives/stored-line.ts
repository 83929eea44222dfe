/** Of a line of an event, `[41,"user-7",…` → 41. */
export const linePosition = (line: string): number => Number(line.slice(1, line.indexOf(',')));

/** The members of a line. Its payload is the text between what comes before and the last bracket, byte for byte. */
export function storedIn(line: string) {
  const members = JSON.parse(line) as [number, string, number, string, number, string, number, unknown];
  const [position, stream, revision, type, version, id, at] = members;
  const before = `${JSON.stringify(members.slice(0, 7)).slice(0, -1)},`;
  if (members.length !== 8 || !line.startsWith(before) || !line.endsWith(']'))
    throw new Error(`the event at position ${position} is not written as the log writes it`);
  return { position, stream, revision, type, version, id, at, data: line.slice(before.length, -1) };
}
