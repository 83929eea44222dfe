import { usual } from '../../domain/channel/provider.js';
import type { Provider } from '../contracts/protocol.js';
import { midjourneyActions, modelsOf, plainActions } from '../protocols/midjourney/actions.js';
import { midjourneyTasks } from '../protocols/midjourney/task-wire.js';
import { tasksAlone } from '../protocols/tasks-alone.js';

/* Servers in front of the vendor, which has no interface of its own. */

const shared = {
  ...usual,
  keyHint: 'secret of the proxy',
  testable: false,
  listsModels: false,
  modes: ['task'],
  protocol: tasksAlone,
} as const satisfies Partial<Provider>;

const plainUrl = 'https://oa.api2d.net';
const fullUrl = 'https://api.openai-sb.com';

export const midjourneyProxy: Provider = {
  ...shared,
  type: 2,
  name: 'Midjourney Proxy',
  colour: 'light-blue',
  defaultBaseUrl: plainUrl,
  defaultModels: modelsOf(midjourneyActions.filter((action) => plainActions.has(action))),
  tasks: midjourneyTasks({ defaultBaseUrl: plainUrl, isPlain: true }),
};

export const midjourneyProxyPlus: Provider = {
  ...shared,
  type: 5,
  name: 'Midjourney Proxy Plus',
  colour: 'blue',
  defaultBaseUrl: fullUrl,
  defaultModels: modelsOf(midjourneyActions),
  tasks: midjourneyTasks({ defaultBaseUrl: fullUrl, isPlain: false }),
};
