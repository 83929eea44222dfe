import { uploads } from '../../../domain/pricing/price-tables.js';

/* What a Midjourney proxy can be asked for, and by which model each action is sold. */

export const midjourneyActions = [
  'IMAGINE',
  'UPSCALE',
  'VARIATION',
  'HIGH_VARIATION',
  'LOW_VARIATION',
  'REROLL',
  'PAN',
  'ZOOM',
  'CUSTOM_ZOOM',
  'INPAINT',
  'MODAL',
  'BLEND',
  'DESCRIBE',
  'SHORTEN',
  'UPLOAD',
  'SWAP_FACE',
  'VIDEO',
  'EDITS',
] as const;

export type MidjourneyAction = (typeof midjourneyActions)[number];

/** Those that the plain proxy (type 2) has; the other one has all. */
export const plainActions: ReadonlySet<string> = new Set<MidjourneyAction>([
  'IMAGINE',
  'VARIATION',
  'REROLL',
  'BLEND',
  'UPSCALE',
  'DESCRIBE',
  'UPLOAD',
]);

/** They only open a dialog at the proxy: what is drawn is sold by the MODAL that closes it. */
export const opensDialog = (action: string): boolean => action === 'INPAINT' || action === 'CUSTOM_ZOOM';

/** The model that channels list and prices name; of uploads the one that stands for both names. */
export const modelOfAction = (action: MidjourneyAction): string => {
  if (action === 'SWAP_FACE') return 'swap_face';
  return action === 'UPLOAD' ? uploads.other : `mj_${action.toLowerCase()}`;
};

export const modelsOf = (actions: Iterable<MidjourneyAction>): string[] =>
  [...actions].map((action) => (action === 'UPLOAD' ? uploads.name : modelOfAction(action)));
