/* Pictures that go along with a question, as data URLs. */

export const imageLimits = { count: 4, bytes: 5 * 1024 * 1024 } as const;
export const imageTypes = ['image/png', 'image/jpeg', 'image/webp', 'image/gif'] as const;

export type ImageProblem = 'type' | 'size' | 'count' | 'unreadable';

const dataUrlOf = (file: File): Promise<string | null> =>
  new Promise((resolve) => {
    const reader = new FileReader();
    reader.onload = () => resolve(typeof reader.result === 'string' ? reader.result : null);
    reader.onerror = () => resolve(null);
    reader.readAsDataURL(file);
  });

/** Why a file is not taken; null: it is. */
export function imageProblem({ type, size }: Pick<File, 'type' | 'size'>): ImageProblem | null {
  if (!imageTypes.some((known) => known === type)) return 'type';
  return size > imageLimits.bytes ? 'size' : null;
}

/** As many as there is room for; `problem`: of the first one that was left out. */
export async function readImages(
  files: readonly File[],
  room: number,
): Promise<{ readonly images: readonly string[]; readonly problem: ImageProblem | null }> {
  const images: string[] = [];
  let problem: ImageProblem | null = null;
  for (const file of files) {
    const wrong = images.length >= room ? 'count' : imageProblem(file);
    const url = wrong === null ? await dataUrlOf(file) : null;
    if (url !== null) images.push(url);
    else problem ??= wrong ?? 'unreadable';
  }
  return { images, problem };
}
