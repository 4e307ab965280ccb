import type { Settings } from '../decoding/settings.ts';
import type { DecidingGate } from '../feature-gates/deciding-gates.ts';
import type { FeatureGates } from '../feature-gates/feature-gates.ts';
import { showDuration } from './show-duration.ts';

/** Complete settings for rules to look at. A field that is not set reads as Kubernetes' zero: 0, false, "", nothing. */
export class CheckedSettings {
  readonly #settings: Settings;
  readonly #gates: Pick<FeatureGates, 'isOn'>;

  constructor(settings: Settings, gates: Pick<FeatureGates, 'isOn'>) {
    this.#settings = settings;
    this.#gates = gates;
  }

  gate(name: DecidingGate): boolean {
    return this.#gates.isOn(name);
  }

  has(field: string): boolean {
    return this.#settings.has(field);
  }

  /** As the field's kind has it. */
  value(field: string): unknown {
    return this.#settings.get(field);
  }

  /** Durations are milliseconds. */
  number(field: string): number {
    const value = this.#settings.get(field);
    return typeof value === 'number' ? value : 0;
  }

  /** As Go prints a duration: "1m0s". */
  duration(field: string): string {
    return showDuration(this.number(field));
  }

  isOn(field: string): boolean {
    return this.#settings.get(field) === true;
  }

  text(field: string): string {
    const value = this.#settings.get(field);
    return typeof value === 'string' ? value : '';
  }

  texts(field: string): readonly string[] {
    return this.#list(field).filter((value) => typeof value === 'string');
  }

  /** Of maps; another item is left out. */
  maps(field: string): readonly Readonly<Record<string, unknown>>[] {
    return this.#list(field).flatMap((value) => (typeof value === 'object' && value !== null ? [{ ...value }] : []));
  }

  #list(field: string): readonly unknown[] {
    const value = this.#settings.get(field);
    return Array.isArray(value) ? value : [];
  }
}

/** What is wrong with settings by one topic's rules: a sentence each, in the words of a kubelet. */
export type Rule = (settings: CheckedSettings) => readonly (string | false | undefined)[];

/** How most of a kubelet's sentences begin. */
export const invalid = (text: string): string => `invalid configuration: ${text}`;
