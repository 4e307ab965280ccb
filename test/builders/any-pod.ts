import fc from 'fast-check';
import type { RawPod } from '../../src/model/pod.ts';
import { type Kind, podSchema } from '../../src/sources/pod-schema.ts';

type Dice = (sides: number) => number;

const schema = podSchema();
const words = ['', 'a', 'A', 'a-b', 'a_b', '-', 'a/b', '/a', '..', '../x', '.', 'é', '\n', 'v1', 'metadata.name', "metadata.labels['x']"];
const choices = ['Always', 'Exists', 'In', 'TCP', 'HTTP', 'None', 'Localhost', 'Managed', 'Bidirectional', 'limits.cpu', '1.2.3.4', '[{]'];
const texts = [...words, ...choices, '\u0000', '\ud800', 'constructor', '__proto__'];
const amounts = ['0', '1', '-1', '1.5', '100u', '64Mi', '1e3', '1500m', 'x', ''];
const numbers = [-1, 0, 1, 80, 256, 512, 65_536, 2 ** 31, 2 ** 40];
const ports = [...numbers, ...texts];
const scalars: Readonly<Record<Exclude<Kind['is'], 'list' | 'map' | 'object'>, readonly unknown[]>> = {
  string: texts,
  bytes: texts,
  time: ['2020-01-02T03:04:05Z'],
  json: [{}, [], 'a'],
  boolean: [true, false],
  int32: numbers,
  int64: numbers,
  quantity: amounts,
  intOrString: ports,
};
/** How many in ten fields are there, by depth. */
const share = [9, 4, 3, 3, 4, 5];

/** A small generator of its own, so that a failing pod comes back from its seed. */
function diceOf(seed: number): Dice {
  let state = seed;
  return (sides) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (state >>> 8) % sides;
  };
}

function anyValue(roll: Dice, kind: Kind, depth: number): unknown {
  if (kind.is === 'object') return anyObject(roll, kind.type, depth + 1);
  const one = (of: Kind): unknown => anyValue(roll, of, depth);
  if (kind.is === 'list') return Array.from({ length: roll(3) }, () => one(kind.of));
  if (kind.is === 'map') return Object.fromEntries(Array.from({ length: roll(3) }, () => [texts[roll(texts.length)], one(kind.of)]));
  const values = scalars[kind.is];
  return values[roll(values.length)];
}

function anyObject(roll: Dice, type: string, depth: number): Record<string, unknown> {
  const fields = [...schema(type).values()].filter(() => roll(10) < (share[depth] ?? 2));
  return Object.fromEntries(fields.map(({ name, kind }) => [name, anyValue(roll, kind, depth)]));
}

/** Any JSON that has the shape of a pod, most of it nonsense. */
export const anyPod: fc.Arbitrary<RawPod> = fc.nat().map((seed) => anyObject(diceOf(seed), 'Pod', 0) as RawPod);
