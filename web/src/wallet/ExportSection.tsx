import { Button } from '@blueprintjs/core';
import { Download } from '@blueprintjs/icons';
import { useEffect, useRef, useState } from 'react';
import { FormProblem } from '../kit/form/FormProblem.js';
import { SelectField } from '../kit/form/fields.js';
import { leaveForLogin } from '../kit/leave.js';
import { Section } from '../kit/Section.js';
import { saveFile } from '../kit/saveFile.js';
import { useSignedIn } from '../kit/session.js';
import { ownTimeZone } from '../kit/time.js';
import { toaster } from '../kit/toaster.js';
import { codeText } from '../kit/words/errors.js';
import { useText } from '../kit/words/i18n.js';
import { exportTexts } from './export.texts.js';
import { type ExportedFile, fetchExport } from './exportFile.js';
import { monthsSince, usualMonth } from './exportMonths.js';

const files: readonly ExportedFile[] = ['usage', 'statement'];

/** A month, to be kept: its calls, and what changed the balance. */
export function ExportSection() {
  const t = useText(exportTexts);
  const { createdAt } = useSignedIn();
  const [chosen, setChosen] = useState<string | null>(null);
  const [underWay, setUnderWay] = useState<ReadonlySet<ExportedFile>>(new Set());
  const [problem, setProblem] = useState<string | null>(null);
  const leaving = useRef<AbortController | null>(null);

  // Who leaves the page wants the file no more.
  useEffect(() => {
    const controller = new AbortController();
    leaving.current = controller;
    return () => controller.abort();
  }, []);

  const months = monthsSince(createdAt, Date.now() / 1000);
  const month = chosen ?? usualMonth(months);
  const zone = ownTimeZone();

  /** Resolves with what is wrong; null: nothing is. */
  const save = async (file: ExportedFile, signal: AbortSignal): Promise<string | null> => {
    try {
      const fetched = await fetchExport(file, { month, zone }, signal);
      if (fetched.ok) {
        saveFile(fetched.name, fetched.content);
        toaster.success(t('saved', { name: fetched.name }));
        return null;
      }
      const { status, code } = fetched;
      if (status === 401) leaveForLogin();
      if (status === 429) return t('failed.busy');
      if (status === 503) return t('failed.rebuilding');
      return code === null ? t('failed.unreadable', { status }) : t('failed.other', { reason: codeText(code) });
    } catch {
      return signal.aborted ? null : t('failed.broken');
    }
  };

  const download = async (file: ExportedFile): Promise<void> => {
    const signal = leaving.current?.signal;
    if (signal === undefined || underWay.has(file)) return;
    setProblem(null);
    setUnderWay((before) => new Set([...before, file]));
    const wrong = await save(file, signal);
    if (signal.aborted) return;
    setUnderWay((before) => new Set([...before].filter((other) => other !== file)));
    if (wrong !== null) setProblem(wrong);
  };

  return (
    <Section title={t('title')}>
      <div>
        <SelectField
          label={t('month')}
          hint={t('note', { zone })}
          value={month}
          onChange={setChosen}
          options={months.map((value, index) => ({
            value,
            label: index === 0 ? t('month.current', { month: value }) : value,
          }))}
        />
        <FormProblem text={problem} />
        <div className="export-actions">
          {files.map((file) => (
            <Button
              key={file}
              icon={<Download />}
              text={t(file)}
              loading={underWay.has(file)}
              onClick={() => void download(file)}
            />
          ))}
        </div>
      </div>
    </Section>
  );
}
