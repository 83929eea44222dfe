import type { MidjourneyAction } from './actions.js';

/* What a button of a picture does, by its id, such as `MJ::JOB::upsample::2::uuid`. */

interface ButtonAction {
  readonly action: MidjourneyAction;
  /** Of the picture in its grid, from 1; null: the id should name one and does not. */
  readonly index: number | null;
}

const whole = new Map<string, MidjourneyAction>([
  ['low_variation', 'LOW_VARIATION'],
  ['high_variation', 'HIGH_VARIATION'],
  ['Outpaint', 'ZOOM'],
  ['CustomZoom', 'CUSTOM_ZOOM'],
  ['Inpaint', 'INPAINT'],
]);

const within: readonly (readonly [string, MidjourneyAction])[] = [
  ['upsample', 'UPSCALE'],
  ['pan', 'PAN'],
  ['reroll', 'REROLL'],
];

const indexIn = (text: string | undefined): number | null =>
  text !== undefined && /^[1-9]$/.test(text) ? Number(text) : null;

/** null: nobody knows such a button. */
export function actionOfButton(customId: string): ButtonAction | null {
  const parts = customId.split('::');
  const at = parts[1] === 'JOB' ? 2 : 1;
  const verb = parts[at] ?? '';
  const named = whole.get(verb);
  if (named !== undefined) return { action: named, index: 1 };
  if (verb === 'variation') return { action: 'VARIATION', index: indexIn(parts[at + 1]) };
  const found = within.find(([word]) => verb.includes(word));
  if (found === undefined) return null;
  const [, action] = found;
  return { action, index: action === 'UPSCALE' ? indexIn(parts[at + 1]) : 1 };
}
