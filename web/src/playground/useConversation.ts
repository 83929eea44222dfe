import { useCallback, useEffect, useRef, useState } from 'react';
import { leaveForLogin } from '../kit/leave.js';
import { useText } from '../kit/words/i18n.js';
import { AnswerFailed, askPlayground } from './answerStream.js';
import { type Answer, begunAnswer, chatRequest, columnsOf, limits, type Settings, type Turn } from './conversation.js';
import { playgroundTexts } from './playground.texts.js';

/** Between two renderings of an answer that grows. */
const frameMs = 60;

export interface Conversation {
  readonly turns: readonly Turn[];
  readonly isBusy: boolean;
  readonly isFull: boolean;
  ask(text: string, images: readonly string[]): void;
  /** Asks again, and forgets what came after it. */
  retry(turn: Turn): void;
  /** Forgets the turn and what came after it. */
  takeBack(turn: Turn): void;
  stop(): void;
  clear(): void;
}

const isAnswering = ({ answers }: Turn): boolean => answers.some((answer) => answer?.state === 'streaming');

/** Questions, and the answers of one model or two. Leaving the page ends what is under way. */
export function useConversation(settings: Settings): Conversation {
  const t = useText(playgroundTexts);
  const [turns, setTurns] = useState<readonly Turn[]>([]);
  const underWay = useRef(new Set<AbortController>());
  const ids = useRef(0);

  const stop = useCallback((): void => {
    for (const controller of underWay.current) controller.abort();
  }, []);
  useEffect(() => stop, [stop]);

  const put = (id: number, column: number, answer: Answer): void =>
    setTurns((known) =>
      known.map((turn) =>
        turn.id === id ? { ...turn, answers: turn.answers.map((old, at) => (at === column ? answer : old)) } : turn,
      ),
    );

  const answerIn = async (column: number, before: readonly Turn[], asked: Turn, begun: Answer): Promise<void> => {
    const controller = new AbortController();
    underWay.current.add(controller);
    let latest = begun;
    let frame: ReturnType<typeof setTimeout> | null = null;
    const show = (answer: Answer): void => {
      latest = answer;
      frame ??= setTimeout(() => {
        frame = null;
        put(asked.id, column, latest);
      }, frameMs);
    };
    const failed = (problem: string): Partial<Answer> => ({ state: 'failed', problem });
    const concluded = async (): Promise<Partial<Answer>> => {
      try {
        const request = chatRequest(settings, before, asked, column);
        const body = settings.group === '' ? request : { ...request, group: settings.group };
        switch (await askPlayground(body, begun, controller.signal, show)) {
          case 'done':
            return { state: 'done' };
          case 'too-long':
            return { state: 'stopped', problem: t('problem.tooLong') };
          case 'broken':
            return failed(t('problem.broken'));
          case 'signed-out':
            leaveForLogin();
            return { state: 'stopped' };
        }
      } catch (error) {
        if (controller.signal.aborted) return { state: 'stopped' };
        if (error instanceof AnswerFailed) return failed(error.message);
        return failed(t(latest.requestId === null ? 'problem.unreached' : 'problem.broken'));
      }
    };
    const end = await concluded();
    underWay.current.delete(controller);
    if (frame !== null) clearTimeout(frame);
    put(asked.id, column, { ...latest, ...end });
  };

  const begin = (before: readonly Turn[], text: string, images: readonly string[]): void => {
    const answers = columnsOf(settings).map(begunAnswer);
    const asked: Turn = { id: ++ids.current, text, images, answers };
    setTurns([...before, asked]);
    answers.forEach((begun, column) => void answerIn(column, before, asked, begun));
  };

  const before = (turn: Turn): readonly Turn[] => turns.slice(0, turns.indexOf(turn));

  return {
    turns,
    isBusy: turns.some(isAnswering),
    isFull: turns.length >= limits.turns,
    ask: (text, images) => begin(turns, text, images),
    retry(turn) {
      stop();
      begin(before(turn), turn.text, turn.images);
    },
    takeBack(turn) {
      stop();
      setTurns(before(turn));
    },
    stop,
    clear() {
      stop();
      setTurns([]);
    },
  };
}
