import { useEffect, useState } from 'react';

export interface Playback {
  /** Which of them, from 0. */
  readonly step: number;
  readonly isPlaying: boolean;
  readonly goTo: (step: number) => void;
  readonly play: () => void;
  readonly pause: () => void;
}

/** A place among `count` steps that moves on by itself while it plays. */
export function usePlayback(count: number, perSecond: number): Playback {
  const [wanted, setWanted] = useState(0);
  const [wantsToPlay, setPlaying] = useState(false);
  const end = Math.max(0, count - 1);
  const step = Math.min(wanted, end);
  const isPlaying = wantsToPlay && step < end;

  useEffect(() => {
    if (!isPlaying) {
      setPlaying(false);
      return;
    }
    const timer = setInterval(() => setWanted((before) => Math.min(before + 1, end)), 1_000 / perSecond);
    return () => clearInterval(timer);
  }, [isPlaying, perSecond, end]);

  return {
    step,
    isPlaying,
    goTo: (asked) => {
      setPlaying(false);
      setWanted(Math.max(0, Math.min(asked, end)));
    },
    play: () => {
      // From the end it begins again.
      if (step === end) setWanted(0);
      setPlaying(true);
    },
    pause: () => setPlaying(false),
  };
}
