import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { type CommandEnd, runCommand } from '../../base/run-command.ts';
import { REDACTED } from '../../base/without-credentials.ts';
import type { Happenings } from '../../ports/happenings.ts';
import type { ProviderAccount } from './account-of-pod.ts';
import { type ProviderAnswer, providerAnswer } from './provider-answer.ts';
import type { ProviderSpec } from './provider-faults.ts';

/** As the kubelet's (pluginExecutionTimeout). */
const DEADLINE_MS = 60_000;

export interface AskProviderDeps {
  /** Where the programs are. */
  readonly directory: string;
  readonly clock: Pick<Clock, 'schedule' | 'monotonicMs'>;
  readonly tell: Pick<Happenings, 'credentialProviderAsked'>;
}

/**
 * Asks a provider's program for the credentials of an image: a CredentialProviderRequest on its standard input, a CredentialProviderResponse on
 * its output. Rejects with what went wrong, never with what it printed on its output or with a token that it was given.
 */
export async function askProvider(
  { name, apiVersion, args, env }: Pick<ProviderSpec, 'name' | 'apiVersion' | 'args' | 'env'>,
  image: string,
  account: Pick<ProviderAccount, 'token' | 'annotations'> | undefined,
  { directory, clock, tell }: AskProviderDeps,
): Promise<ProviderAnswer> {
  const beganMs = clock.monotonicMs();
  const end = await runCommand(join(directory, name), args, {
    clock,
    deadlineMs: DEADLINE_MS,
    // Others that want the same wait for it, too: it ends by its deadline alone.
    signal: new AbortController().signal,
    input: JSON.stringify({ kind: 'CredentialProviderRequest', apiVersion, image, ...requestOf(account) }),
    env: { ...process.env, ...env },
  });
  const failed = end.is !== 'exited' || end.code !== 0;
  tell.credentialProviderAsked({ provider: name, tookMs: clock.monotonicMs() - beganMs, failed });
  if (!failed) return providerAnswer(end.stdout);
  throw new Error(`failed to get credential from external registry credential provider: ${name} ${whatHappened(end, account?.token)}`);
}

function requestOf(account: Pick<ProviderAccount, 'token' | 'annotations'> | undefined): object {
  if (!account) return {};
  const { token, annotations } = account;
  return { serviceAccountToken: token, ...(Object.keys(annotations).length > 0 && { serviceAccountAnnotations: annotations }) };
}

function whatHappened(end: CommandEnd, token: string | undefined): string {
  switch (end.is) {
    case 'exited':
      return `ended with exit code ${end.code}${shown(end.stderr, token)}`;
    case 'killed':
      return `was killed by ${end.by}${shown(end.stderr, token)}`;
    case 'late':
      return `did not end within ${DEADLINE_MS / 1000} s`;
    case 'missing':
      return `could not be started: ${end.error.message}`;
    default:
      return end satisfies never;
  }
}

/** The last of what it said, without the token or a part of it. */
function shown(stderr: string, token: string | undefined): string {
  const said = token === undefined ? stderr : stderr.replaceAll(token, REDACTED);
  const end = said.trim().split('\n').slice(-3).join(' ').slice(-500);
  const last = token === undefined ? end : end.replaceAll(/[\w.-]{8,}/g, (word) => (token.includes(word) ? REDACTED : word));
  return last === '' ? '' : `: ${last}`;
}
