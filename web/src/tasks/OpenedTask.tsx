import { useQuery } from '@apollo/client/react';
import { Dialog, DialogBody } from '@blueprintjs/core';
import { TaskRecordDocument } from '../generated/tasks/tasks.js';
import { QueryNotice } from '../kit/QueryNotice.js';
import { useOpenItem } from '../kit/table/openItem.js';
import { useText } from '../kit/words/i18n.js';
import { TaskPartDialog } from './TaskPartDialog.js';
import type { TaskPart } from './taskCells.js';
import { recordOf } from './taskRecord.js';
import { tasksTexts } from './tasks.texts.js';

const pattern = /^(record|media|prompt|prompten|failure)-(\d+)$/;

/** What the address opens of a task: `?open={part}-{id}`. */
export function OpenedTask({ admin }: { readonly admin: boolean }) {
  const { open, close } = useOpenItem();
  const [, part, id] = pattern.exec(open ?? '') ?? [];
  if (part === undefined || id === undefined) return null;
  return <TaskPartOf key={open} part={part as TaskPart} id={id} admin={admin} onClose={close} />;
}

interface TaskPartOfProps {
  readonly part: TaskPart;
  readonly id: string;
  readonly admin: boolean;
  readonly onClose: () => void;
}

function TaskPartOf({ part, id, admin, onClose }: TaskPartOfProps) {
  const t = useText(tasksTexts);
  const { data, loading, error, refetch } = useQuery(TaskRecordDocument, {
    variables: { id, admin },
    fetchPolicy: 'cache-and-network',
  });
  const task = data?.task;
  if (task) return <TaskPartDialog part={part} task={task} record={recordOf(task)} onClose={onClose} />;
  return (
    <Dialog isOpen onClose={onClose} title={t('record.title', { task: id })} className="task-dialog">
      <DialogBody>
        {task === null && !loading ? (
          <p>{t('gone')}</p>
        ) : (
          <QueryNotice loading={loading} error={error} refetch={refetch} />
        )}
      </DialogBody>
    </Dialog>
  );
}
