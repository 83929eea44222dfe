import { ApiKeyId, CallId, ChannelId, TaskId, UserId } from '../../../src/domain/kernel/ids.js';
import type { TaskFacts } from '../../../src/domain/task/task.js';

/** A drawing with everything filled in; a test names what it is about. */
export const taskFacts = (facts: Partial<TaskFacts> = {}): TaskFacts => ({
  taskId: TaskId(41),
  userId: UserId(7),
  apiKeyId: ApiKeyId(12),
  apiKeyName: 'ci',
  group: 'default',
  model: 'mj_imagine',
  callId: CallId('20261121070000123abcdEFGH'),
  channelId: ChannelId(3),
  platform: 'midjourney',
  action: 'IMAGINE',
  upstreamId: '1746000000000001',
  publicId: '1746000000000001',
  parent: null,
  ...facts,
});
