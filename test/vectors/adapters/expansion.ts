import { expand, lookupIn } from '../../../src/model/expansion.ts';

export function run({
  input,
  contexts,
}: {
  readonly input: string;
  readonly contexts: readonly Readonly<Record<string, string>>[];
}): string {
  return expand(input, lookupIn(...contexts.map((context) => new Map(Object.entries(context)))));
}
