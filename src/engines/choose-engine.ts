import type { Clock } from '../base/clock.ts';
import { exponential } from '../base/exponential.ts';
import type { Logger } from '../base/logger.ts';
import type { NamedEngine } from '../options/named-engine.ts';
import type { StateFile } from '../ports/state-files.ts';
import type { EndpointAnswer, EngineAnswer } from './asking/endpoint-answer.ts';
import type { UsualEndpoint } from './asking/usual-endpoints.ts';
import type { DrivenEngine } from './driven-engine.ts';

/** An engine to be driven. It may not have answered yet: what it speaks is known from before, or from the option that names it. */
export interface ChosenEngine extends DrivenEngine {
  readonly version?: string;
  readonly because: string;
}

export interface ChoosingDeps {
  readonly ask: (endpoint: string, signal: AbortSignal) => Promise<EndpointAnswer>;
  readonly usual: readonly UsualEndpoint[];
  readonly driven: StateFile<DrivenEngine>;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  /** Whether to wait for an engine; otherwise what is wrong is thrown. */
  readonly waits: boolean;
}

const delayMs = exponential(1_000, 30_000);

/**
 * Resolves with the engine that is named, or with the first of the usual ones that answers, once that is known. What is in the way is said once,
 * and looked at again with back-off. Nothing is done to any pod meanwhile.
 */
export async function chooseEngine(
  named: Exclude<NamedEngine, { readonly kind: 'embedded' }>,
  deps: ChoosingDeps,
  stop: AbortSignal,
): Promise<ChosenEngine> {
  const { driven, clock, log, waits } = deps;
  const before = driven.load();
  let said: string | undefined;
  for (let failures = 1; ; failures++) {
    const found = await look(named, before, deps, stop);
    if (found.chosen) {
      await remember(found.chosen, before, deps);
      return found.chosen;
    }
    const { problem, fields } = found;
    if (!waits) throw new Error([problem, ...Object.entries(fields).map(([key, value]) => `${key}: ${value}`)].join('; '));
    const text = JSON.stringify(found);
    if (text !== said) log.warn(`${problem}; looking again, no pod is touched`, fields);
    said = text;
    await clock.sleep(delayMs(failures), stop);
  }
}

type Found =
  | { readonly chosen: ChosenEngine }
  | { readonly chosen?: undefined; readonly problem: string; readonly fields: Readonly<Record<string, string>> };

const noDocker = (fields: Readonly<Record<string, string>>): Found => ({ problem: 'what listens there is no Docker engine', fields });

function look(
  named: Exclude<NamedEngine, { readonly kind: 'embedded' }>,
  before: DrivenEngine | undefined,
  deps: ChoosingDeps,
  stop: AbortSignal,
): Promise<Found> {
  switch (named.kind) {
    case 'docker':
      return lookForDocker(named, deps, stop);
    case 'any':
      return lookAt(named.endpoint, before, `named by ${named.option}`, deps, stop);
    case 'none':
      return before === undefined ? lookAround(deps, stop) : lookForThatOfBefore(before, deps, stop);
    default:
      return named satisfies never;
  }
}

const chosen = (endpoint: string, { speaks, name, version }: EngineAnswer, because: string): Found => ({
  chosen: { endpoint, speaks, name, version, because },
});

/** It is driven as soon as it is there: what it speaks is said by its option. */
async function lookForDocker(
  { endpoint, option }: Extract<NamedEngine, { readonly kind: 'docker' }>,
  { ask, log }: ChoosingDeps,
  stop: AbortSignal,
): Promise<Found> {
  const answer = await ask(endpoint, stop);
  const because = `named by ${option}`;
  switch (answer.speaks) {
    case 'docker':
      return chosen(endpoint, answer, because);
    case 'cri': {
      const toDo = `name it with --container-runtime-endpoint, or a Docker engine with ${option}`;
      return noDocker({ endpoint, found: `it is ${answer.name} ${answer.version}, by CRI`, toDo });
    }
    case 'nothing': {
      const { is, found, toDo } = answer;
      if (is === 'wrong') return noDocker({ endpoint, found, toDo });
      log.warn('the engine does not answer yet', { endpoint, found, toDo });
      return { chosen: { endpoint, speaks: 'docker', name: guessedName(endpoint), because } };
    }
    default:
      return answer satisfies never;
  }
}

/** By the name of its socket, until it answers. */
const guessedName = (endpoint: string): string => (endpoint.includes('podman') ? 'podman' : 'docker');

async function lookAt(
  endpoint: string,
  before: DrivenEngine | undefined,
  because: string,
  { ask, log }: ChoosingDeps,
  stop: AbortSignal,
): Promise<Found> {
  const answer = await ask(endpoint, stop);
  if (answer.speaks !== 'nothing') return chosen(endpoint, answer, because);
  const { is, found, toDo } = answer;
  if (is === 'wrong' || before?.endpoint !== endpoint) return { problem: 'no engine answers there', fields: { endpoint, found, toDo } };
  log.warn('the engine does not answer yet', { endpoint, found, toDo });
  return { chosen: { ...before, because } };
}

/** None is named, and one was driven before: no other takes its place by itself. */
async function lookForThatOfBefore(before: DrivenEngine, deps: ChoosingDeps, stop: AbortSignal): Promise<Found> {
  const { endpoint } = before;
  const because = 'it was driven before, and none is named';
  const found = await lookAt(endpoint, before, because, deps, stop);
  if (found.chosen === undefined || found.chosen.version !== undefined) return found;
  const others = (await askAll(deps, stop)).filter(([usual, { speaks }]) => speaks !== 'nothing' && usual.endpoint !== endpoint);
  if (others.length === 0) return found;
  const instead = others.map(([usual]) => `--container-runtime-endpoint=${usual.endpoint} (${usual.engine})`).join(', ');
  deps.log.warn('the engine of before does not answer, another one does: it is taken where it is named', { endpoint, instead });
  return found;
}

async function lookAround(deps: ChoosingDeps, stop: AbortSignal): Promise<Found> {
  const answers = await askAll(deps, stop);
  const passed: string[] = [];
  for (const [{ engine, endpoint }, answer] of answers) {
    if (answer.speaks !== 'nothing') {
      const others = passed.length === 0 ? '' : `, after ${passed.join('; ')}`;
      return chosen(endpoint, answer, `none is named, and it is the first that answers${others}`);
    }
    passed.push(`${engine} at ${endpoint}: ${answer.found}`);
  }
  const toDo = 'start one, or name it with --container-runtime-endpoint';
  return { problem: 'no container engine answers', fields: { found: passed.join('; '), toDo } };
}

function askAll({ ask, usual }: ChoosingDeps, stop: AbortSignal): Promise<readonly (readonly [UsualEndpoint, EndpointAnswer])[]> {
  return Promise.all(usual.map(async (one) => [one, await ask(one.endpoint, stop)] as const));
}

async function remember(
  { endpoint, speaks, name }: ChosenEngine,
  before: DrivenEngine | undefined,
  { driven, log }: ChoosingDeps,
): Promise<void> {
  if (before?.endpoint === endpoint && before.speaks === speaks && before.name === name) return;
  await driven
    .save({ endpoint, speaks, name })
    .catch((error: unknown) => log.warn('which engine is driven could not be noted down', { error }));
}
