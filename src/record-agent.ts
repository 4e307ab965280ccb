import { randomInt } from 'node:crypto';
import { version } from './base/version.ts';
import { boundAgent } from './bound-agent.ts';
import type { KubeletOptions } from './options/kubelet-options.ts';
import type { Capability } from './ports/capability.ts';
import { HiddenValues } from './recording/hidden-values.ts';
import { type Line, RECORDING_VERSION } from './recording/lines.ts';
import { Recorder } from './recording/recorder.ts';
import { RecordingFile } from './recording/recording-file.ts';
import { toJson } from './recording/value-json.ts';
import { runAgent } from './run-agent.ts';
import type { Surroundings } from './surroundings.ts';

/** As runAgent, and writes to `recordFile` all that comes in, and what is decided. Rejects where the recording cannot be made. */
export async function recordAgent(
  options: KubeletOptions,
  from: Surroundings,
  stop: AbortSignal,
  list: readonly Capability[],
): Promise<number> {
  const { clock, log } = from;
  const { recordFile: path, recordMaxMib } = options;
  const file = await RecordingFile.create({ path, maxBytes: recordMaxMib * 2 ** 20, clock, log });
  log.info('recording', { path, maxMib: recordMaxMib });
  try {
    return await recordTo((line) => file.write(line), options, from, stop, list);
  } finally {
    await file.close();
  }
}

/** The same to anywhere. */
export async function recordTo(
  write: (line: Line) => void,
  options: KubeletOptions,
  from: Surroundings,
  stop: AbortSignal,
  list: readonly Capability[],
): Promise<number> {
  const { clock } = from;
  const hidden = new HiddenValues();
  const seed = randomInt(2 ** 32);
  const recorder = new Recorder({ clock, seed, hidden, write });
  const wanted = list.filter((each) => each.wanted(options));
  const capabilities = wanted.map(({ name }) => name);
  write({
    recording: 'rxlet',
    version: RECORDING_VERSION,
    agent: version(),
    nowMs: recorder.clock.now(),
    monotonicMs: recorder.clock.monotonicMs(),
    seed,
    capabilities,
    options: toJson(withoutSecrets(options, hidden), hidden.text),
  });
  const stopping = new AbortController();
  const stopInside = recorder.callable('stop', (reason: unknown) => stopping.abort(reason));
  stop.addEventListener('abort', () => stopInside(stop.reason), { once: true });
  if (stop.aborted) stopInside(stop.reason);
  const agent = boundAgent(recorder, { ...from, logClock: clock }, capabilities, { surroundings: from, list: wanted, stop }, hidden);
  return new Promise((resolve, reject) => {
    recorder.enter(
      () => ({ in: 'start' }),
      () => void runAgent(options, agent.surroundings, stopping.signal, agent.list).then(resolve, reject),
    );
  });
}

/** A manifest server's credentials are in its headers, or in its URL. */
function withoutSecrets(options: KubeletOptions, hidden: HiddenValues): KubeletOptions {
  const { manifestUrl, manifestUrlHeader } = options;
  const headers = Object.entries(manifestUrlHeader).map(([name, values]) => [name, values.map((value) => hidden.value(value))] as const);
  const url = manifestUrl
    .replace(/\/\/([^/@]*)@/, (_all, user: string) => `//${hidden.value(user)}@`)
    .replace(/\?(.*)$/s, (_all, query: string) => `?${hidden.value(query)}`);
  return { ...options, manifestUrl: url, manifestUrlHeader: Object.fromEntries(headers) };
}
