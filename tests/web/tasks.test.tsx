// @vitest-environment jsdom
import { act } from 'react';
import { describe, expect, test } from 'vitest';
import type { TaskRowFragment } from '../../web/src/generated/tasks/tasks.js';
import { CopyProvider } from '../../web/src/kit/CopyProvider.js';
import { ResourceTable } from '../../web/src/kit/table/ResourceTable.js';
import { useText } from '../../web/src/kit/words/i18n.js';
import { pageGroups } from '../../web/src/shell/pages.js';
import { TaskFilters } from '../../web/src/tasks/TaskFilters.js';
import { TaskPartDialog } from '../../web/src/tasks/TaskPartDialog.js';
import type { TaskPart } from '../../web/src/tasks/taskCells.js';
import { taskColumns } from '../../web/src/tasks/taskColumns.js';
import {
  activeTaskFilters,
  type TaskList,
  taskDefaults,
  taskFilterOf,
  taskRangeOf,
} from '../../web/src/tasks/taskParams.js';

import { durationOf, statusIntents, submissionOf, taskDurationIntent } from '../../web/src/tasks/taskStates.js';
import { tasksTexts } from '../../web/src/tasks/tasks.texts.js';
import { byText, rendered } from './rendered.js';

/** Wednesday. In the time zone of whoever runs this. */
const now = new Date(2026, 10, 18, 15, 30, 0);
const nowSeconds = now.getTime() / 1000;

const task = (patch: Partial<TaskRowFragment> = {}): TaskRowFragment => ({
  id: '7',
  publicId: '1712158011464906',
  platform: 'MIDJOURNEY',
  action: 'IMAGINE',
  code: 1,
  status: 'IN_PROGRESS',
  progress: 45,
  reason: null,
  submittedAt: nowSeconds,
  startedAt: null,
  finishedAt: null,
  model: 'mj_imagine',
  refunded: false,
  prompt: 'a cat',
  promptEn: '',
  failReason: '',
  media: [],
  ...patch,
});

describe('the time range of a list of tasks', () => {
  test('begins thirty days ago for drawings, and has no end', () => {
    expect(taskRangeOf(taskDefaults, 'drawing', now)).toEqual({
      from: nowSeconds - 30 * 24 * 3600,
      to: null,
      shownEnd: nowSeconds + 3600,
    });
  });
  test('begins at midnight for all other tasks', () => {
    expect(taskRangeOf(taskDefaults, 'task', now).from).toBe(new Date(2026, 10, 18).getTime() / 1000);
  });
  test('is the one that was chosen, each end by itself', () => {
    const params = { ...taskDefaults, to: 2_000_000_000 };
    expect(taskRangeOf(params, 'task', now)).toMatchObject({ to: 2_000_000_000, shownEnd: 2_000_000_000 });
    expect(taskRangeOf({ ...params, from: 5 }, 'drawing', now).from).toBe(5);
    expect(activeTaskFilters({ ...params, from: 5 })).toBe(2);
  });
});

describe('the filter of a list of tasks', () => {
  const range = { from: 5, to: null };
  test('contains only what filters', () => {
    expect(taskFilterOf(taskDefaults, range, 'drawing', true)).toEqual({ platforms: ['MIDJOURNEY'], from: 5 });
    expect(taskFilterOf({ ...taskDefaults, task: ' 17 ' }, { from: 5, to: 9 }, 'task', true)).toEqual({
      platforms: ['SUNO', 'VIDEO'],
      from: 5,
      to: 9,
      publicId: '17',
    });
  });
  test('requests channels by number, and for administrators only', () => {
    const params = { ...taskDefaults, channel: '4' };
    expect(taskFilterOf(params, range, 'drawing', true)).toMatchObject({ channelId: '4' });
    expect(taskFilterOf(params, range, 'drawing', false)).not.toHaveProperty('channelId');
    expect(taskFilterOf({ ...params, channel: 'four' }, range, 'drawing', true)).not.toHaveProperty('channelId');
  });
  test('has a field for channels for administrators only', async () => {
    const range = taskRangeOf(taskDefaults, 'drawing', now);
    const filters = (admin: boolean) => (
      <TaskFilters params={taskDefaults} range={range} admin={admin} onChange={() => undefined} />
    );
    const { place, again } = await rendered(filters(false));
    const labels = () => [...place.querySelectorAll('label')].map(({ textContent }) => textContent);
    expect(labels()).toEqual(['From', 'To', 'Task ID']);
    await again(filters(true));
    expect(labels()).toEqual(['From', 'To', 'Task ID', 'Channel ID']);
  });
});

describe('the duration of a task', () => {
  test('is measured from its submission to its end, and is not known before', () => {
    expect(durationOf(task())).toBeNull();
    expect(durationOf(task({ finishedAt: nowSeconds + 61 }))).toBe(61_000);
  });
  test('is never less than nothing, whatever the clock of an upstream says', () =>
    expect(durationOf(task({ finishedAt: nowSeconds - 5 }))).toBe(0));
  test('is red above a minute', () => {
    expect(taskDurationIntent(60_000)).toBe('success');
    expect(taskDurationIntent(60_001)).toBe('danger');
  });
});

describe('the submission of a task', () => {
  test.each([
    ['code 1', 1, 'submitted'],
    ['code 21', 21, 'waiting'],
    ['code 22', 22, 'duplicate'],
    ['another code', 4, 'none'],
    ['no code', null, 'submitted'],
  ] as const)('with %s reads as its meaning', (_name, code, submission) =>
    expect(submissionOf(task({ code }))).toBe(submission),
  );
  test('without a code or a known status did not happen, as far as is known', () =>
    expect(submissionOf(task({ code: null, status: 'UNKNOWN' }))).toBe('none'));
});

function List({ list, admin, rows }: { list: TaskList; admin: boolean; rows: readonly TaskRowFragment[] }) {
  const t = useText(tasksTexts);
  return <ResourceTable label="Tasks" columns={taskColumns(list, admin, t)} rows={rows} rowKey={({ id }) => id} />;
}

const headings = (place: ParentNode): string[] =>
  [...place.querySelectorAll('th[scope=col]')].map(({ textContent }) => textContent ?? '');

describe('a list of tasks', () => {
  test('of drawings has the columns of the drawing log', async () => {
    const { place } = await rendered(<List list="drawing" admin={false} rows={[task()]} />);
    expect(headings(place)).toEqual([
      'Submitted',
      'Duration',
      'Type',
      'Task ID',
      'Submission',
      'Status',
      'Progress',
      'Result',
      'Prompt',
      'English prompt',
      'Failure',
    ]);
  });
  test('of other tasks has the columns of the task log', async () => {
    const { place } = await rendered(<List list="task" admin={false} rows={[task()]} />);
    expect(headings(place)).toEqual([
      'Submitted',
      'Finished',
      'Progress',
      'Duration',
      'Platform',
      'Type',
      'Task ID',
      'Status',
      'Result',
      'Failure',
    ]);
  });
  test.each(['drawing', 'task'] as const)(
    'of the page %s shows channel and user to administrators only',
    async (list) => {
      const row = task({ channelId: '4', channelName: 'harbour', userId: '9', username: 'alice' });
      const { place, again } = await rendered(<List list={list} admin rows={[row]} />);
      expect(headings(place)).toEqual(expect.arrayContaining(['Channel', 'User']));
      expect(byText(place, 'a', '4 · harbour')?.getAttribute('href')).toBe('/channel/4');
      await again(<List list={list} admin={false} rows={[row]} />);
      expect(place.textContent).not.toMatch(/harbour|alice/);
    },
  );
  test('names a channel that is gone by its number', async () => {
    const { place } = await rendered(<List list="task" admin rows={[task({ channelId: '4', channelName: null })]} />);
    expect(place.textContent).toContain('Channel 4 (gone)');
  });
  test.each(Object.keys(statusIntents) as TaskRowFragment['status'][])(
    'shows the status %s in a word, in its colour',
    async (status) => {
      const { place } = await rendered(<List list="task" admin={false} rows={[task({ status })]} />);
      const words = /Not started|Submitted|Queued|Waits|In progress|Succeeded|Failed|Unknown/;
      const tags = [...place.querySelectorAll('tbody .bp6-tag')].filter(({ textContent }) =>
        words.test(textContent ?? ''),
      );
      expect(tags).toHaveLength(1);
      expect(tags[0]?.className.includes(`bp6-intent-${statusIntents[status]}`)).toBe(statusIntents[status] !== 'none');
    },
  );
  test.each([
    ['a bar in the drawing log', 'drawing', 'bp6-progress-bar'],
    ['a circle in the task log', 'task', 'bp6-spinner'],
  ] as const)('shows progress as %s, with its percent', async (_name, list, drawnAs) => {
    const { place } = await rendered(<List list={list} admin={false} rows={[task()]} />);
    const drawn = place.querySelector('[role=progressbar]');
    expect(drawn?.getAttribute('aria-valuenow')).toBe('45');
    expect(drawn?.getAttribute('aria-label')).toBe('Progress 45%');
    expect(drawn?.classList.contains(drawnAs)).toBe(true);
    expect(byText(place, '.task-progress .figures', '45%')).toBeDefined();
  });
  test('keeps the name of an action that it does not know', async () => {
    const { place } = await rendered(<List list="task" admin={false} rows={[task({ action: 'UPSAMPLE_4K' })]} />);
    expect(place.textContent).toContain('UPSAMPLE_4K');
  });
  test('shows why a task failed, in upstream’s words where there are some, and that it was refunded', async () => {
    const failed = task({ status: 'FAILED', reason: 'TIMED_OUT', refunded: true });
    const { place, again } = await rendered(<List list="drawing" admin={false} rows={[failed]} />);
    expect(place.textContent).toContain('Not finished within its time limit');
    expect(place.textContent).toContain('Refunded');
    await again(<List list="drawing" admin={false} rows={[{ ...failed, failReason: 'banned prompt' }]} />);
    expect(place.textContent).toContain('banned prompt');
  });
  test('shows a small picture, a message where it cannot be loaded, and a later address again', async () => {
    const rows = [task({ media: [{ kind: 'PICTURE', url: '/mj/image/7?s=a' }] })];
    const { place, again } = await rendered(<List list="drawing" admin={false} rows={rows} />);
    const picture = place.querySelector('tbody img');
    expect(picture?.getAttribute('src')).toBe('/mj/image/7?s=a');
    await act(async () => void picture?.dispatchEvent(new Event('error')));
    expect(place.querySelector('tbody img')).toBeNull();
    expect(place.textContent).toContain('It cannot be shown');
    await again(
      <List list="drawing" admin={false} rows={[task({ media: [{ kind: 'PICTURE', url: '/mj/image/7?s=b' }] })]} />,
    );
    expect(place.querySelector('tbody img')?.getAttribute('src')).toBe('/mj/image/7?s=b');
  });
  test('offers sound and videos to play before their cover', async () => {
    const media = [
      { kind: 'PICTURE', url: 'https://cdn.example/c.png' },
      { kind: 'AUDIO', url: 'https://cdn.example/c.mp3' },
    ] as const;
    const { place } = await rendered(<List list="task" admin={false} rows={[task({ media: [...media] })]} />, '/task');
    const link = byText(place, 'tbody a', 'Play audio');
    expect(link?.getAttribute('href')).toBe('/task?open=media-7');
    expect(link?.getAttribute('aria-label')).toBe('Play audio (2) 1712158011464906');
  });
});

describe('a part of a task that is opened', () => {
  const opened = async (part: TaskPart, patch: Partial<TaskRowFragment> = {}): Promise<Element | null> => {
    const row = task(patch);
    await rendered(
      <CopyProvider>
        <TaskPartDialog
          part={part}
          task={row}
          record={{ publicId: row.publicId, quota: 50_000 }}
          onClose={() => undefined}
        />
      </CopyProvider>,
    );
    return document.querySelector('.bp6-dialog');
  };
  test('is the whole prompt', async () => {
    const prompt = `a cat ${'and another '.repeat(300)}`;
    expect((await opened('prompt', { prompt }))?.querySelector('pre')?.textContent).toBe(prompt);
  });
  test('is the whole record as JSON', async () => {
    const dialog = await opened('record');
    expect(JSON.parse(dialog?.querySelector('pre')?.textContent ?? '')).toEqual({
      publicId: '1712158011464906',
      quota: 50_000,
    });
  });
  test('shows every picture, sound and video, each with a link that sends no referrer', async () => {
    const media = (['PICTURE', 'AUDIO', 'VIDEO'] as const).map((kind) => ({
      kind,
      url: `https://cdn.example/${kind}`,
    }));
    const dialog = await opened('media', { media });
    expect(dialog?.querySelector('img')?.getAttribute('alt')).toBe('Picture 1 of task 1712158011464906');
    expect(dialog?.querySelector('audio')?.getAttribute('src')).toBe('https://cdn.example/AUDIO');
    expect(dialog?.querySelector('video')?.getAttribute('aria-label')).toBe('Result 3 of task 1712158011464906');
    const links = [...(dialog?.querySelectorAll('li a') ?? [])];
    expect(links.map((link) => link.getAttribute('rel'))).toEqual(Array(3).fill('noopener noreferrer'));
  });
  test('says where there is nothing to show', async () =>
    expect((await opened('media'))?.textContent).toContain('This task has nothing to show'));
});

describe('the menu of the console', () => {
  const user = {
    id: '1',
    username: 'u',
    displayName: '',
    email: '',
    role: 'ORDINARY',
    group: 'default',
    createdAt: 0,
  } as const;
  const names = (shown: Partial<Parameters<typeof pageGroups>[1]>): string[] =>
    pageGroups(user, { dashboard: true, drawing: false, tasks: false, ...shown }).flatMap(({ pages }) =>
      pages.map(({ name }) => name),
    );
  test('has drawings and tasks where the operator shows them', () => {
    expect(names({})).toEqual(['dashboard', 'tokens', 'log', 'wallet', 'personal']);
    expect(names({ drawing: true })).toEqual(['dashboard', 'tokens', 'log', 'drawing', 'wallet', 'personal']);
    expect(names({ tasks: true, dashboard: false })).toEqual(['tokens', 'log', 'tasks', 'wallet', 'personal']);
  });
});
