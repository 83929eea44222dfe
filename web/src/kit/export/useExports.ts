import { useEffect, useRef, useState } from 'react';
import { formatExactly } from '../figures.js';
import { leaveForLogin } from '../leave.js';
import { saveFile } from '../saveFile.js';
import { toaster } from '../Toasts.js';
import { codeText } from '../words/errors.js';
import { type Translate, useText } from '../words/i18n.js';
import { exportTexts } from './export.texts.js';
import type { exportZh } from './export.zh.js';
import { fetchExport } from './exportFile.js';

export interface Exports {
  /** Files that are on their way, as the server calls them. */
  readonly underWay: ReadonlySet<string>;
  /** What went wrong with the last; null: nothing. */
  readonly problem: string | null;
  readonly download: (file: string, query: Readonly<Record<string, string>>) => Promise<void>;
}

/** `export-too-large: at most 100000` */
const tooLarge = /^export-too-large: at most (\d+)$/;

function refusalText(status: number, code: string | null, t: Translate<typeof exportZh>): string {
  const [, max] = tooLarge.exec(code ?? '') ?? [];
  if (max !== undefined) return t('failed.tooLarge', { max: formatExactly(Number(max)) });
  if (status === 429) return t('failed.busy');
  if (status === 503) return t('failed.rebuilding');
  return code === null ? t('failed.unreadable', { status }) : t('failed.other', { reason: codeText(code) });
}

/** Files for the browser to keep. Who leaves the page wants them no more. */
export function useExports(): Exports {
  const t = useText(exportTexts);
  const [underWay, setUnderWay] = useState<ReadonlySet<string>>(new Set());
  const [problem, setProblem] = useState<string | null>(null);
  const leaving = useRef<AbortController | null>(null);

  useEffect(() => {
    const controller = new AbortController();
    leaving.current = controller;
    return () => controller.abort();
  }, []);

  /** Resolves with what is wrong; null: nothing is. */
  const save = async (
    file: string,
    query: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<string | null> => {
    try {
      const fetched = await fetchExport(file, query, signal);
      if (fetched.ok) {
        saveFile(fetched.name, fetched.content);
        toaster.success(t('saved', { name: fetched.name }));
        return null;
      }
      if (fetched.status === 401) leaveForLogin();
      return refusalText(fetched.status, fetched.code, t);
    } catch {
      return signal.aborted ? null : t('failed.broken');
    }
  };

  const download: Exports['download'] = async (file, query) => {
    const signal = leaving.current?.signal;
    if (signal === undefined || underWay.has(file)) return;
    setProblem(null);
    setUnderWay((before) => new Set([...before, file]));
    const wrong = await save(file, query, signal);
    if (signal.aborted) return;
    setUnderWay((before) => new Set([...before].filter((other) => other !== file)));
    if (wrong !== null) setProblem(wrong);
  };

  return { underWay, problem, download };
}
