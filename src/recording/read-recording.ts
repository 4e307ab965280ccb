import { isJsonObject, type JsonObject } from '../base/json-object.ts';
import { type Effect, type End, type Header, type InputLine, RECORDING_VERSION } from './lines.ts';
import type { Turn } from './player.ts';

export interface Recording {
  readonly header: Header;
  readonly turns: readonly Turn[];
  /** Where it was cut off; undefined: it is whole. */
  readonly damage: string | undefined;
}

/** Not a recording, or one of another version: the message says which. */
export class NoRecordingError extends Error {}

/** Throws NoRecordingError. A damaged end is cut off, with the turn that it was in. */
export async function readRecording(lines: AsyncIterable<string>): Promise<Recording> {
  let header: Header | undefined;
  const turns: { readonly input: InputLine; readonly effects: Effect[] }[] = [];
  let damage: string | undefined;
  let number = 0;
  let isWhole = false;
  for await (const line of lines) {
    number++;
    const json = parsed(line);
    if (header === undefined) header = checkedHeader(json);
    else if (!hasForm(json)) {
      damage = `line ${number} is damaged: what is before it is replayed`;
      break;
    } else if ('end' in json) isWhole = true;
    else if ('in' in json) turns.push({ input: json, effects: [] });
    else turns.at(-1)?.effects.push(json);
  }
  if (header === undefined) throw new NoRecordingError('it is empty');
  // Of the last turn of one that was cut off, something may be missing.
  if (!isWhole) turns.pop();
  return { header, turns, damage };
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function checkedHeader(json: unknown): Header {
  if (!isJsonObject(json) || json['recording'] !== 'rxlet') throw new NoRecordingError('it is no recording of rxlet');
  if (isWholeHeader(json)) return json;
  const { version, agent } = json;
  if (version === RECORDING_VERSION) throw new NoRecordingError('its first line is damaged');
  throw new NoRecordingError(
    `it is a recording of version ${String(version)}, made by rxlet ${String(agent)}; this rxlet replays version ${RECORDING_VERSION}`,
  );
}

/** Whether its own fields are what they are in every line; what came in is checked as it is delivered. */
function hasForm(line: unknown): line is InputLine | Effect | End {
  if (!isJsonObject(line)) return false;
  if ('end' in line) return true;
  if ('ask' in line) return Number.isFinite(line['ask']) && isText(line['name']) && isText(line['about']);
  if ('read' in line) return isText(line['read']);
  if ('decided' in line) return isText(line['decided']);
  const { t, d, of, name, args } = line;
  const isNamed = (of === undefined || Number.isFinite(of)) && (name === undefined || isText(name));
  const isTimed = Number.isFinite(t) && (d === undefined || Number.isFinite(d));
  return isText(line['in']) && isTimed && isNamed && (line['in'] !== 'call' || (Array.isArray(args) && args.every(isJsonObject)));
}

const isText = (value: unknown): boolean => typeof value === 'string';

function isWholeHeader(json: object): json is Header {
  const { version, agent, nowMs, monotonicMs, seed, capabilities, options }: JsonObject = { ...json };
  const hasNames = Array.isArray(capabilities) && capabilities.every((name) => typeof name === 'string');
  const hasNumbers = [nowMs, monotonicMs, seed].every(Number.isFinite);
  return version === RECORDING_VERSION && typeof agent === 'string' && hasNames && isJsonObject(options) && hasNumbers;
}
