import { isDeepStrictEqual } from 'node:util';
import type { KubeletOptions, LiveOptions } from '../options/kubelet-options.ts';
import { fieldOf, type Option } from '../options/option.ts';
import { allOptions } from '../options/options-table.ts';

/** An option that has another value than the one in force. */
export interface ChangedOption {
  /** As the config file has it: "syncFrequency"; what it has no field for as a flag. */
  readonly field: string;
  readonly takesEffect: 'at once' | 'after a restart';
  /** "syncFrequency: 1m0s → 30s"; without values where they may hold credentials. */
  readonly text: string;
}

export interface ChangedOptions {
  readonly changes: readonly ChangedOption[];
  /** Those in force with the changes that count at once; what has not changed is the same object. */
  readonly live: LiveOptions;
}

/** Longer values are shortened. */
const MAX_VALUE_LENGTH = 100;

/** What `next` changes of the options in force: those that the agent was `started` with, and of those that are read where they are needed `live`. */
export function changedOptions(started: KubeletOptions, live: LiveOptions, next: KubeletOptions): ChangedOptions {
  const inForce: Readonly<Record<string, unknown>> = { ...started, ...live };
  const wanted: Readonly<Record<string, unknown>> = { ...next };
  const changes: ChangedOption[] = [];
  const atOnce: Record<string, unknown> = {};
  for (const [name, option] of allOptions) {
    if (!(name in inForce) || isDeepStrictEqual(inForce[name], wanted[name])) continue;
    if (option.takesEffect === 'at once') atOnce[name] = wanted[name];
    changes.push({
      field: fieldOf(option) ?? `--${option.flag}`,
      takesEffect: option.takesEffect ?? 'after a restart',
      text: changeText(option, inForce[name], wanted[name]),
    });
  }
  return { changes, live: changes.length === 0 ? live : { ...live, ...atOnce } };
}

function changeText(option: Option<unknown>, from: unknown, to: unknown): string {
  const { kind } = option;
  const field = fieldOf(option) ?? `--${option.flag}`;
  if (kind.sensitive === true) return field;
  const show = (value: unknown): string => (value === undefined || value === null ? 'unset' : shortened(kind.show(value)) || '""');
  return `${field}: ${show(from)} → ${show(to)}`;
}

const shortened = (text: string): string => (text.length > MAX_VALUE_LENGTH ? `${text.slice(0, MAX_VALUE_LENGTH)}…` : text);
