import { recordTo } from '../../src/record-agent.ts';
import type { Line } from '../../src/recording/lines.ts';
import { readRecording, type Recording } from '../../src/recording/read-recording.ts';
import { capabilities, type runAgent } from '../../src/run-agent.ts';

/** Keeps what is recorded of an agent in memory, as texts. */
export function recordingRun(): { readonly run: typeof runAgent; readonly lines: string[] } {
  const lines: string[] = [];
  const write = (line: Line): void => void lines.push(JSON.stringify(line));
  const run: typeof runAgent = async (options, from, stop, list) => {
    const code = await recordTo(write, options, from, stop, list ?? capabilities);
    write({ end: true });
    return code;
  };
  return { run, lines };
}

export function recordingOf(lines: readonly string[]): Promise<Recording> {
  return readRecording(
    (async function* () {
      yield* lines;
    })(),
  );
}
