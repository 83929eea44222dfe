import { CallId } from '../../../domain/kernel/ids.js';
import { isTerminal } from '../../../domain/task/task.js';
import { isCallback } from '../../../http/task-addresses.js';
import { RelayError } from '../../contracts/errors.js';
import type { BodySource } from '../../contracts/ports.js';
import { plainObservation } from '../../protocols/confidential-task.js';
import { keeperOf, type ResourcePorts } from '../kept/resource-request.js';
import type { StagePorts } from '../stage-ports.js';

/*
 * What an upstream reports of a task by itself, at the address that it got with the task. A report is a hint: how a task
 * ends decides who pays, so an end is believed when upstream says it itself, as it is asked.
 */

export interface TaskReport {
  readonly callId: string;
  readonly secret: string;
  readonly bodySource: BodySource;
  readonly ip: string;
}

const maxBytes = 1024 * 1024;

const unknown = (): RelayError => new RelayError(404, 'task_not_found', '', { type: 'invalid_request_error' });

type ReportPorts = ResourcePorts & Pick<StagePorts, 'tasks' | 'bodies'>;

/** Resolves when the report has had its effect, which may be none. Throws RelayError. */
export async function takeReport(ports: ReportPorts, { callId, secret, bodySource, ip }: TaskReport): Promise<void> {
  const { vault, tasks, bodies, directory } = ports;
  const isWanted = tasks !== undefined && directory.settings().midjourney.notifies;
  if (!isWanted || !isCallback(vault, callId, secret)) throw unknown();
  const task = await tasks.byCall(CallId(callId));
  if (task === null) throw unknown();
  const { taskId, userId, channelId, upstreamId } = task.facts;
  const { provider, channel } = await keeperOf(ports, channelId, { mode: 'task' }, true);
  const body = await bodies.json(bodySource, ip, userId, maxBytes);
  try {
    const seen = provider.tasks?.report?.(body.value) ?? null;
    if (seen === null || seen.upstreamId !== upstreamId)
      throw new RelayError(400, 'invalid_request', 'id must be that of the task this address was given for', {
        type: 'invalid_request_error',
        param: 'id',
      });
    if (isTerminal(task.status)) return;
    if (isTerminal(seen.status)) await tasks.look(taskId);
    else await tasks.observe(taskId, plainObservation(seen, provider, channel));
  } finally {
    body.leave();
  }
}
