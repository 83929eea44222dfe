import { usual } from '../../domain/channel/provider.js';
import type { Provider } from '../contracts/protocol.js';
import { isObject } from '../json/json.js';
import { amountIn, balanceAt, inPoints, reportsBalance } from '../protocols/balance.js';
import { sunoTasks } from '../protocols/suno/tasks.js';
import { tasksAlone } from '../protocols/tasks-alone.js';

/** Credits. What else it reports are the account's own secrets, which are not looked at. */
const credits = balanceAt('/suno/account', ({ data }) => {
  const { certificate } = isObject(data) ? data : {};
  const left = isObject(certificate) ? certificate.credits_left : undefined;
  return inPoints(amountIn(left, 'data.certificate.credits_left'));
});

/** A server in front of the vendor, which has no interface of its own. */
export const sunoServer: Provider = {
  ...usual,
  type: 36,
  name: 'Suno',
  defaultBaseUrl: '',
  defaultModels: ['suno_music', 'suno_lyrics'],
  colour: 'purple',
  keyHint: 'API key of the proxy',
  testable: false,
  listsModels: false,
  ...reportsBalance(credits),
  modes: ['task'],
  protocol: tasksAlone,
  tasks: sunoTasks,
};
