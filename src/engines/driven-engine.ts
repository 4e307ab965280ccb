import { isJsonObject } from '../base/json-object.ts';
import { type StateFile, type StateFiles, versioned } from '../ports/state-files.ts';

/** The engine that an agent drove last: another one, found because this one is away for a moment, would run each pod a second time. */
export interface DrivenEngine {
  readonly endpoint: string;
  readonly speaks: 'docker' | 'cri';
  readonly name: string;
}

export const drivenEngineFile = (files: StateFiles): StateFile<DrivenEngine> => files.open('driven_engine.json', versioned(1, decode));

function decode(json: unknown): DrivenEngine | undefined {
  if (!isJsonObject(json)) return undefined;
  const { endpoint, speaks, name } = json;
  if (typeof endpoint !== 'string' || typeof name !== 'string' || (speaks !== 'docker' && speaks !== 'cri')) return undefined;
  return { endpoint, speaks, name };
}
