const progressEveryMs = 500;

/** On a terminal, in one line that is written over; undefined: nobody looks. */
export function progressOn(
  stream: NodeJS.WriteStream,
  of: 'position' | 'calls' = 'position',
): ((position: number) => void) | undefined {
  if (!stream.isTTY) return undefined;
  let next = 0;
  return (position) => {
    if (performance.now() < next) return;
    next = performance.now() + progressEveryMs;
    stream.write(`\r${of} ${position}\r`);
  };
}
