export type PictureType = 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';

/** By the first bytes, as a media type; null: neither PNG, JPEG, GIF nor WebP. What senders declare is not asked. */
export function pictureType(bytes: Buffer): PictureType | null {
  const first = bytes.toString('latin1', 0, 12);
  if (first.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (first.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (first.startsWith('GIF8')) return 'image/gif';
  return first.startsWith('RIFF') && first.endsWith('WEBP') && first.length === 12 ? 'image/webp' : null;
}
