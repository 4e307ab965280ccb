import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type { ReplayRun } from './cli/replay.ts';
import { readRecording } from './recording/read-recording.ts';
import { replayAgent } from './replay-agent.ts';
import type { PodUid } from './model/pod.ts';

/** The recording in this file, ready to be replayed. Rejects where it is none. */
export async function openReplay(path: string): Promise<ReplayRun> {
  const recording = await readRecording(createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY }));
  const { header, damage } = recording;
  return {
    startedAtMs: header.monotonicMs,
    agent: header.agent,
    damage,
    play: async (onDecision, untilMs) => {
      const { decisions, difference, known } = await replayAgent(recording, { onDecision, untilMs });
      return {
        decisions,
        difference,
        known: (uid) => ({ pod: known?.pods.get(uid as PodUid)?.pod, status: known?.statuses.get(uid as PodUid) }),
      };
    },
  };
}
