import { beginning, type Position } from '../domain/events/events.js';

/** Where all of several commands are visible; of none: the beginning. */
export const newestOf = (positions: readonly Position[]): Position =>
  positions.reduce((newest, position) => (position > newest ? position : newest), beginning);
