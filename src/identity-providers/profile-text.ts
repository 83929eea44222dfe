/* Texts of a profile elsewhere, made fit for what is stored here: whoever wrote them knew nothing of our bounds. */

const unseen = /[\p{Cc}\p{Cs}]/gu;

/** Without what cannot be seen, and at most `max` characters; '' for nothing. */
export const profileText = (text: string | null | undefined, max: number): string =>
  [
    ...(text ?? '')
      .slice(0, 4 * max)
      .replace(unseen, '')
      .trim(),
  ]
    .slice(0, max)
    .join('')
    .trim();

/** As a display name may be. */
export const displayNameOf = (name: string | null | undefined, otherwise: string): string =>
  profileText(name, 20) || otherwise;

/** What an account elsewhere is known by, as it is shown. */
export const shownName = (name: string): string => profileText(name, 255);
