import { nearest } from '../../base/nearest.ts';
import { type DecidingGate, decidingGates } from './deciding-gates.ts';
import { gateNeeds } from './gate-needs.ts';
import { type GateStage, knownGates } from './known-gates.ts';

/** The gates that switch all of a stage that nothing else switches. */
const collective: ReadonlyMap<string, GateStage> = new Map([
  ['AllAlpha', 'alpha'],
  ['AllBeta', 'beta'],
]);

/** Feature gates as they are written: name → whether it is on. */
export type GivenGates = Readonly<Record<string, boolean>>;

export interface FeatureGates {
  isOn(name: DecidingGate): boolean;
  /** The same of any gate. */
  stateOf(name: string): boolean;
  /** What is wrong, a sentence each; the rest is valid only where there is none. */
  readonly faults: readonly string[];
}

/**
 * The gates of Kubernetes 1.36 with those that are `given` (component-base/featuregate SetFromMap): one that is locked keeps its value, one
 * that is on has all that it builds on, and no other exists.
 */
export function featureGates(given: GivenGates): FeatureGates {
  const stateOf = (name: string): boolean => {
    if (Object.hasOwn(given, name)) return given[name] === true;
    const gate = knownGates.get(name);
    const [all] = [...collective].find(([, stage]) => stage === gate?.stage) ?? [];
    return all !== undefined && Object.hasOwn(given, all) ? given[all] === true : gate?.on === true;
  };
  const wrong = impossibleGates(given);
  return { isOn: stateOf, stateOf, faults: wrong.length > 0 ? wrong : unmetNeeds(stateOf) };
}

/** Why gates cannot be set as they are, each by itself; of very many the first. */
export function impossibleGates(given: GivenGates): readonly string[] {
  return Object.entries(given)
    .filter(([name, on]) => !canBe(name, on))
    .slice(0, MAX_FAULTS)
    .map(([name, on]) => faultOf(name, on));
}

/** More help no reader. */
const MAX_FAULTS = 50;

function canBe(name: string, on: boolean): boolean {
  const gate = knownGates.get(name);
  return collective.has(name) || (gate !== undefined && (!gate.locked || gate.on === on));
}

function faultOf(name: string, on: boolean): string {
  const gate = knownGates.get(name);
  if (gate !== undefined) return `cannot set feature gate ${name} to ${on}, feature is locked to ${gate.on}`;
  const meant = nearest(name, knownGates.keys());
  return `unrecognized feature gate: ${name}${meant === undefined ? '' : `; did you mean ${meant}?`}`;
}

function unmetNeeds(isOn: (name: string) => boolean): readonly string[] {
  const faults: string[] = [];
  for (const [name, needs] of gateNeeds) {
    const off = isOn(name) ? needs.filter((need) => !isOn(need)) : [];
    if (off.length > 0) faults.push(`${name} is enabled, but depends on features that are disabled: [${off.join(' ')}]`);
  }
  return faults;
}

/** Those that are set to another state than they have by themselves, and decide nothing here. The collective ones are left out. */
export function idleGates(given: GivenGates): readonly string[] {
  return Object.keys(given)
    .filter((name) => knownGates.has(name) && !Object.hasOwn(decidingGates, name) && given[name] !== knownGates.get(name)?.on)
    .toSorted();
}

/** Without those that cannot be set as they are, so that the rest can be looked at; none where they do not go together. */
export function possibleGates(given: GivenGates): GivenGates {
  const possible = settable(given);
  return featureGates(possible).faults.length > 0 ? {} : possible;
}

/** All that is wrong: also whether those that can be set go together, where others cannot be. */
export function gateFaults(given: GivenGates): readonly string[] {
  return [...new Set([...impossibleGates(given), ...featureGates(settable(given)).faults])];
}

const settable = (given: GivenGates): GivenGates => Object.fromEntries(Object.entries(given).filter(([name, on]) => canBe(name, on)));
