import type { SoundLength } from '../sound/sound-length.js';
import type { FormFile } from '../upstream/request-content.js';

/** What came with the fields of a form. */
export interface Upload {
  readonly files: readonly FormFile[];
  /** How long the file lasts; null: there is none, or not just one. */
  readonly length: SoundLength | null;
}
