/* How long a packet of Opus sounds: its first byte says it. */

const maxPacketLength = 0.12;

const frameMs = (configuration: number): number => {
  if (configuration < 12) return [10, 20, 40, 60][configuration & 3] ?? 0;
  return configuration < 16 ? ([10, 20][configuration & 1] ?? 0) : ([2.5, 5, 10, 20][configuration & 3] ?? 0);
};

/** Of the packet at this place. */
export function opusSeconds(file: Buffer, at: number): number {
  const first = file[at] ?? 0;
  const code = first & 3;
  const frames = code === 0 ? 1 : code < 3 ? 2 : (file[at + 1] ?? 0) & 0x3f;
  return Math.min((frames * frameMs(first >> 3)) / 1_000, maxPacketLength);
}
