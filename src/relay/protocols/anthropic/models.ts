import { textIn } from '../../json/json.js';
import { inPages, listedModelsIn, type ModelsWire } from '../models.js';
import { usualVersion } from './headers.js';

/** A thousand at a time, each page behind the last model of the one before. */
export const pagedModels: ModelsWire = ({ base, key, json }) =>
  inPages('', async (after) => {
    const behind = after === '' ? '' : `&after_id=${encodeURIComponent(after)}`;
    const reported = await json(`${base}/v1/models?limit=1000${behind}`, {
      'x-api-key': key,
      'anthropic-version': usualVersion,
    });
    return { models: listedModelsIn(reported), next: reported.has_more === true ? textIn(reported.last_id) : null };
  });
