import { dataSetOptions, removeDataSets } from '../data-set.js';
import { part } from '../part.js';

export const clean = part({
  name: 'clean',
  says: 'measures nothing: removes all generated data',
  options: { data: dataSetOptions.data },
  async run({ data }) {
    const removed = await removeDataSets(data);
    return {
      figures: { removed },
      lines:
        removed.length === 0 ? [`There is no generated data in ${data}.`] : removed.map((path) => `removed ${path}`),
      differences: [],
    };
  },
});
